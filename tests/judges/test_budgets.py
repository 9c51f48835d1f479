"""What judging may cost: limits, money held for calls in flight, several workers at one budget."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from tests.at_once import at_once
from tests.campaigns.sets import made_version
from tests.judges.test_book import answer, call
from workers.judges import budgets
from workers.judges.budgets import (
    ChargedCall,
    budgets_of,
    default_limits,
    judge_run_of,
    spent_figures,
)
from workers.judges.core.calls import Answer, Call, Estimate, Price
from workers.judges.core.clients import BillingContext
from workers.judges.core.response_cache import BudgetSpent, Claimed
from workers.judges.ledger import balance_of
from workers.judges.models import Budget, Hold, JudgeRun, StoredAnswer
from workers.judges.response_cache import DatabaseResponseCache
from workers.judges.run_forms import BudgetForm

pytestmark = pytest.mark.django_db

PRICE = Price(Decimal(1), Decimal(1))
"""A dollar for a million tokens: a token is a millionth."""


def calls(count: int, first: int = 0) -> list[Call]:
    return [call(f"number {number}") for number in range(first, first + count)]


def worth(wanted: list[Call], tokens: int = 100) -> list[tuple[Call, Estimate]]:
    return [(one, Estimate(tokens, Decimal(tokens) / 1_000_000)) for one in wanted]


def book_of(*limited: Budget) -> DatabaseResponseCache:
    return DatabaseResponseCache(
        [ChargedCall(one.pk, f"budget {one.pk}") for one in limited], PRICE
    )


def budget(tokens: int | None = None, usd: str | None = None, **fields: Any) -> Budget:
    limit = None if usd is None else Decimal(usd)
    return Budget.objects.create(tokens_limit=tokens, cost_limit=limit, **fields)


def spent(one: Budget) -> tuple[int, Decimal, int, int]:
    one.refresh_from_db()
    return one.tokens_spent, one.cost_spent, one.calls, one.unpriced_calls


def test_answers_are_paid_by_what_the_endpoint_counted() -> None:
    paying = budget()
    book = book_of(paying)
    book.claim(worth(calls(2)))
    book.put([(one, answer(input_tokens=30, output_tokens=12)) for one in calls(2)])
    assert spent(paying) == (84, Decimal("0.000084"), 2, 0)


def test_an_answer_that_nobody_counted_is_charged_what_it_may_have_cost() -> None:
    paying = budget()
    book = book_of(paying)
    book.claim(worth(calls(1)))
    book.put([(calls(1)[0], answer(input_tokens=None, output_tokens=None))])
    assert spent(paying) == (100, Decimal("0.0001"), 1, 0)
    assert StoredAnswer.objects.get().cost == Decimal("0.0001")


def test_a_refusal_costs_nothing() -> None:
    paying = budget()
    book = book_of(paying)
    book.claim(worth(calls(1)))
    book.put([(calls(1)[0], Answer("refused", error="too long"))])
    assert spent(paying) == (0, Decimal(0), 1, 0)


def test_calls_to_a_model_without_a_price_are_counted_in_tokens_and_said_to_have_none() -> None:
    paying = budget(usd="0.0001")
    book = DatabaseResponseCache([ChargedCall(paying.pk, "it")])
    book.claim([(one, Estimate(100, None)) for one in calls(2)])
    book.put([(one, answer(input_tokens=10**6)) for one in calls(2)])
    assert spent(paying) == (2_000_010, Decimal(0), 2, 2)
    assert StoredAnswer.objects.filter(cost=None).count() == 2


def test_what_is_in_the_store_is_paid_by_nobody() -> None:
    first, second = budget(), budget(tokens=0)
    book = book_of(first)
    book.claim(worth(calls(1)))
    book.put([(calls(1)[0], answer())])
    assert len(book_of(second).claim(worth(calls(1))).answered) == 1
    assert spent(second)[0] == 0


@pytest.mark.parametrize("limits", [{"tokens": 250}, {"usd": "0.00025"}])
def test_no_more_is_claimed_than_the_budget_holds(limits: dict[str, Any]) -> None:
    """Each may cost 100 tokens, or 0.0001 USD: two fit into 250, a third one does not."""
    book = book_of(budget(**limits))
    claimed = book.claim(worth(calls(5)))
    assert claimed.mine == calls(2)
    assert claimed.held == claimed.answered == []


def test_what_an_answer_did_not_cost_is_there_for_the_next_call() -> None:
    paying = budget(tokens=250)
    book = book_of(paying)
    book.claim(worth(calls(2)))
    assert book.claim(worth(calls(1, first=2))).mine == []
    book.put([(calls(1)[0], answer(input_tokens=10, output_tokens=0))])
    # 10 spent + 100 in flight + 100 ≤ 250
    assert book.claim(worth(calls(1, first=2))).mine == calls(1, first=2)


def test_a_spent_budget_refuses_with_its_name_and_what_to_do() -> None:
    paying = budget(tokens=120)
    book = book_of(paying)
    book.claim(worth(calls(1)))
    book.put([(calls(1)[0], answer(input_tokens=60, output_tokens=0))])
    with pytest.raises(
        BudgetSpent, match=rf"budget {paying.pk} has no room .*60 of 120 tokens.*raise the budget"
    ):
        book.claim(worth(calls(1, first=1)))
    assert StoredAnswer.objects.count() == 1


def test_all_budgets_must_have_room_and_all_pay() -> None:
    wide, narrow = budget(tokens=1000), budget(tokens=150)
    book = book_of(wide, narrow)
    assert book.claim(worth(calls(3))).mine == calls(1)
    book.put([(calls(1)[0], answer(input_tokens=100, output_tokens=0))])
    assert [spent(one)[0] for one in (wide, narrow)] == [100, 100]
    with pytest.raises(BudgetSpent, match=f"budget {narrow.pk} "):
        book.claim(worth(calls(1, first=1)))


def test_money_that_others_hold_is_waited_for_and_not_called_spent() -> None:
    paying = budget(tokens=150)
    other = book_of(paying)
    other.claim(worth(calls(1)))
    assert book_of(paying).claim(worth(calls(1, first=1))) == Claimed(held=calls(1, first=1))
    other.release(calls(1))
    assert book_of(paying).claim(worth(calls(1, first=1))).mine == calls(1, first=1)


def test_what_a_dead_holder_held_ends_by_itself() -> None:
    paying = budget(tokens=150)
    book_of(paying).claim(worth(calls(1)))
    Hold.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    book = book_of(paying)
    assert book.claim(worth(calls(1, first=1))).mine == calls(1, first=1)
    book.close()
    assert not Hold.objects.exists()


def test_closing_and_releasing_give_the_money_back() -> None:
    paying = budget(tokens=1000)
    book = book_of(paying)
    book.claim(worth(calls(3)))
    book.release(calls(2))
    assert Hold.objects.get().tokens == 100
    book.close()
    assert not Hold.objects.exists()


def test_sums_of_small_amounts_are_exact() -> None:
    paying = budget()
    book = DatabaseResponseCache(
        [ChargedCall(paying.pk, "it")], Price(Decimal("0.1"), Decimal("0.2"))
    )
    for number in range(30):
        one = call(f"number {number}")
        book.claim([(one, Estimate(10, Decimal("0.000001")))])
        book.put([(one, answer(input_tokens=7, output_tokens=1))])
    assert spent(paying)[1] == Decimal("0.00002700")  # 30 × (7 × 0.1 + 1 × 0.2) / 1,000,000


# --- sent, and not answered -----------------------------------------------------------------------


def unsettled(one: Budget) -> tuple[int, int, Decimal]:
    found = balance_of(Budget.objects.get(pk=one.pk)).unsettled
    return found.calls, found.tokens, found.cost


def fall_silent(book: DatabaseResponseCache) -> None:
    """As if it had been killed, or asleep, for longer than a lease."""
    past = timezone.now() - timedelta(seconds=1)
    Hold.objects.filter(holder=book.holder).update(expires_at=past)
    StoredAnswer.objects.filter(holder=book.holder).update(lease_expires_at=past)
    book._held_until = past


def test_what_a_killed_worker_had_sent_stays_charged_and_what_it_had_only_claimed_is_free() -> None:
    """The endpoint may have answered: 100 tokens each at most, and 250 in the budget."""
    paying = budget(tokens=250)
    killed = book_of(paying)
    first, second = calls(2)
    killed.claim(worth([first, second]))
    assert killed.mark_sent([first]) == [first]
    fall_silent(killed)
    assert unsettled(paying) == (1, 100, Decimal("0.0001"))
    book = book_of(paying)
    # 100 unsettled + 100 ≤ 250, and no more
    assert book.claim(worth([first, second])).mine == [first]
    book.mark_sent([first])
    book.put([(first, answer(input_tokens=60, output_tokens=0))])
    with pytest.raises(
        BudgetSpent, match=r"160 of 250 tokens spent; 100 tokens of it for calls without an"
    ):
        book.claim(worth([second]))
    book.close()
    assert spent(paying)[0] == 60
    assert unsettled(paying) == (1, 100, Decimal("0.0001"))


def test_a_worker_that_only_slept_is_charged_what_its_answer_cost() -> None:
    paying = budget(tokens=1000)
    slept = book_of(paying)
    slept.claim(worth(calls(1)))
    slept.mark_sent(calls(1))
    fall_silent(slept)
    assert unsettled(paying)[0] == 1
    slept.put([(calls(1)[0], answer(input_tokens=60, output_tokens=0))])
    slept.close()
    assert (spent(paying)[0], unsettled(paying)[0]) == (60, 0)
    assert not Hold.objects.exists()


def test_a_worker_that_slept_sends_nothing_that_it_had_claimed_before() -> None:
    """Others may have taken its calls, and the money."""
    paying = budget(tokens=150)
    slept, other = book_of(paying), book_of(paying)
    slept.claim(worth(calls(1)))
    fall_silent(slept)
    assert other.claim(worth(calls(1, first=1))).mine == calls(1, first=1)
    assert slept.mark_sent(calls(1)) == []
    assert slept.claim(worth(calls(1))).held == calls(1)  # no room beside the other's
    assert balance_of(Budget.objects.get()).reserved.tokens == 100


def test_a_call_that_is_given_up_after_it_was_sent_is_charged_and_one_that_was_not_is_free() -> (
    None
):
    paying = budget(tokens=1000)
    book = book_of(paying)
    sent, refused, _never_sent = calls(3)
    book.claim(worth(calls(3)))
    book.mark_sent([sent, refused])
    book.mark_unsent([refused])  # 429
    book.release(calls(3))
    assert unsettled(paying) == (1, 100, Decimal("0.0001"))
    book.claim(worth(calls(1)))
    book.mark_sent(calls(1))
    book.close()
    assert unsettled(paying) == (2, 200, Decimal("0.0002"))
    assert balance_of(Budget.objects.get()).reserved.tokens == 0


def test_a_budget_below_what_is_unsettled_is_refused_and_pages_tell_what_it_is() -> None:
    paying = budget(tokens=1000)
    book = book_of(paying)
    book.claim(worth(calls(2)))
    book.mark_sent(calls(1))
    figures = {
        label: (value, remark) for label, value, remark in spent_figures(Budget.objects.get())
    }
    assert figures["Reserved"] == ("200", "tokens, 0.00020 USD: at most, for calls under way")
    book.close()
    figures = {
        label: (value, remark) for label, value, remark in spent_figures(Budget.objects.get())
    }
    assert figures["Unsettled"] == (
        "100",
        "tokens, 0.00010 USD: at most, for 1 call without an answer; counted as spent",
    )
    assert figures["Tokens spent"] == ("0", "of 1,000; 900 left")
    form = BudgetForm({"tokens": "99"}, budget=Budget.objects.get())
    assert "100 are spent already" in str(form.errors["tokens"])


# --- whose budgets ---------------------------------------------------------------------------------


@pytest.fixture
def version() -> Any:
    return made_version(("alpha",), 1, 1)


def test_a_run_has_one_budget_with_the_sites_budget(version: Any, settings: Any) -> None:
    settings.JUDGE_TOKENS, settings.JUDGE_USD = 5_000, Decimal(3)
    payer = BillingContext(version.pk, "cpdscore_detail[model=gpt-x]")
    [paying] = budgets_of(payer)
    assert budgets_of(payer) == [paying]
    assert "cpdscore_detail[model=gpt-x] on" in paying.name
    found = Budget.objects.get(pk=paying.budget_id)
    assert (found.tokens_limit, found.cost_limit) == (5_000, Decimal(3))


def test_the_packaged_model_has_no_limit_and_nought_is_none(settings: Any) -> None:
    assert default_limits("cpdscore_detail") == {"tokens_limit": None, "cost_limit": None}
    settings.JUDGE_TOKENS, settings.JUDGE_USD = 0, Decimal(0)
    assert default_limits("cpdscore_detail[model=gpt-x]") == {
        "tokens_limit": None,
        "cost_limit": None,
    }


def test_registered_providers_pay_too_in_the_order_of_keys(
    version: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = judge_run_of(version.pk, "cpdscore_detail").budget
    challenge = budget(pk=own.pk + 1000)
    monkeypatch.setattr(
        budgets,
        "_providers",
        [lambda payer: [ChargedCall(challenge.pk, f"for {payer.configuration}")]],
    )
    found = budgets_of(BillingContext(version.pk, "cpdscore_detail"))
    assert [one.budget_id for one in found] == [own.pk, challenge.pk]
    assert found[1].name == "for cpdscore_detail"


def test_nobody_pays_for_a_script() -> None:
    assert budgets_of(None) == []


# --- at once --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_never_reserve_more_than_the_budget_holds() -> None:
    """Six workers want ten calls each of at most 100 tokens; the budget holds 1,250: twelve are
    claimed, however."""
    paying = budget(tokens=1_250)
    books = [book_of(paying) for _ in range(6)]
    found = at_once(
        *(lambda n=n, b=b: b.claim(worth(calls(10, first=10 * n))) for n, b in enumerate(books))
    )
    assert [one for one in found if isinstance(one, Exception)] == []
    assert sum(len(one.mine) for one in found) == 12


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_never_send_the_same_call() -> None:
    """In other orders, with other budgets: who waits for whom makes no circle."""
    books = [book_of(budget()) for _ in range(4)]
    wanted = calls(40)
    orders = [wanted, wanted[::-1], wanted[20:] + wanted[:20], wanted[::2] + wanted[1::2]]
    found = at_once(
        *(lambda b=b, o=o: b.claim(worth(o)) for b, o in zip(books, orders, strict=True))
    )
    assert [one for one in found if isinstance(one, Exception)] == []
    assert sorted(one.key for claimed in found for one in claimed.mine) == sorted(
        one.key for one in wanted
    )


@pytest.mark.django_db(transaction=True)
def test_a_call_left_behind_is_taken_over_by_one_alone() -> None:
    DatabaseResponseCache().claim(worth(calls(20)))
    StoredAnswer.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    found = at_once(*(lambda: DatabaseResponseCache().claim(worth(calls(20))) for _ in range(4)))
    assert [one for one in found if isinstance(one, Exception)] == []
    assert sum(len(one.mine) for one in found) == 20


@pytest.mark.django_db(transaction=True)
def test_payments_at_once_are_all_counted() -> None:
    paying = budget()

    def work(first: int) -> None:
        book = book_of(paying)
        for one in calls(8, first=first):
            book.claim(worth([one]))
            book.put([(one, answer(input_tokens=10, output_tokens=1))])

    assert at_once(*(lambda n=n: work(100 * n) for n in range(4))) == [None] * 4
    assert spent(paying)[:3] == (352, Decimal("0.000352"), 32)  # 4 × 8 × 11
    assert Hold.objects.filter(tokens__gt=0).count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_run_that_several_begin_at_once_has_one_budget() -> None:
    version = made_version(("alpha",), 1, 1)
    found = at_once(*(lambda: judge_run_of(version.pk, "cpdscore_detail").pk for _ in range(4)))
    assert len(set(found)) == 1
    assert JudgeRun.objects.count() == Budget.objects.count() == 1


@pytest.mark.parametrize(
    "counts", [{"output_tokens": None}, {"input_tokens": None}, {"input_tokens": 0}]
)
def test_an_answer_that_was_counted_by_halves_is_charged_what_it_may_have_cost(
    counts: dict[str, int | None],
) -> None:
    """An answer without its prompt, or the other way round, would cost next to nothing."""
    paying = budget()
    book = book_of(paying)
    book.claim(worth(calls(1)))
    book.put([(calls(1)[0], answer(**counts))])
    assert spent(paying) == (100, Decimal("0.0001"), 1, 0)


def test_calls_that_no_budget_has_room_for_beside_the_others_end_the_asking() -> None:
    """One budget has room for the first call alone, the other for the second: waited for, it would
    be for ever."""
    by_tokens, by_money = budget(tokens=50), budget(usd="0.00005")
    first, second = calls(2)
    with pytest.raises(BudgetSpent, match="no room for the next call"):
        book_of(by_tokens, by_money).claim(
            [(first, Estimate(40, Decimal("0.0001"))), (second, Estimate(90, Decimal("0.00001")))]
        )
