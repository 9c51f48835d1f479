"""A part of a corpus, response by response, as a corpus of its own. No Django here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RatingRecord,
    Record,
    ResponseRecord,
)

Place = tuple[str, int, str]
"""Dialogue, turn and system of a response."""


def subset(records: Iterable[Record], places: Set[Place]) -> Iterator[Record]:
    """The responses at some places, with their turns and all that was said of them.

    Ratings, labels and preferences of whole dialogues are left out: the dialogues are no longer
    whole. Systems and raters all stay.

    Args:
        records: a corpus, in the order of ``annotations.formats.records``.
        places: of the responses that stay, with all their samples.

    Returns:
        A corpus in the same order; of its dialogues and turns those that have a response.
    """
    turns = {(dialogue, turn) for dialogue, turn, _ in places}
    dialogues = {dialogue for dialogue, _ in turns}
    for record in records:
        match record:
            case DialogueRecord():
                if record.id in dialogues:
                    yield replace(
                        record,
                        turns=tuple(
                            one for one in record.turns if (record.id, one.number) in turns
                        ),
                    )
            case ResponseRecord() | RatingRecord() | LabelRecord():
                if (record.dialogue_id, record.turn, record.system) in places:
                    yield record
            case PreferenceRecord():
                compared = {record.system_a, record.system_b}
                if all((record.dialogue_id, record.turn, one) in places for one in compared):
                    yield record
            case _:
                yield record
