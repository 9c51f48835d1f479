"""The engine against a real server: what is asked, in which order, how often; books, duplicates,
what follows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal

import pytest

from tests.judges.calls import ask_all, call_for, engine_for
from tests.judges.loopback_server import Loopback, score_of
from workers.judges.core.calls import Answer, Call, Estimate, Price, estimate
from workers.judges.core.memory_cache import Answers, MemoryResponseCache
from workers.judges.core.rate_limit import InProcessRateLimit
from workers.judges.core.response_cache import BudgetSpent, Claimed, Stopped


def test_every_call_is_asked_once_and_answered(loopback: Loopback) -> None:
    calls = [call_for(number) for number in range(40)]
    came = ask_all(engine_for(loopback.endpoint()), calls)
    assert {call.key for call, _ in came} == {call.key for call in calls}
    assert len({entry["request"] for entry in loopback.log()}) == loopback.stats()["requests"] == 40
    assert all(answer.state == "answered" and not answer.from_store for _, answer in came)


def test_an_answer_holds_what_the_endpoint_said(loopback: Loopback) -> None:
    [(_, answer)] = ask_all(
        engine_for(loopback.endpoint()), [call_for("a", logprobs=True, top_logprobs=20)]
    )
    [entry] = loopback.log()
    score = score_of(entry["request"])
    assert answer.text == f"- Humanness: {score}"
    assert answer.reported_model == "judge-a-loopback"
    assert (answer.input_tokens, answer.output_tokens, answer.attempts) == (2, 3, 1)
    assert answer.chances is not None
    assert max(answer.chances[-1].top, key=lambda one: one[1])[0].strip() == str(score)
    assert entry["seed"] == call_for("a", logprobs=True, top_logprobs=20).seed


def test_no_more_are_under_way_than_allowed(loopback: Loopback) -> None:
    loopback.control(seconds=0.03)
    ask_all(engine_for(loopback.endpoint(), at_once=5), [call_for(number) for number in range(30)])
    assert loopback.stats()["most_at_once"] == 5


def test_calls_are_read_in_order_and_never_far_ahead(loopback: Loopback) -> None:
    read = answered = furthest = 0

    def calls() -> Iterator[Call]:
        nonlocal read, furthest
        for number in range(100):
            read += 1
            furthest = max(furthest, read - answered)
            yield call_for(number)

    def count(done: int) -> None:
        nonlocal answered
        answered = done

    engine = engine_for(loopback.endpoint(), at_once=4)
    engine.ask(calls(), lambda _call, _answer: (), count)
    engine.close()
    assert answered == 100
    assert furthest <= 3 * 4


@pytest.mark.slow
def test_calls_that_follow_are_asked_before_those_that_come(loopback: Loopback) -> None:
    """Two asks a call; at two at once, at most eight new ones are begun before the first second
    ask."""

    def once_more(call: Call, _: Answer) -> Sequence[Call]:
        return [Call(call.request, call.sample, 1)] if call.ask == 0 else []

    loopback.control(seconds=0.02)
    came = ask_all(
        engine_for(loopback.endpoint(), at_once=2),
        [call_for(number) for number in range(30)],
        once_more,
    )
    assert len(came) == loopback.stats()["requests"] == 60
    assert 1 in [call.ask for call, _ in came[:12]]


def test_what_is_asked_twice_is_sent_once_and_follows_twice(loopback: Loopback) -> None:
    """Two systems that say the same at one turn."""
    calls = [call_for(number % 5, purpose=number) for number in range(20)]
    came = ask_all(engine_for(loopback.endpoint()), calls)
    assert loopback.stats()["requests"] == 5
    assert sorted(call.purpose for call, _ in came) == list(range(20))
    assert sum(not answer.from_store for _, answer in came) == 5


def test_a_second_run_reads_the_store(loopback: Loopback) -> None:
    book, calls = MemoryResponseCache(), [call_for(number) for number in range(50)]
    first = ask_all(engine_for(loopback.endpoint(), book), calls)
    second = ask_all(engine_for(loopback.endpoint(), book), calls)
    assert loopback.stats()["requests"] == 50
    assert all(answer.from_store for _, answer in second)
    assert {call.key: answer for call, answer in second} == {
        call.key: answer for call, answer in first
    }


def test_another_sample_is_another_call(loopback: Loopback) -> None:
    ask_all(engine_for(loopback.endpoint()), [call_for("a", sample=sample) for sample in range(3)])
    assert len({entry["seed"] for entry in loopback.log()}) == 3
    assert len({entry["request"] for entry in loopback.log()}) == 1


def test_progress_counts_what_is_answered(loopback: Loopback) -> None:
    seen: list[int] = []
    engine = engine_for(loopback.endpoint())
    engine.ask([call_for(number) for number in range(10)], lambda _call, _answer: (), seen.append)
    engine.close()
    assert seen == sorted(set(seen))
    assert seen[-1] == 10


def test_an_engine_may_ask_several_times(loopback: Loopback) -> None:
    engine = engine_for(loopback.endpoint())
    for number in range(3):
        engine.ask([call_for(number)], lambda _call, _answer: ())
    engine.close()
    assert loopback.stats()["requests"] == 3


def test_nothing_to_ask_asks_nothing(loopback: Loopback) -> None:
    assert ask_all(engine_for(loopback.endpoint()), []) == []


@pytest.mark.slow
def test_requests_a_minute_are_kept(loopback: Loopback) -> None:
    """600 a minute are 10 a second; 2 s of burst are 20: the nth goes no sooner than n / 10 - 2 s
    from the first's reservation, the 45th 2.5 s after it. Both processes read the same monotonic
    clock."""
    pace = InProcessRateLimit(requests_a_minute=600)
    engine = engine_for(loopback.endpoint(), pace=pace, at_once=64, requests_a_minute=600)
    engine.ask([call_for("first")], lambda _call, _answer: ())  # the client is made
    begun = time.monotonic()
    ask_all(engine, [call_for(number) for number in range(45)])
    server_begun = loopback.stats()["begun"]
    times = [server_begun + entry["at"] - begun for entry in loopback.log()[1:]]
    assert all(at >= number / 10 - 2 - 0.01 for number, at in enumerate(times, start=1))


def test_tokens_a_minute_are_kept_as_they_are_used(loopback: Loopback) -> None:
    """Each call reserves 19 (7 bytes of prompt, a message, 8 of an answer), and uses 5: so 80
    calls take 400 of the 500 tokens of the burst, with 4 reservations at a time, where reserved
    tokens alone would have waited for (1,520 - 500) / 250 a second: 4 seconds."""
    pace = InProcessRateLimit(tokens_a_minute=15_000)
    engine = engine_for(loopback.endpoint(), pace=pace, tokens_a_minute=15_000)
    ask_all(engine, [call_for(10 + number, sample=number) for number in range(80)])
    times = [entry["at"] for entry in loopback.log()]
    assert times[-1] - times[0] < 3.5


class Shared(MemoryResponseCache):
    """A book in which another holder has some of the calls, and answers them after a while."""

    def __init__(self, theirs: Sequence[Call]) -> None:
        super().__init__()
        self.looks, self.theirs, self.other = 0, list(theirs), MemoryResponseCache(self.answers)
        self.other.claim([(call, Estimate(1, None)) for call in theirs])

    def claim(self, calls: Sequence[tuple[Call, Estimate]]) -> Claimed:
        self.looks += 1
        if self.looks == 3:
            self.other.put([(call, Answer("answered", text="theirs")) for call in self.theirs])
        return super().claim(calls)


def test_what_another_asks_is_looked_at_again_and_not_sent(loopback: Loopback) -> None:
    calls = [call_for(number) for number in range(10)]
    came = ask_all(engine_for(loopback.endpoint(), Shared(calls[:4])), calls)
    assert loopback.stats()["requests"] == 6
    assert sorted(answer.text for _, answer in came).count("theirs") == 4


def test_what_another_gave_up_is_ours(loopback: Loopback) -> None:
    calls = [call_for(number) for number in range(6)]
    book = Shared(calls[:4])
    book.theirs = []
    book.other.close()
    assert (
        len(ask_all(engine_for(loopback.endpoint(), book), calls))
        == loopback.stats()["requests"]
        == 6
    )


@pytest.mark.slow
def test_two_who_ask_the_same_at_once_share_the_work(loopback: Loopback) -> None:
    loopback.control(seconds=0.01)
    answers, came = Answers(), dict[int, list[tuple[Call, Answer]]]()

    def work(which: int) -> None:
        came[which] = ask_all(
            engine_for(loopback.endpoint(), MemoryResponseCache(answers)),
            [call_for(n) for n in range(60)],
        )

    threads = [threading.Thread(target=work, args=[which]) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(came[which]) for which in range(2)] == [60, 60]
    assert loopback.stats()["requests"] == answers.calls == 60


def test_nothing_is_sent_that_cannot_be_paid_for(loopback: Loopback) -> None:
    answers = Answers(tokens_limit=10)
    with pytest.raises(BudgetSpent, match="0 of 10 tokens"):
        ask_all(engine_for(loopback.endpoint(), MemoryResponseCache(answers)), [call_for("a")])
    assert loopback.stats()["requests"] == 0
    assert not answers.held


def test_a_budget_is_used_as_far_as_answers_cost_less_than_they_might(loopback: Loopback) -> None:
    """A call may take 23 tokens and takes 5. Of 100 tokens, 16 calls are paid: 5 · 15 + 23 <= 100 <
    5 · 16 + 23."""
    call = call_for(10)
    assert estimate(call).tokens == 23
    answers = Answers(tokens_limit=100)
    with pytest.raises(BudgetSpent):
        ask_all(
            engine_for(loopback.endpoint(), MemoryResponseCache(answers)),
            [call_for(10, sample=n) for n in range(50)],
        )
    assert (answers.calls, answers.tokens_spent) == (16, 80)
    assert loopback.stats()["paid"] == 16
    assert not answers.held


def test_a_budget_in_money_is_kept(loopback: Loopback) -> None:
    """At 1 USD a token: the same 16 calls."""
    million = Decimal(1_000_000)
    answers, price = Answers(cost_limit=Decimal(100)), Price(million, million)
    engine = engine_for(loopback.endpoint(), MemoryResponseCache(answers, price))
    engine.price = price
    with pytest.raises(BudgetSpent, match="USD"):
        ask_all(engine, [call_for(10, sample=number) for number in range(50)])
    assert answers.cost_spent == 80
    assert loopback.stats()["paid"] == 16


def test_more_money_goes_on_where_it_was(loopback: Loopback) -> None:
    answers, calls = (
        Answers(tokens_limit=100),
        [call_for(10, sample=number) for number in range(50)],
    )
    with pytest.raises(BudgetSpent):
        ask_all(engine_for(loopback.endpoint(), MemoryResponseCache(answers)), calls)
    answers.tokens_limit = None
    assert len(ask_all(engine_for(loopback.endpoint(), MemoryResponseCache(answers)), calls)) == 50
    assert loopback.stats()["paid"] == 50


@pytest.mark.slow
def test_who_stops_it_gets_what_was_in_flight(loopback: Loopback) -> None:
    """Stopped at the second look, a second after the first: what was sent by then is kept, and
    nothing else sent."""
    loopback.control(seconds=0.3)
    looks, answers = 0, Answers()

    def watch() -> None:
        nonlocal looks
        looks += 1
        if looks == 2:
            raise Stopped("enough")

    with pytest.raises(Stopped, match="enough"):
        ask_all(
            engine_for(loopback.endpoint(), MemoryResponseCache(answers), watch=watch),
            map(call_for, range(10_000)),
        )
    assert 8 <= loopback.stats()["paid"] == answers.calls <= 20
    assert not answers.held


def test_a_follow_that_breaks_ends_it_and_keeps_what_came(loopback: Loopback) -> None:
    def broken(_call: Call, _answer: Answer) -> Sequence[Call]:
        raise ZeroDivisionError

    answers = Answers()
    with pytest.raises(ZeroDivisionError):
        ask_all(
            engine_for(loopback.endpoint(), MemoryResponseCache(answers)),
            map(call_for, range(20)),
            broken,
        )
    assert answers.calls == loopback.stats()["paid"] >= 1
    assert not answers.held


@pytest.mark.slow
def test_a_process_that_is_told_to_end_keeps_what_comes_within_seconds(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first calls take 0.2 s; the one that hangs is not waited for longer than the bound."""
    monkeypatch.setattr("workers.judges.core.scheduler.IMPATIENT_SECONDS", 0.6)
    loopback.control(seconds=0.2, rules=[{"contains": "rate 2", "do": "hang"}])
    answers = Answers()

    def watch() -> None:
        if loopback.stats()["requests"]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask_all(
            engine_for(loopback.endpoint(), MemoryResponseCache(answers), watch=watch),
            [call_for(n) for n in range(3)],
        )
    assert answers.calls == loopback.stats()["paid"] == 2
    assert not answers.held
