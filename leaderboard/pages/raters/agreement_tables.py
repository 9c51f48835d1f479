"""The tables of how far raters agree, made from a stored answer."""

from __future__ import annotations

from datetime import datetime

from annotations.agreement.cohen import PairKappa, Weighting
from annotations.agreement.krippendorff import Measurement
from common.estimates import Estimate
from common.tables import Cell, Column, Row, Table, estimate_cell
from common.tables.numerals import MINUS
from leaderboard.answers.agreement import Agreement
from leaderboard.board_text import board_signature
from leaderboard.estimate_cells import COEFFICIENT_NAMES
from leaderboard.pages.raters.verdict import shares_text

ALPHAS: tuple[Measurement, ...] = ("ordinal", "interval", "nominal", "ratio")


def agreement_tables(
    document: Agreement,
    updated: datetime | None,
    pseudonyms: dict[str, str],
    pairs_shown: int | None = None,
) -> list[Table]:
    """The coefficients; Cohen's κ of every pair of raters that the document holds, or of the
    ``pairs_shown`` that have most items in common; each rater's use of the scale. Raters stand
    under pseudonyms."""
    signature = f"{board_signature(document, document.aspect)}|level:{document.level}"
    return [
        Table(
            id="agreement",
            caption=f"Agreement of raters, {document.corpus}, aspect {document.aspect}, "
            f"{document.level} level",
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


def _agreement_rows(document: Agreement) -> list[Row]:
    rows = []

    def add(coefficient: str, variant: str, estimate: Estimate, key: str) -> None:
        rows.append(
            Row(
                f"{coefficient}-{variant}".lower().replace(" ", "-"),
                {
                    "coefficient": Cell(coefficient),
                    "variant": Cell(variant),
                    "value": estimate_cell(estimate),
                    "says": Cell(_READS[key]),
                },
            )
        )

    for measurement in ALPHAS:
        add("Krippendorff's α", measurement, document.krippendorff_alpha[measurement], measurement)
    for weighting, kappa in document.cohen_kappa.items():
        add("Cohen's κ", f"{weighting}, mean of pairs", kappa.mean, weighting)
    add("Fleiss' κ", "", document.fleiss_kappa.kappa, "fleiss")
    add("ICC(2,1)", "two-way random, absolute", document.icc.single, "icc2_1")
    add("ICC(2,k)", "two-way random, absolute", document.icc.mean_of_k, "icc2_k")
    for name, found in document.leave_one_out.items():
        add("Leave-one-out", COEFFICIENT_NAMES[name], found.mean, name)
    return rows


def _pair_table(
    document: Agreement,
    pseudonyms: dict[str, str],
    signature: str,
    updated: datetime | None,
    shown: int | None,
) -> Table:
    by_pair: dict[tuple[str, str], dict[Weighting, PairKappa]] = {}
    for weighting, kappa in document.cohen_kappa.items():
        for pair in kappa.pairs:
            by_pair.setdefault(pair.raters, {})[weighting] = pair
    columns = (
        Column("pair", "Raters"),
        Column("items", "Items both judged", "number", decimals=0, detail=True),
        *(
            Column(weighting, weighting, "estimate", group="Cohen's κ")
            for weighting in document.cohen_kappa
        ),
    )
    rows = tuple(
        Row(
            f"pair-{number}",
            {
                "pair": Cell(
                    f"{pseudonyms.get(first, first)} and {pseudonyms.get(second, second)}"
                ),
                "items": Cell(_items_of(found)),
                **{weighting: estimate_cell(pair.kappa) for weighting, pair in found.items()},
            },
        )
        for number, ((first, second), found) in _with_most_items(by_pair, shown)
    )
    in_all = max(len(by_pair), *(one.pairs_in_all or 0 for one in document.cohen_kappa.values()))
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
    document: Agreement,
    pseudonyms: dict[str, str],
    signature: str,
    updated: datetime | None,
) -> Table:
    steps = document.score_use.steps or ()
    with_others = {one.rater: one.correlation for one in document.leave_one_out["pearson"].raters}
    ends = [f"{round(step, 2):g}".replace("-", MINUS) for step in (*steps[:1], *steps[-1:])]
    scale = f"Scores {' to '.join(dict.fromkeys(ends))}".rstrip()
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
    for number, one in enumerate(document.score_use.raters):
        total, counts = one.ratings, one.counts
        rows.append(
            Row(
                f"rater-{number}",
                {
                    "rater": Cell(pseudonyms.get(one.rater, one.rater)),
                    "ratings": Cell(total),
                    "use": Cell(reason="the scores are not steps of a scale")
                    if not steps or counts is None
                    else Cell(
                        shares_text(steps, counts),
                        bars=tuple(count / total for count in counts),
                    ),
                    "mean": Cell(one.mean),
                    "agreement": estimate_cell(with_others[one.rater])
                    if one.rater in with_others
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
    by_pair: dict[tuple[str, str], dict[Weighting, PairKappa]], shown: int | None
) -> list[tuple[int, tuple[tuple[str, str], dict[Weighting, PairKappa]]]]:
    """The pairs, numbered; where only some are shown, those with most items, still in their
    order."""
    numbered = list(enumerate(by_pair.items()))
    if shown is None or len(numbered) <= shown:
        return numbered
    numbered.sort(key=lambda one: -_items_of(one[1][1]))
    return sorted(numbered[:shown], key=lambda one: one[0])


def _items_of(found: dict[Weighting, PairKappa]) -> int:
    return next(iter(found.values())).items
