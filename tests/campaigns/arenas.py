"""Arenas for tests, as rows."""

from __future__ import annotations

from itertools import count

from django.utils import timezone

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.models import Arena, Battle, ChatSystem, Message, Visitor
from tests.campaigns.sets import SYSTEMS, made_version

_numbers = count(1)


def made_arena(source: str = "stored", dialogues: int = 3, turns: int = 1, **fields) -> Arena:
    """An open public arena of two systems."""
    number = next(_numbers)
    is_stored = source == "stored"
    version = made_version(SYSTEMS if is_stored else (), dialogues, turns)
    given = {
        "slug": f"arena-{number}",
        "name": f"Arena {number}",
        "is_public": True,
        "is_open": True,
        "opened_at": timezone.now(),
    }
    arena = Arena.objects.create(
        source=source,
        version=version,
        **given | fields,
    )
    if is_stored:
        arena.systems.set(version.systems.all())
    else:
        arena.chat_systems.set(
            ChatSystem.objects.get_or_create(name=name, defaults={"instructions": "{persona}"})[0]
            for name in SYSTEMS
        )
    return arena


def made_battle(arena: Arena, address: str = "192.0.2.1") -> Battle:
    """Of a visitor who is new."""
    return actions.begin(arena, actions.join(arena, address), address)


def next_battle(visitor: Visitor) -> Battle:
    return actions.begin(visitor.arena, visitor, "192.0.2.1")


def answer_both(battle: Battle, a: str = "From A.", b: str = "From B.") -> None:
    """Both models answer, without a worker."""
    for arm, text in (("a", a), ("b", b)):
        waiting = Message.objects.filter(
            conversation__battle=battle, conversation__arm=arm, state=Message.State.PENDING
        )
        done = waiting.update(state=Message.State.DONE, text=text, finished_at=timezone.now())
        assert done == 1
