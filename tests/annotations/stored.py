"""Small corpora for tests, stored the way every corpus is: written as our own format and
imported."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from annotations.corpora import actions
from annotations.formats.importers.canonical import canonical_line
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from annotations.models import CorpusVersion

Scores = dict[tuple[str, int | None, str], dict[str, float]]
"""(dialogue, turn or None, system) → rater → score."""


def dialogue(
    name: str, turns: int = 1, references: tuple[str, ...] = ("the answer",)
) -> DialogueRecord:
    context = (Utterance("A", f"question about {name}"),)
    return DialogueRecord(
        name,
        ("I test.",),
        ("I ask.",),
        tuple(TurnRecord(number, context, references) for number in range(turns)),
    )


def rated_corpus(
    dialogues: Iterable[DialogueRecord],
    responses: dict[tuple[str, int, str], str],
    ratings: Scores | None = None,
    *,
    raters: Iterable[RaterRecord] = (),
    systems: Iterable[str] = (),
    aspects: tuple[str, ...] = ("overall",),
) -> list[Record]:
    """The records of a corpus in their order. Systems and raters are named by what they do, unless
    given."""
    given = ratings or {}
    names = dict.fromkeys([*systems, *(system for _, _, system in responses)])
    people = list(raters) or [
        RaterRecord(name)
        for name in dict.fromkeys(rater for scores in given.values() for rater in scores)
    ]
    records: list[Record] = [CorpusRecord(name="small", aspects=aspects, main_aspect=aspects[0])]
    records += [SystemRecord(name) for name in names]
    records += people
    for one in dialogues:
        records.append(one)
        records += [
            ResponseRecord(*place, text) for place, text in responses.items() if place[0] == one.id
        ]
        records += [
            RatingRecord(dialogue_id, turn, system, rater, aspects[0], score)
            for (dialogue_id, turn, system), scores in given.items()
            if dialogue_id == one.id
            for rater, score in scores.items()
        ]
    return records


def written(records: Iterable[Record], path: Path) -> Path:
    path.write_text("".join(f"{canonical_line(record)}\n" for record in records), encoding="utf-8")
    return path


def stored(records: Iterable[Record], folder: Path, slug: str = "small") -> CorpusVersion:
    """The corpus version that importing these records makes."""
    path = written(records, folder / f"{slug}.jsonl")
    (outcome,) = actions.import_corpus(importers()["jsonl"], path, slug)
    return outcome.version


def two_systems() -> list[Record]:
    """Two dialogues, three turns. ``dull`` gives no answer at turn 1 of ``d0``; nobody rated
    ``echo`` in ``d1``.

    ======== ============= ============= =============
    overall  d0 turn 0     d0 turn 1     d1 turn 0
    ======== ============= ============= =============
    echo     ann 4, bob 2  bob 5         (not rated)
    dull     ann 1, bob 1  (no response) ann 2
    ======== ============= ============= =============
    """
    return rated_corpus(
        [dialogue("d0", turns=2), dialogue("d1")],
        {
            ("d0", 0, "echo"): "the answer",
            ("d0", 1, "echo"): "the reply",
            ("d1", 0, "echo"): "an answer",
            ("d0", 0, "dull"): "yes",
            ("d1", 0, "dull"): "no",
        },
        {
            ("d0", 0, "echo"): {"ann": 4, "bob": 2},
            ("d0", 1, "echo"): {"bob": 5},
            ("d0", 0, "dull"): {"ann": 1, "bob": 1},
            ("d1", 0, "dull"): {"ann": 2},
        },
    )
