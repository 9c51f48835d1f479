"""What some metrics store beside a score, as tables and figures: FBD's normality, PRD's curves and
their spread.

Only what is known here is shown; other details stay in the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from common.tables import Cell, Column, Row, Table
from leaderboard.figures import Figure
from leaderboard.figures.precision_recall import Curve, precision_recall_figure
from leaderboard.queries import DetailsOf


def detail_tables(details: Sequence[DetailsOf], corpus: str, signature: str) -> list[Table]:
    tested = [
        (one, one.details["normality"])
        for one in details
        if _is_normality(one.details.get("normality"))
    ]
    return [_normality_table(tested, corpus, signature)] if tested else []


def detail_figures(
    details: Sequence[DetailsOf], metric: str, corpus: str, signature: str
) -> list[Figure]:
    curves = [_curve(one) for one in details if _is_curve(one.details.get("curve"))]
    if not curves:
        return []
    named = {"figure_id": "curves", "metric": metric, "corpus": corpus, "signature": signature}
    return [precision_recall_figure(curves, **named)]


# --- FBD: how normal the features are -------------------------------------------------------------


def _is_normality(found: Any) -> bool:
    return isinstance(found, Mapping) and all(
        isinstance(found.get(side), Mapping) for side in ("system", "human")
    )


def _normality_table(
    tested: Sequence[tuple[DetailsOf, Mapping[str, Any]]], corpus: str, signature: str
) -> Table:
    columns = (
        Column("side", "Answers of"),
        Column("points", "n", "number", decimals=0, help="Pairs of a context and an answer."),
        Column(
            "dimensions", "Dimensions", "number", decimals=0, help="Those that have any spread."
        ),
        Column(
            "w_mean",
            "W",
            "number",
            group="mean over dimensions",
            help="Shapiro and Wilk's W; 1 is normal.",
        ),
        Column("p_mean", "p", "p", group="mean over dimensions"),
        Column("w_sd", "sd of W", "number", detail=True),
        Column("p_sd", "sd of p", "number", detail=True),
        Column(
            "share_normal",
            "Share not refuted",
            "number",
            help="Of the dimensions, those with p of 0.05 or more.",
        ),
    )
    people = Row(
        "normality-people", _normality_cells("people", tested[0][1]["human"]), badges=("people",)
    )
    systems = [
        Row(
            f"normality-{one.swatch}",
            _normality_cells(one.system, found["system"]),
            swatch=one.swatch,
        )
        for one, found in tested
    ]
    return Table(
        "normality",
        f"How normal the features are on {corpus} (Shapiro–Wilk in each dimension)",
        columns,
        (people, *systems),
        notes=(
            "FBD takes the features as Gaussian. With many points the test refutes small "
            "departures, too; with few it refutes little: compare sides of equal n.",
        ),
        signature=signature,
    )


def _normality_cells(name: str, found: Mapping[str, Any]) -> dict[str, Cell]:
    reason = str(found.get("reason") or "not available")
    keys = ("points", "dimensions", "w_mean", "p_mean", "w_sd", "p_sd", "share_normal")
    return {"side": Cell(name), **{key: Cell(found.get(key), reason=reason) for key in keys}}


# --- PRD: the curves, and how far the score moves between seeds -----------------------------------


def _is_curve(found: Any) -> bool:
    if not isinstance(found, Mapping):
        return False
    sides = found.get("precision"), found.get("recall")
    return all(isinstance(side, list) for side in sides) and len(sides[0]) == len(sides[1])


def _curve(one: DetailsOf) -> Curve:
    found = one.details["curve"]
    return Curve(
        system=one.system,
        swatch=one.swatch,
        recall=tuple(found["recall"]),
        precision=tuple(found["precision"]),
        score=one.score,
        spread=one.details.get("sd_between_seeds"),
        spread_from=str(one.details.get("sd_from", "")),
    )
