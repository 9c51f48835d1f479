"""What metrics read of a response and the dialogue before it. Pure.

* Whether a response repeats what stands before it: a model finds a repeated text very likely and an
  unrepeated one not, so a difference of the two rewards an echo.
* A dialogue as the text that a causal language model continues: ``chat`` (the model's own chat
  template; whose turn it is speaks as the assistant, the other as the user), ``tags`` (a line an
  utterance, begun by ``A:`` or ``B:``), ``raw`` (a line an utterance).
* How many of a run's responses had a persona, for its signature: with and without one, scores may
  differ in scale.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotations.formats.records import Utterance
from workers.metrics.base import Example, SignatureFields
from workers.metrics.common.lexical import normalised_tokens

RUN = 4
"""Words in a row that count as copied; a shorter response counts where it stands in one text as a
whole."""
MIN_WORDS = 3
"""A shorter response ("yes i am" has three) repeats by chance."""
COPIED_SHARE = 0.5
"""From this share of its words on a response is said to copy."""


def copied_share(response: str, texts: Iterable[str]) -> float:
    """Share of the response's words that repeat what stands before it.

    Words are compared in lower case, without punctuation and articles.

    Args:
        texts: context, persona or both. A run may not go from one text into the next.

    Returns:
        In [0, 1]: the words that stand in runs of ``RUN`` (4) words of one of ``texts``. A response
        of three words counts where all three stand in one text in a row; 0 for a response of fewer
        words.
    """
    words = normalised_tokens(response)
    if len(words) < MIN_WORDS:
        return 0.0
    run = min(RUN, len(words))
    there = {gram for text in texts for gram in _runs(normalised_tokens(text), run)}
    copied: set[int] = set()
    for index, gram in enumerate(_runs(words, run)):
        if gram in there:
            copied.update(range(index, index + run))
    return len(copied) / len(words)


def copies(response: str, texts: Iterable[str]) -> bool:
    """Whether at least half of the response's words repeat ``texts`` (``copied_share``)."""
    return copied_share(response, texts) >= COPIED_SHARE


def _runs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(words[index : index + length]) for index in range(len(words) - length + 1)]


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

    def as_ended(self, text: str) -> str | None:
        """Write a text with the token that ends one behind it.

        Returns:
            None where the model has no such token.
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
        style: ``chat``, ``tags``, ``eos`` or ``raw``.
        speaker: who speaks next, as ``Utterance.speaker`` names them; the assistant of ``chat``.
        utterances: the dialogue so far, in order. Empty ones are left out.
        persona: lines of the speaker's persona; left out where it is empty.
        model: whose chat template ``chat`` uses, and whose last token ``eos``.

    Returns:
        The text, and what goes before the utterance after it.

    Raises:
        NoChatTemplateError: ``chat`` with a model that has no chat template, ``eos`` with one that
            has no token that ends a text.
    """
    known = [line.strip() for line in persona if line.strip()]
    spoken = [(one.speaker, one.text.strip()) for one in utterances if one.text.strip()]
    return _written(style, speaker, spoken, known, model)


def after_silence(style: str, speaker: str, partner: str, model: ChatWriter) -> Before:
    """Text before an utterance that answers an empty one of the partner, with no persona.

    This is the frame alone, the same that stands around a dialogue (a chat template may add
    instructions of its own to any chat).

    Args:
        style: ``chat``, ``tags``, ``eos`` or ``raw``.
        speaker: who speaks next.
        partner: who said the empty utterance.
        model: whose chat template ``chat`` uses, and whose last token ``eos``.

    Returns:
        The text, and what goes before the utterance after it.

    Raises:
        NoChatTemplateError: ``chat`` with a model that has no chat template, ``eos`` with one that
            has no token that ends a text.
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
    if style == "eos":
        ended = [model.as_ended(line) for line in [*known, *(text for _, text in spoken)]]
        if None in ended:
            raise NoChatTemplateError(
                "the model has no token that ends a text: set format=tags or format=raw"
            )
        return Before("".join(map(str, ended)), "")
    return Before("".join(f"{line}\n" for line in [*known, *(text for _, text in spoken)]), "")


def has_persona(example: Example) -> bool:
    """Whether the responding speaker's persona has a line that is not blank."""
    return any(line.strip() for line in example.persona)


def persona_fields(having: Collection[bool]) -> SignatureFields:
    """Signature field that says how many of the responses had a persona.

    Args:
        having: for each response whether it had one.

    Returns:
        ``with_persona``: ``all``, ``some`` or ``none``. No field where there is no response: a
        system without any was not scored otherwise than its neighbours.
    """
    if not having:
        return ()
    return (("with_persona", "none" if not any(having) else "all" if all(having) else "some"),)
