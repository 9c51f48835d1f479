"""Reads the hand-written half of the demo corpus: dialogues in ComperDial's form, with a second
person's answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.formats.records import TARGET_SPEAKER, DialogueRecord, TurnRecord, Utterance

DEMO_FOLDER = Path(__file__).resolve().parents[2] / "annotations" / "demo"
SOURCE_FILE = DEMO_FOLDER / "dialogues.json"
TURNS = 7


@dataclass(frozen=True, slots=True)
class WrittenDialogue:
    """A dialogue, and what a second person answered in B's place at each turn."""

    record: DialogueRecord
    second_person: tuple[str, ...]

    @property
    def gold(self) -> tuple[str, ...]:
        return tuple(turn.references[0] for turn in self.record.turns)


def read_source(path: Path = SOURCE_FILE) -> list[WrittenDialogue]:
    """All dialogues of the file. Raises ``ValueError`` that names the dialogue which is not of the
    form."""
    return [_written_dialogue(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _written_dialogue(entry: dict[str, Any]) -> WrittenDialogue:
    utterances = tuple(
        Utterance(utterance["persona_id"], utterance["text"]) for utterance in entry["dialogue"]
    )
    second_person = tuple(entry["second_person"])
    if [utterance.speaker for utterance in utterances] != ["A", TARGET_SPEAKER] * TURNS or len(
        second_person
    ) != TURNS:
        raise ValueError(
            f"dialogue {entry['id']}: wanted {TURNS} turns of A and B and {TURNS} answers of a "
            "second person"
        )
    turns = tuple(
        TurnRecord(
            number,
            context=utterances[: 2 * number + 1],
            references=(utterances[2 * number + 1].text,),
        )
        for number in range(TURNS)
    )
    persona = entry["persona"]
    record = DialogueRecord(entry["id"], tuple(persona[TARGET_SPEAKER]), tuple(persona["A"]), turns)
    return WrittenDialogue(record, second_person)
