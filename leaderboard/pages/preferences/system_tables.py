"""Systems by preferences, as tables of the stored answer. No statistics are computed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from common.bradley_terry import ELO_SCALE
from common.estimates import Estimate, Undefined
from common.tables import Cell, Column, Row, Table, estimate_cell, mark_best
from common.tables.lane import Lane
from common.tables.numerals import letter
from leaderboard.answers.preferences import PreferenceStanding, PreferredSystem
from leaderboard.board_text import board_signature
from leaderboard.pages.metrics.letters import MOST_LETTERS
from leaderboard.statistics.preferences.bradley_terry import elo

RATING = "rating"
SHOWN_IN_MATRIX = 14
TINTS = 5
NO_INTERVAL = "no interval, so no rank"
ON_THE_ELO_SCALE = (
    "Preference rating: Bradley–Terry strength as 1000 + 400/ln 10 · λ, mean 1000; 400 points are "
    "odds of 10. Ties and “both bad” are half a win each."
)
INTERVALS = (
    "Intervals: 95 %, clustered by conversation, Student's t. Rank: 1 + systems whose interval "
    "lies wholly above, to the worst place that the intervals allow."
)
LETTERS = (
    "Systems that share a letter are not significantly different: t tests of {pairs}, Holm, 5 %."
)
CONTROLLED = (
    "Length, Markdown and emoji are held constant, as covariates without a penalty, each as "
    "(a − b)/(a + b + 1)."
)


def on_elo_scale(strength: Estimate) -> Estimate:
    """A strength with its interval as a preference rating."""
    if strength.value is None:
        return strength
    ci = strength.ci and (float(elo(strength.ci[0])), float(elo(strength.ci[1])))
    return replace(strength, value=float(elo(strength.value)), ci=ci)


def shown_strength(system: PreferredSystem, *, controlled: bool) -> Estimate:
    return system.controlled if controlled else system.strength


def shown_groups(system: PreferredSystem, *, controlled: bool) -> tuple[int, ...]:
    return system.controlled_groups if controlled else system.groups


def signature_of(document: PreferenceStanding, *, controlled: bool = False) -> str:
    style = "controlled" if controlled else "as-is"
    return (
        f"{board_signature(document, document.aspect)}|level:{document.level}|"
        f"model:bradley-terry-ties-half|style:{style}"
    )


def preference_board(
    document: PreferenceStanding, updated: datetime | None, *, controlled: bool
) -> Table:
    """One row a system: preference rating, rank range, win rate, battles."""
    columns = (
        Column("system", "System"),
        Column("kind", "Kind", detail=True),
        Column(
            RATING,
            "Preference rating",
            "estimate",
            decimals=0,
            higher_is_better=True,
            help=ON_THE_ELO_SCALE,
        ),
        Column(
            "rank",
            "Rank",
            "rank",
            decimals=0,
            help="1 + systems that are clearly better, to the worst place possible.",
        ),
        Column(
            "win-rate",
            "Win rate",
            "estimate",
            higher_is_better=True,
            help="The share of its battles that it won, ties as half.",
        ),
        Column("battles", "Battles", "number", decimals=0),
        Column("wins", "Wins", "number", decimals=0, detail=True),
        Column("ties", "Ties", "number", decimals=0, detail=True, help="With “both bad”."),
        Column(
            "average-win-rate",
            "Average win rate",
            "number",
            detail=True,
            help="The mean of its win rates against each opponent, however often they met.",
        ),
        Column(
            "first",
            "First",
            "number",
            detail=True,
            help="In which share of resamples of the conversations it comes first.",
        ),
        Column(
            "strength", "Strength", "estimate", detail=True, help="λ, on the log scale, mean 0."
        ),
        Column(
            "by-rater",
            "Rating, by rater too",
            "estimate",
            decimals=0,
            detail=True,
            help="The rating without style control, its interval clustered by conversation and by "
            "rater.",
        ),
    )
    rows = tuple(_row(system, document, controlled=controlled) for system in document.systems)
    size = len(document.systems)
    notes = [ON_THE_ELO_SCALE, INTERVALS]
    if any(shown_groups(one, controlled=controlled) for one in document.systems):
        pairs = "one pair" if size == 2 else f"all {size * (size - 1) // 2} pairs"
        notes.insert(0, LETTERS.format(pairs=pairs))
    if controlled:
        notes.append(CONTROLLED)
    return mark_best(
        Table(
            id="preferences",
            caption=f"Systems by preferences, {document.corpus}, aspect {document.aspect}",
            columns=columns,
            rows=rows,
            sort=(RATING, True) if not document.reason else ("win-rate", True),
            notes=tuple(notes),
            signature=signature_of(document, controlled=controlled),
            updated=updated,
        )
    )


def _row(system: PreferredSystem, document: PreferenceStanding, *, controlled: bool) -> Row:
    strength = shown_strength(system, controlled=controlled)
    groups = shown_groups(system, controlled=controlled)
    every = [
        group for one in document.systems for group in shown_groups(one, controlled=controlled)
    ]
    letters = "" if max(every, default=0) >= MOST_LETTERS else "".join(map(letter, groups))
    best, worst = (
        (system.controlled_rank, system.controlled_worst_rank)
        if controlled
        else (system.rank, system.worst_rank)
    )
    rank = (
        Cell(reason=strength.reason or NO_INTERVAL)
        if best is None or worst is None
        else Cell(best, ci=(best, worst))
    )
    cells = {
        "system": Cell(system.system),
        "kind": Cell(system.kind),
        RATING: replace(estimate_cell(on_elo_scale(strength)), letters=letters),
        "rank": rank,
        "win-rate": estimate_cell(system.win_rate),
        "battles": Cell(system.battles),
        "wins": Cell(system.wins),
        "ties": Cell(system.ties),
        "average-win-rate": _number_cell(system.average_win_rate),
        "first": _number_cell(system.first),
        "strength": estimate_cell(strength),
        "by-rater": estimate_cell(on_elo_scale(system.by_rater)),
    }
    badges = (system.kind,) if system.kind != "agent" else ()
    return Row(f"system-{system.position}", cells, badges=badges, swatch=system.position)


def _number_cell(value: float | Undefined) -> Cell:
    return Cell(reason=value.reason) if isinstance(value, Undefined) else Cell(value)


def rating_lane(document: PreferenceStanding, *, controlled: bool) -> Lane | None:
    """The ratings with their intervals; None where there are none."""
    ratings = [
        on_elo_scale(shown_strength(system, controlled=controlled)) for system in document.systems
    ]
    ends = [end for one in ratings for end in (one.value, *(one.ci or ())) if end is not None]
    return Lane(RATING, (min(ends), max(ends)), kind="people") if ends else None


@dataclass(frozen=True, slots=True)
class WinCell:
    """``share``: that the row won of the column; None on the diagonal and where they never met."""

    share: float | None
    battles: int = 0
    tint: int = 0
    is_self: bool = False

    @property
    def percent(self) -> str:
        return "–" if self.share is None else f"{100 * self.share:.0f}"


@dataclass(frozen=True)
class WinMatrix:
    systems: tuple[PreferredSystem, ...]
    rows: tuple[tuple[PreferredSystem, tuple[WinCell, ...]], ...]
    systems_in_all: int


def win_matrix(document: PreferenceStanding) -> WinMatrix:
    """How often the row beats the column, the best first; of many systems the best few."""
    order = sorted(range(len(document.systems)), key=lambda place: _standing(document, place))
    shown = order[:SHOWN_IN_MATRIX]
    met: dict[tuple[int, int], WinCell] = {}
    for one in document.meetings:
        for pair, share in (
            ((one.first, one.second), one.win_rate),
            ((one.second, one.first), 1.0 - one.win_rate),
        ):
            met[pair] = WinCell(share, one.battles, min(int(share * TINTS), TINTS - 1))
    rows = tuple(
        (
            document.systems[row],
            tuple(
                WinCell(None, is_self=True)
                if row == column
                else met.get((row, column), WinCell(None))
                for column in shown
            ),
        )
        for row in shown
    )
    return WinMatrix(tuple(document.systems[place] for place in shown), rows, len(document.systems))


def _standing(document: PreferenceStanding, place: int) -> tuple[float, int]:
    system = document.systems[place]
    value = system.strength.value if not document.reason else system.win_rate.value
    return -(value or 0.0), place


def meetings_table(document: PreferenceStanding, updated: datetime | None) -> Table:
    """Every pair of systems that met."""
    names = [system.system for system in document.systems]
    return Table(
        id="win-rates",
        caption=f"Win rates of pairs of systems, {document.corpus}, aspect {document.aspect}",
        columns=(
            Column("first", "System"),
            Column("second", "Against"),
            Column("win-rate", "Win rate", "number", help="Of the first; ties as half."),
            Column("battles", "Battles", "number", decimals=0),
            Column(
                "p",
                "p (Holm)",
                "p",
                help="Of the test that their strengths are equal, adjusted for all pairs.",
            ),
        ),
        rows=tuple(
            Row(
                f"pair-{one.first}-{one.second}",
                {
                    "first": Cell(names[one.first]),
                    "second": Cell(names[one.second]),
                    "win-rate": Cell(one.win_rate),
                    "battles": Cell(one.battles),
                    "p": Cell(one.p_holm, reason=document.reason or NO_INTERVAL),
                },
            )
            for one in document.meetings
        ),
        signature=signature_of(document),
        updated=updated,
    )


def style_table(document: PreferenceStanding, updated: datetime | None) -> Table:
    """What length, Markdown and emoji do."""
    return Table(
        id="style",
        caption=f"Style and preferences, {document.corpus}, aspect {document.aspect}",
        columns=(
            Column("feature", "More of"),
            Column(
                "effect",
                "Log odds",
                "estimate",
                help="By how much the log odds of winning rise with one standard deviation more.",
            ),
            Column("p", "p", "p"),
            Column("unit", "Standard deviation", "number", detail=True),
        ),
        rows=tuple(
            Row(
                f"style-{one.feature}",
                {
                    "feature": Cell(one.feature),
                    "effect": estimate_cell(replace(one.effect, p=None)),
                    "p": Cell(one.effect.p, reason=one.effect.reason or NO_INTERVAL),
                    "unit": Cell(one.unit, reason=one.effect.reason),
                },
            )
            for one in document.style
        ),
        notes=(f"{CONTROLLED} In units of its standard deviation.",),
        signature=signature_of(document, controlled=True),
        updated=updated,
    )


def davidson_table(document: PreferenceStanding, updated: datetime | None) -> Table:
    """Davidson's model apart: its strengths are on another scale."""
    rows: Sequence[PreferredSystem] = document.systems
    nu = document.nu
    tendency = nu.reason if isinstance(nu, Undefined) else f"ν = {nu:.3f}"
    return Table(
        id="davidson",
        caption=f"Strengths in Davidson's model, {document.corpus}, aspect {document.aspect}",
        columns=(
            Column("system", "System"),
            Column("rating", "Rating (Davidson)", "number", decimals=0, higher_is_better=True),
            Column("strength", "Strength (Davidson)", "number", higher_is_better=True),
        ),
        rows=tuple(
            Row(
                f"davidson-{one.position}",
                {"system": Cell(one.system), **_davidson_cells(one.davidson)},
                swatch=one.position,
            )
            for one in rows
        ),
        sort=("strength", True),
        notes=(
            f"Ties are an outcome of their own (Davidson 1970), {tendency}. Its scale differs from "
            "that of the ratings above: compare ranks, not numbers.",
        ),
        signature=f"{board_signature(document, document.aspect)}|model:davidson",
        updated=updated,
    )


def _davidson_cells(value: float | Undefined) -> dict[str, Cell]:
    if isinstance(value, Undefined):
        return {key: Cell(reason=value.reason) for key in ("rating", "strength")}
    return {"rating": Cell(float(1000 + ELO_SCALE * value)), "strength": Cell(value)}
