"""A dialogue as the text that a causal language model continues. Pure.

Three ways: ``chat`` (the model's own chat template; whose turn it is speaks as the assistant, the
other as the user), ``tags`` (a line an utterance, begun by ``A:`` or ``B:``), ``raw`` (a line an
utterance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from annotations.formats.records import Utterance


class ChatWriter(Protocol):
    """A model that may have a chat template."""

    def as_chat(self, messages: Sequence[tuple[str, str]]) -> str | None:
        """Write messages by the model's chat template, up to where the assistant speaks next.

        Args:
            messages: (role, text) pairs; the roles are ``system``, ``user`` and ``assistant``.

        Returns:
            None where the model has no chat template.
        """
        ...


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
    """Text of a dialogue up to what ``speaker`` says next.

    Args:
        style: ``chat``, ``tags`` or ``raw``.
        speaker: who speaks next, as ``Utterance.speaker`` names them; the assistant of ``chat``.
        utterances: the dialogue so far, in order. Empty ones are left out.
        persona: lines of the speaker's persona; left out where it is empty.
        model: whose chat template ``chat`` uses.

    Returns:
        The text, and what goes before the utterance after it.

    Raises:
        NoChatTemplateError: ``chat`` with a model that has no chat template.
    """
    known = [line.strip() for line in persona if line.strip()]
    spoken = [(one.speaker, one.text.strip()) for one in utterances if one.text.strip()]
    return _written(style, speaker, spoken, known, model)


def after_silence(style: str, speaker: str, partner: str, model: ChatWriter) -> Before:
    """Text before an utterance that answers an empty one of the partner, with no persona.

    This is the frame alone, the same that stands around a dialogue (a chat template may add
    instructions of its own to any chat).

    Args:
        style: ``chat``, ``tags`` or ``raw``.
        speaker: who speaks next.
        partner: who said the empty utterance.
        model: whose chat template ``chat`` uses.

    Returns:
        The text, and what goes before the utterance after it.

    Raises:
        NoChatTemplateError: ``chat`` with a model that has no chat template.
    """
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
