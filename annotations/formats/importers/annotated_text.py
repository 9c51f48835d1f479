"""What exports of annotation tools share: a text with the conversation, whose last reply is
judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.formats.importers.collected import (
    ASSISTANT,
    Collection,
    Conversation,
    add_log,
    clean_name,
)
from annotations.formats.importers.problems import Where
from annotations.formats.importers.speakers import conversation

SYSTEM_KEYS = ("system", "model", "metadata.system", "metadata.model", "model_name", "system_name")
DIALOGUE_KEYS = ("dialog_id", "dialogue_id", "conversation_id", "conv_id", "sid", "session_id")
COMMENT_WORDS = (
    *("comment", "why", "reason", "explain", "explanation", "justification", "feedback"),
    *("note", "notes", "remark", "remarks", "correct", "correction", "text_box", "textbox"),
)


def system_of(fields: Mapping[str, Any]) -> str:
    """The system that a record names; ``assistant`` where it names none."""
    found = next((fields[key] for key in SYSTEM_KEYS if fields.get(key) not in (None, "")), None)
    return clean_name(found) or ASSISTANT


def dialogue_of(fields: Mapping[str, Any]) -> str:
    """The dialogue that a record names; "" where it names none."""
    found = next((fields[key] for key in DIALOGUE_KEYS if fields.get(key) not in (None, "")), None)
    return clean_name(found)


def is_comment(question: str) -> bool:
    """Whether a question asks for free text, by its name."""
    plain = question.casefold().replace("-", "_")
    return plain in COMMENT_WORDS or any(part in COMMENT_WORDS for part in plain.split("_"))


def add_logged_text(
    collection: Collection, name: str, text: str, system: str, where: Where
) -> tuple[Conversation, int]:
    """Add an item whose text is a whole conversation with one system.

    Args:
        collection: gets the dialogue.
        name: of the dialogue.
        text: as in ``conversation``.
        system: who wrote the messages of the assistant's role.
        where: place of the record.

    Returns:
        The dialogue, and the number of its last response, which is judged; where no message is the
        assistant's, that of an empty point to answer.
    """
    one = collection.conversation(name, where)
    if not one.turns:
        one.messages = conversation(text)
        add_log(one, system, where)
    return one, max(one.turns)


def add_last_reply(
    collection: Collection, name: str, text: str, system: str, where: Where
) -> tuple[Conversation, int]:
    """Add an item of crossed data: the last line of its text is the system's reply.

    Args:
        collection: gets the response, and the dialogue where it is new.
        name: of the dialogue, which several systems may answer.
        text: as in ``conversation``.
        system: who wrote the last message.
        where: place of the record.

    Returns:
        The dialogue and the turn. The turn counts the contexts of different length in it.
    """
    one = collection.conversation(name, where)
    messages = conversation(text)
    context, reply = messages[:-1], messages[-1].text if messages else ""
    known = [number for number, turn in one.turns.items() if turn.context == context]
    number = known[0] if known else len(one.turns)
    one.turn(number, where, context)
    one.response(number, system, reply, where)
    return one, number
