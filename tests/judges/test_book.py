"""The book of calls in the database: claims, answers, takeovers, what no database keeps."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from workers.inference.language_models.client import Message
from workers.judges.call_rows import request_of
from workers.judges.core.calls import Answer, Call, ChatRequest, Estimate, Price, TokenChance
from workers.judges.models import StoredAnswer, StoredRequest
from workers.judges.response_cache import DatabaseResponseCache, calls_paid_here

pytestmark = pytest.mark.django_db

ESTIMATE = Estimate(100, None)


def request(text: str = "Rate this.", **parameters: Any) -> ChatRequest:
    return ChatRequest("a-model", (Message("user", text),), tuple(sorted(parameters.items())))


def call(text: str = "Rate this.", sample: int = 0, ask: int = 0) -> Call:
    return Call(request(text), sample, ask)


def wanted(*calls: Call) -> list[tuple[Call, Estimate]]:
    return [(one, ESTIMATE) for one in calls]


def answer(text: str = "- Humanness: 4", **fields: Any) -> Answer:
    return Answer("answered", text, **{"input_tokens": 10, "output_tokens": 5, **fields})


def fall_silent() -> None:
    StoredAnswer.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def test_what_nobody_asked_is_mine_and_what_another_asks_is_held() -> None:
    one, other = DatabaseResponseCache(), DatabaseResponseCache()
    assert one.claim(wanted(call("a"))).mine == [call("a")]
    claimed = other.claim(wanted(call("a"), call("b")))
    assert (claimed.mine, claimed.held, claimed.answered) == ([call("b")], [call("a")], [])


def test_an_answer_that_was_put_down_is_found_by_everybody_as_it_was() -> None:
    said = answer(
        finish_reason="stop",
        reported_model="a-model-2026",
        chances=(TokenChance(" 4", ((" 4", -0.25), (" 3", -1.5))),),
        latency_seconds=0.2,
        attempts=2,
    )
    book = DatabaseResponseCache()
    book.claim(wanted(call()))
    book.put([(call(), said)])
    claimed = DatabaseResponseCache().claim(wanted(call()))
    assert claimed.mine == claimed.held == []
    assert claimed.answered == [(call(), said)]
    assert claimed.answered[0][1].from_store


def test_a_refusal_is_an_answer_with_its_reason() -> None:
    book = DatabaseResponseCache()
    book.claim(wanted(call()))
    book.put([(call(), Answer("refused", error="the prompt is longer than its model takes"))])
    [(_, found)] = DatabaseResponseCache().claim(wanted(call())).answered
    assert (found.state, found.error) == ("refused", "the prompt is longer than its model takes")


def test_samples_and_asks_of_a_request_are_calls_of_their_own_and_one_request() -> None:
    calls = [call(sample=0), call(sample=1), call(sample=0, ask=1)]
    book = DatabaseResponseCache()
    assert book.claim(wanted(*calls)).mine == calls
    book.put([(calls[1], answer("- Humanness: 2"))])
    claimed = DatabaseResponseCache().claim(wanted(*calls))
    assert [one for one, _ in claimed.answered] == [calls[1]]
    assert claimed.held == [calls[0], calls[2]]
    assert StoredRequest.objects.count() == 1


def test_the_same_call_twice_in_a_batch_is_sent_once() -> None:
    claimed = DatabaseResponseCache().claim(wanted(call("a"), call("a")))
    assert (claimed.mine, claimed.held) == ([call("a")], [call("a")])


def test_what_i_am_asking_myself_is_not_given_to_me_again() -> None:
    book = DatabaseResponseCache()
    book.claim(wanted(call("a")))
    assert book.claim(wanted(call("a"))).mine == []


def test_a_call_whose_holder_fell_silent_is_taken_over() -> None:
    DatabaseResponseCache().claim(wanted(call()))
    fall_silent()
    other = DatabaseResponseCache()
    assert other.claim(wanted(call())).mine == [call()]
    assert StoredAnswer.objects.get().holder == other.holder


def test_a_holder_that_keeps_its_calls_does_not_lose_them() -> None:
    book = DatabaseResponseCache()
    book.claim(wanted(call()))
    fall_silent()
    book.keep()
    assert DatabaseResponseCache().claim(wanted(call())).held == [call()]


def test_a_book_is_kept_when_a_third_of_its_leases_time_is_over(settings: Any) -> None:
    settings.LEASE_SECONDS = 60
    book = DatabaseResponseCache()
    book.claim(wanted(call()))
    fall_silent()
    book._kept_at -= 19
    book.renew_in_time()
    assert StoredAnswer.objects.filter(lease_expires_at__lt=timezone.now()).exists()
    book._kept_at -= 2
    book.renew_in_time()
    assert not StoredAnswer.objects.filter(lease_expires_at__lt=timezone.now()).exists()


def test_a_late_answer_to_a_call_that_another_took_over_is_stored_and_not_written_over() -> None:
    late, other = DatabaseResponseCache(), DatabaseResponseCache()
    late.claim(wanted(call()))
    fall_silent()
    other.claim(wanted(call()))
    late.put([(call(), answer("first"))])
    other.put([(call(), answer("second"))])
    assert StoredAnswer.objects.get().text == "first"


def test_an_answer_to_a_call_whose_row_is_gone_is_stored() -> None:
    book = DatabaseResponseCache()
    book.claim(wanted(call()))
    StoredAnswer.objects.all().delete()
    book.put([(call(), answer())])
    assert StoredAnswer.objects.get().text == "- Humanness: 4"


def test_what_is_released_is_free_for_others_and_the_rest_stays_mine() -> None:
    book = DatabaseResponseCache()
    book.claim(wanted(call("a"), call("b")))
    book.release([call("a")])
    claimed = DatabaseResponseCache().claim(wanted(call("a"), call("b")))
    assert (claimed.mine, claimed.held) == ([call("a")], [call("b")])


def test_closing_leaves_answers_and_nothing_else() -> None:
    book = DatabaseResponseCache()
    book.claim(wanted(call("a"), call("b")))
    book.put([(call("a"), answer())])
    book.close()
    assert [row.request.model for row in StoredAnswer.objects.all()] == ["a-model"]
    assert DatabaseResponseCache().claim(wanted(call("b"))).mine == [call("b")]


def test_closing_does_not_touch_what_others_ask() -> None:
    other = DatabaseResponseCache()
    other.claim(wanted(call("a")))
    DatabaseResponseCache().close()
    assert DatabaseResponseCache().claim(wanted(call("a"))).held == [call("a")]


def test_cost_is_by_the_prices_of_a_million_tokens_rounded_up() -> None:
    book = DatabaseResponseCache(
        price=Price(Decimal("2.5"), Decimal(10)), endpoint="https://api.example.org/v1"
    )
    book.claim(wanted(call()))
    book.put([(call(), answer(input_tokens=1234, output_tokens=7))])
    row = StoredAnswer.objects.get()
    assert row.cost == Decimal("0.00315500")  # (1,234 × 2.5 + 7 × 10) / 1,000,000
    assert row.endpoint == "https://api.example.org/v1"


@pytest.mark.parametrize(
    "text", ["a\0b", "half \ud83d of a pair", "مرحبا 你好 🎈", "x" * 100_000, "", "{history}"]
)
def test_any_text_is_asked_and_answered(text: str) -> None:
    one = Call(request(text))
    book = DatabaseResponseCache()
    assert book.claim(wanted(one)).mine == [one]
    book.put(
        [
            (
                one,
                answer(
                    text,
                    finish_reason=text,
                    reported_model=text,
                    chances=(TokenChance(text, ((text, -1.0),)),),
                ),
            )
        ]
    )
    [(_, found)] = DatabaseResponseCache().claim(wanted(one)).answered
    cleaned = text.replace("\0", "�").replace("\ud83d", "�")
    assert found.text == cleaned
    assert found.chances == (TokenChance(cleaned, ((cleaned, -1.0),)),)


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d of a pair", 'quoted "text"\\', "🎈"])
def test_a_stored_request_reads_as_what_was_asked(text: str) -> None:
    asked = request(text, temperature=0.5, stop=["\n"], max_tokens=3)
    DatabaseResponseCache().claim([(Call(asked), ESTIMATE)])
    assert request_of(StoredRequest.objects.get().body).key == asked.key


def test_log_probabilities_that_json_does_not_have_are_stored_as_what_endpoints_say_for_them() -> (
    None
):
    book = DatabaseResponseCache()
    book.claim(wanted(call()))
    chances = (TokenChance("4", (("4", -0.1), ("3", float("-inf")), ("2", float("nan")))),)
    book.put(
        [
            (
                call(),
                answer(
                    chances=chances, latency_seconds=float("nan"), input_tokens=-1, attempts=10**6
                ),
            )
        ]
    )
    [(_, found)] = DatabaseResponseCache().claim(wanted(call())).answered
    assert found.chances == (TokenChance("4", (("4", -0.1), ("3", -9999.0))),)
    assert (found.latency_seconds, found.input_tokens) == (0.0, None)


def test_the_process_counts_what_it_put_down() -> None:
    before = calls_paid_here()
    book = DatabaseResponseCache()
    book.claim(wanted(call("a"), call("b")))
    book.put([(call("a"), answer()), (call("b"), answer())])
    assert calls_paid_here() - before == 2


def test_what_came_is_put_down_over_a_new_connection_where_the_database_dropped_the_old_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is paid for: a database that begins anew is no reason to ask again."""
    from django.db import InterfaceError

    from workers.judges import response_cache as books

    tries = []

    def dropped(self: DatabaseResponseCache, answers: Any) -> None:
        tries.append(answers)
        if len(tries) == 1:
            raise InterfaceError("connection already closed")

    looked_at: list[bool] = []
    stand_in = SimpleNamespace(
        in_atomic_block=False, close_if_unusable_or_obsolete=lambda: looked_at.append(True)
    )
    monkeypatch.setattr(books, "connection", stand_in)
    books._again_where_in_the_way(dropped)(DatabaseResponseCache(), [])
    assert (len(tries), looked_at) == (2, [True])
