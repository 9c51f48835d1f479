"""The system leaderboard in a sentence or two, made from its stored answer, and what would tell
neighbouring systems apart: a sentence and a table, from a stored answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from common.tables import Cell, Column, Row, Table
from common.tables.numerals import with_interval
from common.text import enumeration
from leaderboard.answers.systems import Neighbours, RankedSystem, Separating

NAMED = 3
"""More systems than these are counted, not named."""


def headline(systems: Sequence[RankedSystem]) -> tuple[str, str]:
    """(the finding, what goes with it): who is best and who is not significantly different; the
    best agent where that is another one. ``systems``: those of ``system_standing``. ("", why) where
    nobody has rated any of them."""
    rated = _by_mean(systems)
    if not rated:
        return "", "Nobody has rated these systems yet, so none is best."
    best = rated[0]
    if len(rated) == 1:
        return (
            "",
            (
                f"{best.system} alone is rated: {_mean_text(best)}. A comparison needs a "
                "second system."
            ),
        )
    equal = [one.system for one in rated if one.human.value == best.human.value]
    if not best.human.ci and len(equal) > 1:
        together = enumeration(equal, NAMED)
        return f"{together} have the highest mean ({_mean_text(best)}), without an interval.", ""
    finding = f"{best.system} is best ({_mean_text(best)})"
    together = _together(best, rated[1:])
    finding += (
        f"; not significantly different from it: {together}."
        if together
        else _nobody_near(best, _unsure(best, rated[1:]))
    )
    return finding, _best_agent(best, rated)


def _by_mean(systems: Sequence[RankedSystem]) -> list[RankedSystem]:
    rated = [system for system in systems if system.human.value is not None]
    return sorted(rated, key=lambda system: -(system.human.value or 0.0))


def _best_agent(best: RankedSystem, rated: Sequence[RankedSystem]) -> str:
    agents = [system for system in rated if system.kind == "agent"]
    if not agents or agents[0] is best:
        return ""
    first = agents[0]
    together = _together(first, agents[1:])
    beside = f", not significantly different from {together}" if together else ""
    return f"The best agent is {first.system} ({_mean_text(first)}){beside}."


def _nobody_near(best: RankedSystem, unsure: str) -> str:
    """Of whom nobody can say: those who may be as good, with a mean and no interval."""
    ends = best.human.ci
    if not ends:
        return "; without an interval nobody can say by how much."
    return (
        f"; of {unsure} nobody can say, for want of an interval."
        if unsure
        else ", significantly ahead of all others."
    )


def _together(best: RankedSystem, others: Sequence[RankedSystem]) -> str:
    """Those whose interval reaches up to that of the best."""
    ends = best.human.ci
    if not ends:
        return ""
    near = [one.system for one in others if one.human.ci and one.human.ci[1] >= ends[0]]
    return enumeration(near, NAMED)


def _unsure(best: RankedSystem, others: Sequence[RankedSystem]) -> str:
    """Those without an interval whose mean lies in that of the best."""
    ends = best.human.ci
    if not ends:
        return ""
    near = [
        one.system
        for one in others
        if not one.human.ci and one.human.value is not None and one.human.value >= ends[0]
    ]
    return enumeration(near, NAMED)


def _mean_text(system: RankedSystem) -> str:
    assert system.human.value is not None  # it is rated
    return with_interval(system.human.value, system.human.ci, 2)


SENTENCES = 2
WORTHWHILE = 20
"""Nobody collects more than so many times today's dialogues to find a difference that small."""


def separating_text(document: Separating) -> str:
    """For the best neighbours that are not separated yet. "" where all are, or nothing can be
    said."""
    sentences = [words for pair in document.pairs if (words := _words(pair))]
    return " ".join(sentences[:SENTENCES])


def _words(pair: Neighbours) -> str:
    needed, today = pair.dialogues_needed, pair.dialogues
    if needed is None or needed <= today:
        return ""
    between = f"{pair.better} and {pair.worse}"
    each = " in all" if pair.is_paired else " with each"
    if needed > WORTHWHILE * today:
        return (
            f"{between} are as good as equal: {needed:,} dialogues{each} would be needed to "
            "separate them."
        )
    ratings = pair.ratings_needed
    instead = (
        f", or {ratings:,} ratings of each response instead of {pair.ratings:.3g},"
        if ratings
        else ""
    )
    with_each = "" if pair.is_paired else each
    than = f"than today's {today:,}{instead}"
    return f"About {needed - today:,} more dialogues{with_each} {than} would separate {between}."


def separating_table(document: Separating, updated: datetime | None) -> Table:
    return Table(
        id="separating",
        caption=f"Ratings needed to separate systems, {document.corpus}, aspect {document.aspect}",
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
        rows=tuple(_row(number, pair) for number, pair in enumerate(document.pairs)),
        notes=(
            f"{document.method}. Numbers at or below today's: the data are enough. A "
            "difference that is seen is taken as the true one, so small ones make wild guesses.",
        ),
        signature=f"corpus:{document.corpus}|corpus_version:{document.corpus_version}|"
        f"aspect:{document.aspect}|power:{document.power}|level:{document.level}",
        updated=updated,
    )


def _row(number: int, pair: Neighbours) -> Row:
    why = pair.reason or "not known"
    return Row(
        f"pair-{number}",
        {
            "better": Cell(pair.better),
            "worse": Cell(pair.worse),
            "difference": Cell(pair.difference, reason=why),
            "dialogues": Cell(pair.dialogues, reason=why),
            "needed": Cell(pair.dialogues_needed, reason=why),
            "ratings": Cell(pair.ratings, reason=why),
            "ratings-needed": Cell(pair.ratings_needed, reason=why),
        },
    )
