"""Texts that hold a conversation, as messages: lines ``Speaker: text``, JSON lists, plain lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from annotations.formats.importers.chat_templates import templated
from annotations.formats.importers.python_values import python_list
from annotations.formats.records import Message

USERS = frozenset(["user", "u", "human", "customer", "client", "usr"])
ASSISTANTS = frozenset(
    ["assistant", "bot", "chatbot", "system", "s", "agent", "ai", "model", "sys", "gpt"]
)
"""What the answering side is called where a conversation stands in one text. ``system`` is the
system under evaluation there, never a system prompt."""
_PLAIN = frozenset(["user", "u", "usr", "assistant", "s", "sys"])
"""Labels that say no more than the role."""
_LINE = re.compile(r"\s{0,99}([^\W\d_][^\n:]{0,29}):(?:[ \t]+(.*)|)$", re.DOTALL)
_MOST_WORDS = 3
_HEADED = re.compile(r"\A\s*(?:###\s*)?(?:Human|Assistant):")
_SPEECHES = tuple(
    re.compile(rf"(?:\A\s*|{before})(Human|Assistant):[ \n]?")
    for before in (r"\n\n", r"\n", r"### ?")
)
"""What separates the messages of a transcript: a blank line, a line end, or the signs ``###``."""


def transcript(text: str) -> tuple[Message, ...]:
    """The messages of a text in which ``Human:`` and ``Assistant:`` begin what each one says.

    Args:
        text: as HH-RLHF has it, with a blank line before each speaker; or with a line end, or
            ``###``; or in a chat template (``chat_templates``).

    Returns:
        The messages; none for any other text, and for one speaker without a blank line before.
    """
    if messages := templated(text):
        return messages
    if not _HEADED.match(text):
        return ()
    for speech in _SPEECHES:
        before, *pieces = speech.split(text)
        is_whole = text.startswith("\n\n") and len(pieces) == 2 and "\nAssistant:" not in text
        if not before.strip() and (len(pieces) > 2 or is_whole):
            return tuple(
                Message(
                    "user" if speaker == "Human" else "assistant",
                    words.rstrip() if speech is _SPEECHES[-1] else words,
                )
                for speaker, words in zip(pieces[::2], pieces[1::2], strict=True)
            )
    return ()


def message_of(label: str, text: str, **more: Any) -> Message:
    """A message by its speaker's label.

    Args:
        label: as the file writes it; "" where it does not say who speaks.
        text: what is said.
        more: other fields of the message.

    Returns:
        Role ``user`` or ``assistant`` where the label is a word for it, with the label as the name
        where it says more; else the label is the role.
    """
    plain = label.strip().casefold()
    role = "user" if plain in USERS else "assistant" if plain in ASSISTANTS else ""
    if not role:
        return Message(label.strip(), text, **more)
    return Message(role, text, "" if plain in _PLAIN else label.strip(), **more)


def conversation(text: str, last: str = "user") -> tuple[Message, ...]:
    """Split a text that holds a conversation.

    Args:
        text: lines ``Speaker: text``, of which one without a speaker continues the message before;
            or lines without any speaker, one message each; or a JSON list of texts or messages.
        last: who speaks last where no speaker is named, ``user`` or ``assistant``.

    Returns:
        The messages, oldest first. Where no speaker is named they alternate.
        A last speaker without a text is a prompt to answer, and left out.
    """
    listed = _json_list(text, last)
    if listed is not None:
        return listed
    if messages := templated(text):
        return messages
    lines = text.strip("\r\n").replace("\r\n", "\n").split("\n")
    if not _label(lines[0]):
        return alternating([line.strip() for line in lines if line.strip()], last)
    spoken: list[tuple[str, list[str]]] = []
    for line in lines:
        if label := _label(line):
            found = _LINE.match(line)
            spoken.append((label, [(found[2] or "") if found else ""]))
        elif spoken:
            spoken[-1][1].append(line)
    if spoken and not "".join(spoken[-1][1]).strip():
        spoken.pop()
    return tuple(message_of(label, "\n".join(parts).strip()) for label, parts in spoken)


def prompted(text: str) -> tuple[Message, ...]:
    """What a system was asked.

    Args:
        text: what the user says, in any number of lines; or a conversation whose first line begins
            with a word of ``USERS`` or ``ASSISTANTS``, or a JSON list, as in ``conversation``; or
            in a chat template.

    Returns:
        One message of the user, or the conversation.
    """
    if messages := templated(text):
        return messages
    label = _label(text.lstrip("\r\n").partition("\n")[0]).casefold()
    if label in USERS | ASSISTANTS or _json_list(text) is not None:
        return conversation(text)
    return (Message("user", text),)


def with_prompt(context: str, prompt: str) -> tuple[Message, ...]:
    """A conversation that a prompt goes on with.

    Args:
        context: as in ``conversation``; "" for none.
        prompt: as in ``prompted``; "" for none.

    Returns:
        The messages of both. Where no speaker is named in the context, the assistant has the last
        word in it, for the user says the prompt.
    """
    messages = prompted(prompt) if prompt else ()
    last = "assistant" if messages else "user"
    return (conversation(context, last) if context.strip() else ()) + messages


def alternating(lines: list[str], last: str = "user") -> tuple[Message, ...]:
    """Messages of two speakers that a file does not name.

    Args:
        lines: what is said, oldest first.
        last: who speaks last, ``user`` or ``assistant``.

    Returns:
        Messages by the user and the assistant in turn.
    """
    other = "assistant" if last == "user" else "user"
    return tuple(
        Message(last if (len(lines) - place) % 2 else other, line)
        for place, line in enumerate(lines)
    )


def chat_messages(values: list[Any]) -> tuple[Message, ...] | None:
    """Messages that a file holds as objects.

    Args:
        values: objects with ``role`` or ``author`` and ``content`` or ``text``.

    Returns:
        The messages, with all other keys as metadata; None where a value is something else.
    """
    messages = []
    for value in values:
        if not isinstance(value, Mapping):
            return None
        role = next(
            (value[key] for key in ("role", "author", "speaker", "from") if key in value), ""
        )
        text = next((value[key] for key in ("content", "text", "value") if key in value), None)
        if not isinstance(role, str) or not isinstance(text, str | None):
            return None
        other = {
            key: item
            for key, item in value.items()
            if key not in ("role", "author", "speaker", "from", "content", "text", "value")
        }
        messages.append(Message(role, text or "", metadata=other))
    return tuple(messages)


def _label(line: str) -> str:
    found = _LINE.match(line)
    label = found[1].strip() if found else ""
    return label if len(label.split()) <= _MOST_WORDS else ""


def _json_list(text: str, last: str = "user") -> tuple[Message, ...] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = python_list(text)
    if not isinstance(values, list):
        return None
    if values and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair)
        for pair in values
    ):
        return tuple(
            Message(role, text)
            for pair in values
            for role, text in zip(("user", "assistant"), pair, strict=True)
        )
    if all(isinstance(value, str) for value in values):
        labelled = [conversation(value) for value in values if _label(value)]
        if len(labelled) == len(values) and all(len(one) == 1 for one in labelled):
            return tuple(message for [message] in labelled)
        return alternating(values, last)
    return chat_messages(values)
