"""A dialogue as the text that a causal language model continues. Pure.

Three ways: ``chat`` (the model's own chat template; whose turn it is speaks as the assistant, the
other as the user), ``tags`` (a line an utterance, begun by ``A:`` or ``B:``), ``raw`` (a line an
utterance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from annotations.records import Utterance


class ChatWriter(Protocol):
    def as_chat(self, messages: Sequence[tuple[str, str]]) -> str | None: ...


class NoChatTemplateError(ValueError):
    """The model was not made for chats; another format is to be chosen."""


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before an utterance, and how the utterance is to be written after it."""

    text: str
    lead: str
    """Goes before the utterance: a tag's line goes on with a space."""


def before_utterance(
    style: str,
    speaker: str,
    utterances: Sequence[Utterance],
    persona: Sequence[str],
    model: ChatWriter,
) -> Before:
    """The text up to what ``speaker`` says next. ``persona`` is the speaker's; left out where it is
    empty.

    Raises ``NoChatTemplateError`` for ``chat`` with a model that has no chat template.
    """
    known = [line.strip() for line in persona if line.strip()]
    spoken = [(one.speaker, one.text.strip()) for one in utterances if one.text.strip()]
    return _written(style, speaker, spoken, known, model)


def after_silence(style: str, speaker: str, partner: str, model: ChatWriter) -> Before:
    """As ``before_utterance``, where nothing is known and all that the partner said is an empty
    utterance: the frame alone, the same that stands around a dialogue (a chat template may add
    instructions of its own to any chat)."""
    return _written(style, speaker, [(partner, "")], [], model)


def _written(
    style: str,
    speaker: str,
    spoken: Sequence[tuple[str, str]],
    known: Sequence[str],
    model: ChatWriter,
) -> Before:
    if style == "chat":
        messages = [("system", f"Your persona: {' '.join(known)}")] if known else []
        turns = [("assistant" if who == speaker else "user", text) for who, text in spoken]
        written = model.as_chat([*messages, *turns])
        if written is None:
            raise NoChatTemplateError(
                "the model has no chat template: set format=tags or format=raw"
            )
        return Before(written, "")
    if style == "tags":
        head = [f"{speaker}'s persona: {' '.join(known)}"] if known else []
        return Before(
            "\n".join([*head, *(f"{who}: {text}".rstrip() for who, text in spoken), f"{speaker}:"]),
            " ",
        )
    return Before("".join(f"{line}\n" for line in [*known, *(text for _, text in spoken)]), "")
