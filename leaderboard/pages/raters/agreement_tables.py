"""The tables of how far raters agree, made from a stored answer (JSON)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from common.tables import Cell, Column, Row, Table
from leaderboard.board_text import document_signature
from leaderboard.estimate_cells import (
    COEFFICIENT_NAMES,
    cell_of,
)
from leaderboard.pages.raters.verdict import shares_text
from leaderboard.queries.agreement_pairs import SCORE_USE


def agreement_tables(
    document: dict[str, Any],
    updated: datetime | None,
    pseudonyms: dict[str, str],
    pairs_shown: int | None = None,
) -> list[Table]:
    """The coefficients; Cohen's κ of every pair of raters that the document holds, or of the
    ``pairs_shown`` that have most items in common; each rater's use of the scale. Raters stand
    under pseudonyms."""
    signature = f"{document_signature(document)}|level:{document['level']}"
    return [
        Table(
            id="agreement",
            caption=f"Agreement of raters, {document['corpus']}, aspect {document['aspect']}, "
            f"{document['level']} level",
            columns=(
                Column("coefficient", "Coefficient"),
                Column("variant", "Variant"),
                Column("value", "Value", "estimate"),
                Column("says", "Reads as"),
            ),
            rows=tuple(_agreement_rows(document)),
            signature=signature,
            updated=updated,
        ),
        _pair_table(document, pseudonyms, signature, updated, pairs_shown),
        _score_table(document, pseudonyms, signature, updated),
    ]


_READS = {
    "ordinal": "agreement beyond chance of any number of raters; scores differ by their ranks",
    "interval": "the same, scores differ by the square of their distance",
    "nominal": "the same, only equal scores agree",
    "ratio": "the same, distances relative to the scores",
    "quadratic": "mean over pairs of raters of agreement beyond chance, squared distances",
    "linear": "the same, plain distances",
    "unweighted": "the same, only equal scores agree",
    "fleiss": "as α nominal, of items with equally many ratings",
    "icc2_1": "reliability of one rater's score",
    "icc2_k": "reliability of the mean of an item's raters",
    "pearson": "one rater with the mean of the others, mean over raters",
    "spearman": "the same, of ranks",
    "kendall": "the same, of pairs in the same order",
}


def _agreement_rows(document: dict[str, Any]) -> list[Row]:
    rows = []

    def add(coefficient: str, variant: str, estimate: dict[str, Any], key: str) -> None:
        rows.append(
            Row(
                f"{coefficient}-{variant}".lower().replace(" ", "-"),
                {
                    "coefficient": Cell(coefficient),
                    "variant": Cell(variant),
                    "value": cell_of(estimate),
                    "says": Cell(_READS[key]),
                },
            )
        )

    for variant in ("ordinal", "interval", "nominal", "ratio"):
        add("Krippendorff's α", variant, document["krippendorff_alpha"][variant], variant)
    for variant, kappa in document["cohen_kappa"].items():
        add("Cohen's κ", f"{variant}, mean of pairs", _mean_of(kappa), variant)
    add("Fleiss' κ", "", document["fleiss_kappa"], "fleiss")
    for variant, label in (("icc2_1", "ICC(2,1)"), ("icc2_k", "ICC(2,k)")):
        add(label, "two-way random, absolute", document["icc"][variant], variant)
    for name, estimate in document["leave_one_out"].items():
        if name in COEFFICIENT_NAMES:
            add("Leave-one-out", COEFFICIENT_NAMES[name], estimate, name)
    return rows


def _mean_of(kappa: dict[str, Any]) -> dict[str, Any]:
    """κ's mean carries its interval beside it; an undefined κ is its own document."""
    if "mean" not in kappa:
        return kappa
    mean = kappa["mean"]
    if isinstance(mean, dict):
        return mean
    if mean is None:
        return {
            "value": None,
            "reason": kappa.get("reason", "no pair of raters judged the same items"),
        }
    return {"value": mean, **{key: kappa[key] for key in ("ci", "ci_reason") if key in kappa}}


def _pair_table(
    document: dict[str, Any],
    pseudonyms: dict[str, str],
    signature: str,
    updated: datetime | None,
    shown: int | None,
) -> Table:
    by_pair: dict[tuple[str, str], dict[str, Any]] = {}
    for variant, kappa in document["cohen_kappa"].items():
        for pair in kappa.get("pairs", ()):
            by_pair.setdefault((pair["raters"][0], pair["raters"][1]), {})[variant] = pair
    columns = (
        Column("pair", "Raters"),
        Column("items", "Items both judged", "number", decimals=0, detail=True),
        *(
            Column(variant, variant, "estimate", group="Cohen's κ")
            for variant in document["cohen_kappa"]
        ),
    )
    rows = tuple(
        Row(
            f"pair-{number}",
            {
                "pair": Cell(
                    f"{pseudonyms.get(first, first)} and {pseudonyms.get(second, second)}"
                ),
                "items": Cell(next(iter(found.values()))["items"]),
                **{variant: cell_of(pair) for variant, pair in found.items()},
            },
        )
        for number, ((first, second), found) in _with_most_items(by_pair, shown)
    )
    in_all = max(
        [
            len(by_pair),
            *(kappa.get("pairs_in_all", 0) for kappa in document["cohen_kappa"].values()),
        ]
    )
    note = f"The {len(rows)} pairs with most items in common; all {in_all:,} are in the download."
    return Table(
        "rater-pairs",
        "Agreement of each pair of raters",
        columns,
        rows,
        notes=(note,) if len(rows) < in_all else (),
        signature=signature,
        updated=updated,
    )


def _score_table(
    document: dict[str, Any],
    pseudonyms: dict[str, str],
    signature: str,
    updated: datetime | None,
) -> Table:
    use = document.get(SCORE_USE, {"steps": None, "raters": ()})
    steps = use["steps"]
    with_others = {
        one["rater"]: one
        for one in document["leave_one_out"].get("pearson", {}).get("per_rater", ())
    }
    scale = f"Scores {steps[0]:g} to {steps[-1]:g}" if steps else "Scores"
    columns = (
        Column("rater", "Rater"),
        Column("ratings", "Ratings", "number", decimals=0),
        Column("use", scale, help="Share of each score."),
        Column("mean", "Mean", "number", decimals=2),
        Column(
            "agreement",
            "r with the others",
            "estimate",
            decimals=2,
            help="Pearson's r with the mean of the other raters on items that both judged, 95 % "
            "interval over dialogues.",
        ),
    )
    rows = []
    for number, one in enumerate(use["raters"]):
        total, counts = one["ratings"], one["counts"]
        rows.append(
            Row(
                f"rater-{number}",
                {
                    "rater": Cell(pseudonyms.get(one["rater"], one["rater"])),
                    "ratings": Cell(total),
                    "use": Cell(reason="the scores are not steps of a scale")
                    if counts is None
                    else Cell(
                        shares_text(steps, counts),
                        bars=tuple(count / total for count in counts),
                    ),
                    "mean": Cell(one["mean"]),
                    "agreement": cell_of(with_others[one["rater"]])
                    if one["rater"] in with_others
                    else Cell(reason="fewer than two raters"),
                },
            )
        )
    return Table(
        "rater-scores",
        "Scores of each rater",
        columns,
        tuple(rows),
        signature=signature,
        updated=updated,
    )


def _with_most_items(
    by_pair: dict[tuple[str, str], dict[str, Any]], shown: int | None
) -> list[tuple[int, tuple[tuple[str, str], dict[str, Any]]]]:
    """The pairs, numbered; where only some are shown, those with most items, still in their
    order."""
    numbered = list(enumerate(by_pair.items()))
    if shown is None or len(numbered) <= shown:
        return numbered
    numbered.sort(key=lambda one: -next(iter(one[1][1].values()))["items"])
    return sorted(numbered[:shown], key=lambda one: one[0])
