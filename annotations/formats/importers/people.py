"""Conversations between people in which nobody is evaluated: messages, perhaps with what a speaker
could have said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotations.formats.importers.base import Placed
from annotations.formats.importers.chat_messages import UNKNOWN_SPEAKER
from annotations.formats.importers.problems import Where
from annotations.formats.records import DialogueRecord, Message, TurnRecord


def people_talking(
    dialogue_id: str,
    messages: tuple[Message, ...],
    where: Where,
    *,
    turns: tuple[TurnRecord, ...] = (),
    persona: tuple[str, ...] = (),
    knowledge: tuple[str, ...] = (),
    metadata: Mapping[str, Any] | None = None,
) -> Iterator[Placed]:
    """The record of a conversation without systems.

    Args:
        dialogue_id: id of the record.
        messages: all of it.
        where: its place in the file.
        turns: messages that have references.
        persona: of who answers at the turns.
        knowledge: what the speakers were given.
        metadata: of the dialogue.

    Returns:
        Iterator over the one record.
    """
    yield (
        DialogueRecord(
            dialogue_id,
            persona,
            (),
            turns,
            messages,
            knowledge=knowledge,
            metadata=metadata or {},
        ),
        where,
        "",
    )


def spoken(speaker: str, text: str, metadata: Mapping[str, Any] | None = None) -> Message:
    """What a person says.

    Args:
        speaker: a name; "" where the file does not tell.
        text: the words.
        metadata: of the message.

    Returns:
        The message, whose role nobody knows.
    """
    return Message(UNKNOWN_SPEAKER, text, speaker, metadata=metadata or {})
