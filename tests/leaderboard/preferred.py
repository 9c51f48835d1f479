"""A small corpus with preferences, for tests of what is computed from them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

from annotations.formats.records import (
    DialogueRecord,
    PreferenceRecord,
    RaterRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from annotations.models import CorpusVersion
from tests.annotations.stored import rated_corpus, stored

SYSTEMS = ("brief", "fair", "full")
"""The longer the answer, the more often it is preferred."""
Preferred = Literal["a", "b", "tie", "both_bad"]


def preferred_corpus(
    dialogues: int = 12,
    raters: int = 2,
    *,
    of_whole: bool = False,
    systems: tuple[str, ...] = SYSTEMS,
    undefeated: str = "",
) -> list[Record]:
    """Every pair of systems in every dialogue, voted on by every rater, slots in turn."""
    drawn = random.Random(4)
    records: list[Record] = rated_corpus([], {})[:1]
    records += [SystemRecord(name) for name in systems]
    records += [RaterRecord(f"p{number}") for number in range(raters)]
    for number in range(dialogues):
        name = f"d{number}"
        turn = TurnRecord(0, (Utterance("A", f"question {number}"),), ("an answer",))
        records.append(DialogueRecord(name, (), (), (turn,)))
        for place, system in enumerate(systems):
            words = 1 + 2 * place + drawn.randrange(3)
            records.append(ResponseRecord(name, 0, system, "word " * words + str(number)))
        for rater in range(raters):
            for first in range(len(systems)):
                for second in range(first + 1, len(systems)):
                    pair = systems[first], systems[second]
                    chance = drawn.random()
                    verdict: Preferred = "b" if chance < 0.6 else "a" if chance < 0.85 else "tie"
                    if chance > 0.97:
                        verdict = "both_bad"
                    if undefeated in pair:
                        verdict = "a" if pair[0] == undefeated else "b"
                    if (number + rater) % 2:
                        pair = pair[1], pair[0]
                        turned: dict[Preferred, Preferred] = {"a": "b", "b": "a"}
                        verdict = turned.get(verdict, verdict)
                    records.append(
                        PreferenceRecord(name, None if of_whole else 0, *pair, verdict, f"p{rater}")
                    )
    return records


def preferred_version(folder: Path, **corpus: object) -> CorpusVersion:
    slug = str(corpus.pop("slug", "small"))
    return stored(preferred_corpus(**corpus), folder, slug)  # type: ignore[arg-type]
