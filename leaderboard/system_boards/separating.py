"""What would tell neighbouring systems apart: a sentence and a table, from a stored answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from common.tables import Cell, Column, Row, Table

SENTENCES = 2
WORTHWHILE = 20
"""Nobody collects more than so many times today's dialogues to find a difference that small."""


def separating_text(document: dict[str, Any]) -> str:
    """For the best neighbours that are not told apart yet. "" where all are, or nothing can be
    said."""
    sentences = [words for pair in document["pairs"] if (words := _words(pair))]
    return " ".join(sentences[:SENTENCES])


def _words(pair: dict[str, Any]) -> str:
    needed, today = pair["dialogues_needed"], pair["dialogues"]
    if needed is None or needed <= today:
        return ""
    between = f"{pair['better']} and {pair['worse']}"
    each = " in all" if pair.get("is_paired", True) else " with each"
    if needed > WORTHWHILE * today:
        return (
            f"{between} are as good as equal: {needed:,} dialogues{each} would be needed to tell "
            "them apart."
        )
    ratings = pair["ratings_needed"]
    instead = (
        f", or {ratings:,} ratings of each response instead of {pair['ratings']:.3g},"
        if ratings
        else ""
    )
    with_each = "" if pair.get("is_paired", True) else each
    than = f"than today's {today:,}{instead}"
    return f"About {needed - today:,} more dialogues{with_each} {than} would tell {between} apart."


def separating_table(document: dict[str, Any], updated: datetime | None) -> Table:
    return Table(
        id="separating",
        caption=f"What would tell neighbours apart, {document['corpus']}, aspect "
        f"{document['aspect']}",
        columns=(
            Column("better", "Better"),
            Column("worse", "Next"),
            Column("difference", "Difference", "number", decimals=2),
            Column("dialogues", "Dialogues today", "number", decimals=0),
            Column(
                "needed",
                "Dialogues needed",
                "number",
                decimals=0,
                help="With as many ratings of each as today.",
            ),
            Column(
                "ratings",
                "Ratings today",
                "number",
                decimals=1,
                help="Of each item, on average.",
                detail=True,
            ),
            Column(
                "ratings-needed",
                "Ratings needed",
                "number",
                decimals=0,
                help="With today's dialogues.",
                detail=True,
            ),
        ),
        rows=tuple(_row(number, pair) for number, pair in enumerate(document["pairs"])),
        notes=(
            f"{document['method']}. Numbers at or below today's: the data are enough. A "
            "difference that is seen is taken as the true one, so small ones make wild guesses.",
        ),
        signature=f"corpus:{document['corpus']}|corpus_version:{document['corpus_version']}|"
        f"aspect:{document['aspect']}|power:{document['power']}|level:{document['level']}",
        updated=updated,
    )


def _row(number: int, pair: dict[str, Any]) -> Row:
    why = pair["reason"] or "not known"
    return Row(
        f"pair-{number}",
        {
            "better": Cell(pair["better"]),
            "worse": Cell(pair["worse"]),
            "difference": Cell(pair["difference"], reason=why),
            "dialogues": Cell(pair["dialogues"], reason=why),
            "needed": Cell(pair["dialogues_needed"], reason=why),
            "ratings": Cell(pair["ratings"], reason=why),
            "ratings-needed": Cell(pair["ratings_needed"], reason=why),
        },
    )
