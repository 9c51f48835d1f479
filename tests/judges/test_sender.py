"""The thread that sends, with a model of the test's own."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.judges.calls import call_for
from workers.inference.language_models.asynchronous import Reply
from workers.judges.core.sender import Attempt, AttemptSender, Outcome

REPLY = Reply("4", "stop", "m", 1, 1, None)


class Model:
    """Answers each body when it is let; a body that holds ``bad`` comes to nothing."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.let = asyncio.Event()
        self.is_closed = False

    async def complete(self, body: bytes) -> Reply:
        self.asked.append(body)
        if b"bad" in body:
            raise ValueError("bad")
        await self.let.wait()
        return REPLY

    async def close(self) -> None:
        self.is_closed = True


class Sending:
    def __init__(self, at_once: int) -> None:
        self.sender = AttemptSender(
            self.made, lambda attempt: attempt.call.request.messages[0].text.encode(), at_once
        )

    def made(self) -> Model:
        self.model = Model()
        return self.model

    def hand_over(self, *what: object) -> None:
        self.sender.hand_over([Attempt(call_for(one), 1) for one in what])

    def let(self) -> None:
        self.sender._loop.call_soon_threadsafe(self.model.let.set)

    def all_outcomes(self, count: int) -> list[Outcome]:
        came: list[Outcome] = []
        while len(came) < count:
            more = self.sender.outcomes(5.0)
            assert more
            came += more
        return came


@pytest.fixture
def sending() -> Sending:
    return Sending(2)


def test_only_as_many_begin_as_are_allowed(sending: Sending) -> None:
    sending.hand_over("a", "b", "c")
    assert [attempt.call for attempt in sending.sender.recall()] == [call_for("c")]
    assert sending.model.asked == [b"rate a", b"rate b"]
    assert sending.sender.load == 2
    sending.let()
    assert len(sending.all_outcomes(2)) == 2
    assert sending.sender.load == 0
    sending.sender.close()


def test_a_free_place_is_taken_without_anybody_fetching_outcomes(sending: Sending) -> None:
    sending.let()
    sending.hand_over(*range(20))
    assert len(sending.all_outcomes(20)) == len(sending.model.asked) == 20
    sending.sender.close()


def test_after_an_attempt_that_came_to_nothing_none_begins_until_it_is_allowed(
    sending: Sending,
) -> None:
    sending.let()
    sending.hand_over("bad", "a", "b", "c")
    first = sending.all_outcomes(2)
    assert {outcome.problem is None for outcome in first} == {True, False}
    assert sending.sender.outcomes(0.1) == []
    sending.sender.allow(2)
    assert len(sending.all_outcomes(2)) == 2
    sending.sender.close()


def test_closing_breaks_off_what_is_under_way_and_ends_the_thread(sending: Sending) -> None:
    sending.hand_over("a", "b", "c")
    sending.sender.close()
    assert sending.model.is_closed
    assert not sending.sender._thread.is_alive()
    assert sending.sender.outcomes(0.05) == []
    sending.sender.close()


def test_a_model_that_cannot_be_made_leaves_no_thread() -> None:
    def broken() -> Model:
        raise ValueError("no such address")

    before = threading.active_count()
    with pytest.raises(ValueError, match="no such address"):
        AttemptSender(broken, lambda _: b"", 1)
    assert threading.active_count() == before
