"""Preference pairs for direct preference optimisation: a prompt, the chosen response and the
rejected one, as JSON lines in the conversational layout of TRL's dataset formats
(https://huggingface.co/docs/trl/dataset_formats)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from annotations.formats.exporters.base import Exporter, MetricScoresRecord
from annotations.formats.records import (
    TARGET_SPEAKER,
    CorpusRecord,
    DialogueRecord,
    PreferenceRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    TurnRecord,
)

ROLES = ("system", "user", "assistant", "tool")
Place = tuple[int, str, int]
"""Of a response in its dialogue: turn, system, sample."""


def write(records: Iterable[Record], _scores: Iterable[MetricScoresRecord], folder: Path) -> None:
    """Write ``pairs.jsonl``, one pair a line.

    A preference for one of two responses gives a pair (``source`` is ``preference``); ties, and
    comparisons of whole dialogues, which have no prompt, give none. The ratings of a turn give one
    pair, the response with the highest mean score of the main aspect and the one with the lowest
    (``source`` is ``ratings``), unless these are equal.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.
        _scores: not used: a pair says what people prefer.
        folder: existing, empty folder.
    """
    with (folder / "pairs.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for pair in pairs(records):
            file.write(json.dumps(pair, ensure_ascii=False, allow_nan=False) + "\n")


def pairs(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """The pairs of a corpus.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.

    Returns:
        Iterator over pairs, dialogue by dialogue: those of preferences, then those of ratings.
    """
    aspect = CorpusRecord().main_aspect
    dialogue: DialogueRecord | None = None
    some: list[Record] = []
    for record in chain(records, [None]):
        if isinstance(record, CorpusRecord):
            aspect = record.main_aspect
        if record is None or isinstance(record, DialogueRecord):
            if dialogue is not None:
                yield from _of_dialogue(dialogue, some, aspect)
            dialogue, some = record, []
        else:
            some.append(record)


def _of_dialogue(
    dialogue: DialogueRecord, records: list[Record], aspect: str
) -> Iterator[dict[str, Any]]:
    turns = {turn.number: turn for turn in dialogue.turns}
    texts: dict[Place, str] = {}
    scores: dict[int, dict[Place, list[float]]] = {}
    preferences = []
    for record in records:
        if isinstance(record, ResponseRecord):
            texts[record.turn, record.system, record.sample] = record.text
        elif isinstance(record, PreferenceRecord) and record.turn is not None:
            preferences.append(record)
        elif (
            isinstance(record, RatingRecord) and record.turn is not None and record.aspect == aspect
        ):
            of_turn = scores.setdefault(record.turn, {})
            of_turn.setdefault((record.turn, record.system, 0), []).append(record.score)
    for one in preferences:
        assert one.turn is not None
        a, b = (one.turn, one.system_a, one.sample_a), (one.turn, one.system_b, one.sample_b)
        if one.preferred in ("a", "b"):
            chosen, rejected = (a, b) if one.preferred == "a" else (b, a)
            yield {
                **_pair(dialogue, turns[one.turn], texts, chosen, rejected),
                "source": "preference",
                "aspect": one.aspect,
                "rater": one.rater,
            }
    for number, of_turn in sorted(scores.items()):
        means = {place: sum(given) / len(given) for place, given in of_turn.items()}
        best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        if means[best] > means[worst]:
            yield {
                **_pair(dialogue, turns[number], texts, best, worst),
                "source": "ratings",
                "aspect": aspect,
                "score_chosen": means[best],
                "score_rejected": means[worst],
            }


def _pair(
    dialogue: DialogueRecord,
    turn: TurnRecord,
    texts: Mapping[Place, str],
    chosen: Place,
    rejected: Place,
) -> dict[str, Any]:
    return {
        "prompt": prompt_of(dialogue, turn),
        "chosen": [{"role": "assistant", "content": texts[chosen]}],
        "rejected": [{"role": "assistant", "content": texts[rejected]}],
        "dialogue_id": dialogue.id,
        "turn": turn.number,
        "system_chosen": chosen[1],
        "system_rejected": rejected[1],
    }


def prompt_of(dialogue: DialogueRecord, turn: TurnRecord) -> list[dict[str, str]]:
    """What stands before a response, as chat messages.

    Args:
        dialogue: the dialogue.
        turn: one of its turns.

    Returns:
        Messages with ``role`` and ``content``, oldest first. Speakers of a persona dialogue are
        ``user`` (A) and ``assistant`` (B, whose persona is a first message of the role
        ``system``); a role that is none of ``ROLES`` becomes ``user``, its speaker the ``name``.
    """
    prompt = []
    if dialogue.persona:
        prompt.append({"role": "system", "content": "\n".join(dialogue.persona)})
    if turn.after is None:
        return prompt + [
            {
                "role": "assistant" if one.speaker == TARGET_SPEAKER else "user",
                "content": one.text,
            }
            for one in turn.context
        ]
    for message in dialogue.messages[: turn.after]:
        known = message.role in ROLES
        name = message.name if known else message.speaker
        prompt.append(
            {
                "role": message.role if known else "user",
                "content": message.text,
                **({"name": name} if name else {}),
            }
        )
    return prompt


EXPORTER = Exporter(
    name="dpo", summary="pairs of a chosen and a rejected response (JSON lines)", write=write
)
