"""The book in memory: what is claimed, held, paid and released."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.judges.calls import call_for
from workers.judges.core import memory_cache
from workers.judges.core.calls import Answer, Estimate, Price
from workers.judges.core.memory_cache import Answers, MemoryResponseCache
from workers.judges.core.response_cache import BudgetSpent

ONE = Estimate(10, Decimal("0.01"))
ANSWER = Answer("answered", text="4", input_tokens=5, output_tokens=1)


def test_a_call_is_ones_own_until_it_is_answered() -> None:
    answers, call = Answers(), call_for("a")
    mine, other = MemoryResponseCache(answers), MemoryResponseCache(answers)
    assert mine.claim([(call, ONE)]).mine == [call]
    assert other.claim([(call, ONE)]).held == [call]
    mine.put([(call, ANSWER)])
    [(found, answer)] = other.claim([(call, ONE)]).answered
    assert (found, answer.text, answer.from_store) == (call, "4", True)


def test_a_released_call_is_free() -> None:
    answers, call = Answers(), call_for("a")
    mine, other = MemoryResponseCache(answers), MemoryResponseCache(answers)
    mine.claim([(call, ONE)])
    other.release([call])  # not theirs to release
    assert other.claim([(call, ONE)]).held == [call]
    mine.release([call])
    assert other.claim([(call, ONE)]).mine == [call]


def test_a_closed_book_holds_nothing() -> None:
    answers, call = Answers(), call_for("a")
    mine = MemoryResponseCache(answers)
    mine.claim([(call, ONE)])
    mine.close()
    assert MemoryResponseCache(answers).claim([(call, ONE)]).mine == [call]


def test_nothing_is_paid_twice() -> None:
    answers, call = Answers(), call_for("a")
    book = MemoryResponseCache(answers, Price(Decimal(1_000_000), Decimal(2_000_000)))
    book.claim([(call, ONE)])
    book.put([(call, ANSWER)])
    book.put([(call, ANSWER)])
    assert (answers.calls, answers.tokens_spent, answers.cost_spent) == (1, 6, Decimal(7))


def test_a_refusal_costs_nothing() -> None:
    answers, call = Answers(), call_for("a")
    book = MemoryResponseCache(answers)
    book.claim([(call, ONE)])
    book.put([(call, Answer("refused", error="too long"))])
    assert (answers.calls, answers.tokens_spent) == (0, 0)


def test_what_others_have_in_flight_is_reserved() -> None:
    """Of 25 tokens two calls of 10 may be in flight, whoever asks them."""
    answers = Answers(tokens_limit=25)
    MemoryResponseCache(answers).claim([(call_for("a"), ONE)])
    claimed = MemoryResponseCache(answers).claim([(call_for("b"), ONE), (call_for("c"), ONE)])
    assert claimed.mine == [call_for("b")]
    with pytest.raises(BudgetSpent, match="0 of 25 tokens"):
        MemoryResponseCache(answers).claim([(call_for("c"), ONE)])


def test_an_unpriced_call_counts_in_tokens_alone() -> None:
    answers = Answers(cost_limit=Decimal("0.01"))
    assert (
        MemoryResponseCache(answers)
        .claim([(call_for("a"), Estimate(10, None)), (call_for("b"), Estimate(10, None))])
        .mine
    )


def test_it_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_cache, "MOST_ANSWERS", 3)
    book, calls = MemoryResponseCache(), [call_for(number) for number in range(5)]
    book.claim([(call, ONE) for call in calls])
    book.put([(call, ANSWER) for call in calls])
    assert list(book.answers.by_key) == [call.key for call in calls[2:]]
