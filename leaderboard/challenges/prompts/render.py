"""A prompt and a place in a dialogue become messages for a model. Plain replacement: nothing in
them is run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.challenges.prompts.spec import FIRST_ANSWER, MARKS, Template
from workers.inference.language_models.chat_prompt import EmptyAnswer, utterance_of
from workers.inference.language_models.client import Message

LONGEST_RESPONSE = 4_000
_BLANKS = re.compile(r"\s+")
_LINE_ENDS = frozenset("\r\n\u2028\u2029\x85\v\f")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer is wanted: who the two are, and what was said so far (speaker, text)."""

    persona: tuple[str, ...]
    partner_persona: tuple[str, ...]
    history: tuple[tuple[str, str], ...]


EXAMPLE = Place(
    persona=("I repair clocks.", "I have a dog called Biscuit."),
    partner_persona=("I teach chemistry.", "I have just moved here."),
    history=(("A", "Is that a clock you are carrying through the rain?"),),
)
"""Made up: what a preview shows where the round's own dialogues are hidden."""


def messages_for(
    template: Template, place: Place, first_answer: str | None = None
) -> list[Message]:
    """The messages of one call. ``first_answer`` is None in the first call, which knows no such
    placeholder."""
    values = {
        "persona": _sentences(place.persona),
        "partner_persona": _sentences(place.partner_persona),
        "history": history_utterances(place.history),
    }
    if first_answer is not None:
        values[FIRST_ANSWER] = first_answer
    system, user = _filled(template.system, values), _filled(template.user, values)
    opening = [Message("system", system)] if system.strip() else []
    return [*opening, Message("user", user)]


def history_utterances(history: Sequence[tuple[str, str]]) -> str:
    """One utterance a line, ``A: …`` or ``B: …``; a line end inside an utterance becomes a space,
    so that no utterance can pass for two."""
    return "\n".join(f"{speaker}: {_on_one_line(text)}" for speaker, text in history)


def response_of(written: str) -> str:
    """What the model said as B, at most 4,000 characters: without a name before it and without
    lines that it wrote for another speaker. "" where nothing is left: a system may well say
    nothing."""
    try:
        return utterance_of(written, LONGEST_RESPONSE)
    except EmptyAnswer:
        return ""


def plain_text(written: str) -> str:
    """A first answer as it goes into the second call: all of it, without what JSON or a database
    cannot carry."""
    return _NO_TEXT.sub("", written).strip()


def _on_one_line(text: str) -> str:
    """Blanks that hold a line end become one space; others stay. One look at each run of blanks,
    however long."""
    return _BLANKS.sub(lambda run: run[0] if _LINE_ENDS.isdisjoint(run[0]) else " ", text)


def _sentences(persona: Sequence[str]) -> str:
    """One sentence a line."""
    return "\n".join(_on_one_line(sentence.strip()) for sentence in persona)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Once from left to right, so what is put in is never looked at again."""

    def of(mark: re.Match[str]) -> str:
        name = mark.group(1)
        return mark.group()[0] if name is None else values.get(name, mark.group())

    return MARKS.sub(of, text)
