"""Answers in an arena's battle, over real HTTP, from endpoints that hang, drip, break off or fail."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.models import Arena, Battle, ChatSystem, Message
from annotations.campaigns.queries.arena import figures_of
from tests.campaigns.arenas import made_arena
from tests.judges.loopback_server import KEY, Loopback, loopback_server
from tests.workers.endpoint import StubEndpoint
from workers.chats import execution

pytestmark = pytest.mark.django_db
VARIABLE = "DIALEVAL_CHAT_KEY_LOOPBACK"


@pytest.fixture(scope="module")
def loopback_of_the_module() -> Iterator[Loopback]:
    with loopback_server() as server:
        yield server


@pytest.fixture
def loopback(loopback_of_the_module: Loopback, monkeypatch: pytest.MonkeyPatch) -> Loopback:
    """Fresh; a worker has its key, and waits for half a second instead of a minute."""
    loopback_of_the_module.reset()
    monkeypatch.setenv(VARIABLE, KEY)
    monkeypatch.setattr(execution, "ANSWER_SECONDS", 0.5)
    execution._model.cache_clear()
    return loopback_of_the_module


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


@pytest.fixture
def arena(loopback: Loopback, stub: StubEndpoint) -> Arena:
    """Of northwind, at the loopback endpoint, and southgate, at the stub."""
    made = made_arena("chat")
    ChatSystem.objects.filter(name="northwind").update(
        base_url=loopback.base_url, model="judge-a", key_variable=VARIABLE
    )
    ChatSystem.objects.filter(name="southgate").update(base_url=stub.base_url, model="stub")
    return made


def begun(visitor: Client, arena: Arena) -> str:
    return str(visitor.post(reverse("arena-begin", args=[arena.slug]))["Location"])


def answers_of(name: str) -> Message:
    arm = "a" if Battle.objects.get().chat_system_a.name == name else "b"
    return Message.objects.get(speaker="B", conversation__arm=arm)


def work() -> None:
    """What a worker does with everything that waits."""
    for pk in Message.objects.filter(state="pending").values_list("pk", flat=True):
        execution.answer(pk)


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        ({"do": "hang"}, 1),  # half of the time is over: no second one
        (
            {"do": "drip", "text": "word " * 50},
            1,
        ),  # a byte every 50 ms, for longer than it may take
        ({"do": "half"}, 2),
        ({"do": "drop"}, 2),
    ],
    ids=lambda one: one["do"] if isinstance(one, dict) else "",
)
def test_an_endpoint_that_gives_no_whole_answer_voids_the_battle_and_the_next_one_begins(
    arena: Arena, loopback: Loopback, stub: StubEndpoint, step: dict[str, str], calls: int
) -> None:
    loopback.control(default=step)
    visitor = Client()
    page = begun(visitor, arena)
    visitor.post(f"{page}say/", {"text": "Hello.", "key": "k"})
    since = time.monotonic()
    work()
    assert time.monotonic() - since < 10  # whole it drips for 15 s
    shown = visitor.get(page).content.decode()
    assert "One of the models did not answer. This battle is not counted." in shown
    assert not Message.objects.filter(state__in=["pending", "running"]).exists()
    # every call is charged once: the endpoint may bill what it was sent
    failed = answers_of("northwind")
    assert len(loopback.log()) == failed.unsettled_calls == calls
    assert (len(stub.asked), answers_of("southgate").calls) == (1, 1)
    assert Arena.objects.get().answers_requested == 2
    assert (figures_of(arena).void, figures_of(arena).votes) == (1, 0)
    loopback.reset()
    assert begun(visitor, arena) != page


def test_an_endpoint_that_breaks_off_once_is_asked_again_and_the_battle_goes_on(
    arena: Arena, loopback: Loopback
) -> None:
    loopback.control(script=[{"do": "half"}])
    visitor = Client()
    page = begun(visitor, arena)
    visitor.post(f"{page}say/", {"text": "Hello.", "key": "k"})
    work()
    answer = answers_of("northwind")
    assert (answer.state, answer.calls, answer.unsettled_calls) == ("done", 1, 1)
    assert visitor.post(f"{page}vote/", {"vote": "tie"}).status_code == 302
    assert figures_of(arena).votes == 1


def test_an_answer_that_comes_after_the_visitor_left_changes_nothing(
    arena: Arena, loopback: Loopback
) -> None:
    visitor = Client()
    page = begun(visitor, arena)
    visitor.post(f"{page}say/", {"text": "Hello.", "key": "k"})
    actions.leave(Battle.objects.get())
    work()
    assert not loopback.log()
    assert Battle.objects.get().state == "void"
    assert set(Message.objects.filter(speaker="B").values_list("state", flat=True)) == {"failed"}
