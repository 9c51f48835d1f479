"""Reads a round's dialogues as participants download them: whole, or without what speaker B said.

Where B's text is null the baseline's own answer takes its place: it answers a hidden round as any
system must.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.json_source import array_elements
from annotations.formats.importers.problems import Problems
from annotations.formats.records import TARGET_SPEAKER, Utterance
from common.text import MAX_RESPONSE, MAX_UTTERANCE
from workers.baselines.base import Place
from workers.baselines.simple import KnownAnswer

_TURN_KEY = re.compile(r"turn_(0|[1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """An utterance. ``text`` is None where B's is left out; ``turn`` is then the turn whose answer
    it is, if known."""

    speaker: str
    text: str | None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class RequestedTurn:
    number: int
    persona: tuple[str, ...]
    partner_persona: tuple[str, ...]
    history: tuple[HistoryLine, ...]
    references: tuple[str, ...]

    def place(self, dialogue_id: str, own: Mapping[int, str]) -> Place:
        """What the speaker sees, with its ``own`` answers by turn number; a line that nobody knows
        is left out."""
        utterances = [
            (
                line.speaker,
                own.get(line.turn, "")
                if line.text is None and line.turn is not None
                else line.text,
            )
            for line in self.history
        ]
        context = tuple(Utterance(speaker, text) for speaker, text in utterances if text)
        return Place(dialogue_id, self.number, self.persona, self.partner_persona, context)


@dataclass(frozen=True, slots=True)
class RequestedDialogue:
    id: str
    turns: tuple[RequestedTurn, ...]


def read_dialogues(path: Path) -> tuple[RequestedDialogue, ...]:
    """All dialogues of the file. Raises ``ImportFailed`` with every fault's place."""
    problems = Problems(path.name)
    dialogues = tuple(_dialogues(path, problems))
    if not problems.found and not dialogues:
        problems.add("", "", "holds no dialogue")
    problems.raise_if_any()
    return dialogues


def known_answers_of(dialogues: tuple[RequestedDialogue, ...]) -> list[KnownAnswer]:
    """Every gold answer that the file tells; none in the hidden form."""
    return [
        KnownAnswer(dialogue.id, reference)
        for dialogue in dialogues
        for turn in dialogue.turns
        for reference in turn.references
    ]


def _dialogues(path: Path, problems: Problems) -> Iterator[RequestedDialogue]:
    for index, (where, element) in enumerate(array_elements(path, problems)):
        dialogue = JsonObject.of(element, where, problems)
        if dialogue is None:
            continue
        name = dialogue.name("dialog_id") if dialogue.has("dialog_id") else str(index)
        keys = sorted(filter(_TURN_KEY.fullmatch, dialogue.value), key=_number)
        if not keys:
            dialogue.complain("turn_0", "is missing: no turn to answer")
        turns = all_or_none([_turn(dialogue, key) for key in keys])
        if name is not None and turns:
            yield RequestedDialogue(name, turns)


def _number(key: str) -> int:
    return int(key.removeprefix("turn_"))


def _turn(dialogue: JsonObject, key: str) -> RequestedTurn | None:
    turn = dialogue.child(key)
    if turn is None:
        return None
    persona = turn.texts("persona B", MAX_RESPONSE)
    partner_persona = turn.texts("persona A", MAX_RESPONSE)
    lines = turn.children("dialogue")
    history = None if lines is None else all_or_none([_line(line) for line in lines])
    if persona is None or partner_persona is None or history is None:
        return None
    if not history or history[-1].text is None or history[-1].speaker == TARGET_SPEAKER:
        turn.complain(
            "dialogue", f"must end with an utterance of A, which {TARGET_SPEAKER} answers"
        )
        return None
    return RequestedTurn(_number(key), persona, partner_persona, history, _references(turn))


def _line(line: JsonObject) -> HistoryLine | None:
    speaker = line.text("persona_id", 1)
    if speaker is None:
        return None
    if line.has("text") and line.value["text"] is None:
        return HistoryLine(speaker, None, line.parse_integer("turn") if line.has("turn") else None)
    text = line.text("text", MAX_UTTERANCE)
    return None if text is None else HistoryLine(speaker, text.strip())


def _references(turn: JsonObject) -> tuple[str, ...]:
    if turn.has("gold_references"):
        return turn.texts("gold_references", MAX_RESPONSE) or ()
    reference = turn.text("gold_reference", MAX_RESPONSE) if turn.has("gold_reference") else None
    return () if reference is None else (reference.strip(),)
