"""Scores in lists whose places are the raters, as most research sets have them."""

from __future__ import annotations

from collections.abc import Iterator

from annotations.formats.importers.base import Placed
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import position_rater
from annotations.formats.importers.traces import COMMENT
from annotations.formats.records import LabelRecord, RatingRecord

NO_SCORES = ("", "na", "n/a", "none", "null", "nan")


def listed_scores(
    annotations: JsonObject, dialogue_id: str, turn: int | None, system: str
) -> Iterator[Placed]:
    """Read an object of lists of scores by aspect.

    Args:
        annotations: aspect to list of scores (or one score); null and ``N/A`` are none.
        dialogue_id: what they are about.
        turn: of it; None for the whole dialogue.
        system: whose part of it.

    Returns:
        Iterator over ratings by ``rater 1``, ``rater 2``, …, and free texts where a rater said why
        there is no score. A null within a list is reported.
    """
    for aspect in annotations.value:
        value = annotations.value[aspect]
        values = value if isinstance(value, list) else [value]
        for index, score in enumerate(values):
            path = annotations.field(aspect)
            place = f"{path}[{index}]" if isinstance(value, list) else path
            rater = position_rater(index)
            if score is None:
                annotations.problems.skip(annotations.where, place, "is null: no score")
            elif isinstance(score, str) and score.strip().lower() in NO_SCORES:
                annotations.problems.skip(annotations.where, place, f"is {score!r}: no score")
            elif isinstance(score, str) and score.strip().lower().startswith("n/a"):
                question = f"{COMMENT} on {aspect}"
                remark = LabelRecord(dialogue_id, turn, system, rater, question, score)
                yield remark, annotations.where, place
            else:
                number = annotations.as_number(score, place)
                if number is not None:
                    rating = RatingRecord(dialogue_id, turn, system, rater, aspect, number)
                    yield rating, annotations.where, place
