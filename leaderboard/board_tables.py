"""The leaderboards' tables, made from stored answers (JSON). No statistics are computed here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from annotations.tables import Cell, Column, Row, Table, mark_best
from leaderboard.estimate_cells import (
    COEFFICIENT_NAMES,
    COEFFICIENTS,
    LEFT_OUT,
    ceiling_cell,
    cell_of,
    coverage_badges,
    coverage_cell,
    coverage_column,
    coverage_note,
    of_all_levels,
)
from workers.metric_list import kind_of, page_of

CEILING = "human-ceiling"


def metric_board(document: dict[str, Any], updated: datetime) -> Table:
    """One row a metric: coefficients × levels with intervals; the human ceiling as a row that does not compete."""
    levels = list(document["human_ceiling"])
    columns = [
        Column("metric", "Metric", "link"),
        Column("about", "Kind", "link", help="Leads to what it measures, and how it does elsewhere.", detail=True),
    ]
    for level in levels:
        columns += [
            Column(
                f"{level}-{name}",
                symbol,
                "estimate",
                group=f"{level} level",
                help=f"{COEFFICIENT_NAMES[name]} with people at {level} level, 95 % interval over dialogues.",
                higher_is_better=True,
                detail=name != "pearson",
            )
            for name, symbol in COEFFICIENTS
        ]
        columns.append(
            Column(
                f"{level}-n",
                "n",
                "number",
                decimals=0,
                group=f"{level} level",
                help=f"Pairs at {level} level.",
                detail=True,
            )
        )
        columns.append(coverage_column(level))
    by_metric: dict[str, dict[str, dict[str, Any]]] = {}
    for row in document["rows"]:
        by_metric.setdefault(row["metric"], {})[row["level"]] = row
    rows = [_metric_row(document, metric, by_level) for metric, by_level in by_metric.items()]
    rows.append(_ceiling_row(document))
    return Table(
        id="metric-leaderboard",
        caption=f"Correlation of metrics with people, {document['corpus']}, aspect {document['aspect']}",
        columns=tuple(columns),
        rows=_strongest_marked(tuple(rows), columns, by_metric),
        sort=(f"{levels[0]}-pearson", True),
        notes=_metric_notes(document),
        signature=_signature(document),
        updated=updated,
    )


def _metric_row(document: dict[str, Any], metric: str, by_level: dict[str, dict[str, Any]]) -> Row:
    link = "?" + urlencode({"metric": metric, "aspect": document["aspect"]}) + "#plots"
    first = next(iter(by_level.values()))
    submitted = first.get("submitted")
    note = _who_handed_in(submitted) if submitted else first.get("worth", "")
    cells = {"metric": Cell(metric, href=link, note=note)}
    for level, row in by_level.items():
        for name, _ in COEFFICIENTS:
            cells[f"{level}-{name}"] = cell_of(row[name], note=coverage_note(row))
        cells[f"{level}-n"] = Cell(row["n"])
        cells[f"{level}-coverage"] = coverage_cell(row)
    cells["about"] = (
        Cell(reason="it was handed in as scores") if submitted else Cell(kind_of(metric).heading, href=page_of(metric))
    )
    badges = (
        *(("submitted",) if submitted else ()),
        *(() if first["higher_is_better"] else ("lower is better",)),
        *coverage_badges(by_level.values()),
    )
    return Row(f"metric-{metric}", cells, badges=badges, signature=of_all_levels(first["signature"]))


def _who_handed_in(submitted: dict[str, str]) -> str:
    described = f" Described at {submitted['link']}." if submitted["link"] else ""
    return (
        f"Computed elsewhere; its scores of {submitted['level']}s were handed in by {submitted['by']}.{described} "
        f"SHA-256 of the file: {submitted['file_sha256'][:12]}…"
    )


def _ceiling_row(document: dict[str, Any]) -> Row:
    cells = {"metric": Cell("human ceiling", note="one rater against the others, leave-one-out")}
    for level, values in document["human_ceiling"].items():
        for name, _ in COEFFICIENTS:
            cells[f"{level}-{name}"] = ceiling_cell(values, name)
        cells[f"{level}-n"] = Cell(reason="a mean over raters")
        cells[f"{level}-coverage"] = Cell(reason="people's own scores")
    cells["about"] = Cell(reason="it is no metric")
    return Row(CEILING, cells, badges=("people",))


def _strongest_marked(
    rows: tuple[Row, ...], columns: list[Column], by_metric: dict[str, dict[str, dict[str, Any]]]
) -> tuple[Row, ...]:
    """Best is the strongest agreement in the metric's own direction: of a distance, the most negative coefficient."""
    direction = {
        f"metric-{metric}": 1 if next(iter(by_level.values()))["higher_is_better"] else -1
        for metric, by_level in by_metric.items()
    }
    best: dict[str, float] = {}
    for column in columns:
        strengths = [
            direction[row.id] * number
            for row in rows
            if row.id in direction and column.kind == "estimate" and (number := row.cell(column.key).number) is not None
        ]
        if len(strengths) > 1:
            best[column.key] = max(strengths)
    return tuple(
        replace(
            row,
            cells={
                key: replace(cell, best=True)
                if key in best and cell.number is not None and direction[row.id] * cell.number == best[key]
                else cell
                for key, cell in row.cells.items()
            },
        )
        if row.id in direction
        else row
        for row in rows
    )


def _metric_notes(document: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"Intervals: 95 %, from {document['resamples']} draws of dialogues (seed {document['seed']}). "
        f"Undefined values say why. {LEFT_OUT}",
        "Human ceiling: each rater's scores against the mean of the others', averaged over raters. "
        "Bold: the strongest agreement of the column; it is not said to differ from the next.",
    )


def _signature(document: dict[str, Any]) -> str:
    return (
        f"corpus:{document['corpus']}|corpus_version:{document['corpus_version']}|aspect:{document['aspect']}"
        f"|ci:percentile95-bootstrap-over-dialogues|resamples:{document['resamples']}|seed:{document['seed']}"
    )


def system_board(document: dict[str, Any], updated: datetime, kinds: Collection[str] = ()) -> Table:
    """One row a system: mean human rating with interval, rank range and band; then its score on each metric."""
    columns = [
        Column("system", "System"),
        Column("kind", "Kind", detail=True),
        Column(
            "human",
            "Human mean",
            "estimate",
            group="people",
            higher_is_better=True,
            help="95 % interval over dialogues.",
        ),
        Column(
            "rank",
            "Rank",
            "rank",
            decimals=0,
            group="people",
            help="1 + systems that are clearly better, to the worst place possible.",
        ),
        Column(
            "items",
            "Rated",
            "number",
            decimals=0,
            group="people",
            help="Rated responses, or dialogues, behind the mean.",
            detail=True,
        ),
    ]
    columns += [
        Column(
            _metric_key(metric["metric"]),
            f"{metric['metric']} (submitted)" if _is_unmarked(metric) else metric["metric"],
            "number",
            group="metrics",
            higher_is_better=metric["higher_is_better"],
            help=_system_score_help(metric),
            detail=True,
        )
        for metric in document["metrics"]
    ]
    keys = [_metric_key(metric["metric"]) for metric in document["metrics"]]
    rows = tuple(_system_row(system, keys) for system in document["systems"] if not kinds or system["kind"] in kinds)
    table = Table(
        id="system-leaderboard",
        caption=f"Systems, {document['corpus']}, aspect {document['aspect']}",
        columns=tuple(columns),
        rows=rows,
        sort=("human", True),
        notes=(
            "Rank: 1 + the number of systems whose interval lies wholly above this one's; then the worst place that "
            "the intervals allow. Systems in one band cannot be told apart.",
            f"Intervals: 95 %, from {document['resamples']} draws of dialogues (seed {document['seed']}).",
        ),
        signature=_signature(document),
        updated=updated,
    )
    return mark_best(table)


def _is_unmarked(metric: dict[str, Any]) -> bool:
    """A name that a built-in metric has taken since says that it was submitted already."""
    return "submitted" in metric and not metric["metric"].endswith("(submitted)")


def _system_score_help(metric: dict[str, Any]) -> str:
    submitted = metric.get("submitted")
    scored = submitted["level"] if submitted else "turn"
    made = "A score of the whole system" if scored == "system" else f"Mean over the system's {scored}s"
    direction = "higher" if metric["higher_is_better"] else "lower"
    sender = f" {_who_handed_in(submitted)}" if submitted else ""
    return f"{made}; {direction} is better.{sender} {metric['signature']}"


def _metric_key(configuration: str) -> str:
    """What a column is called in addresses and files. A comma separates columns there, so it cannot be part of one."""
    return f"metric-{configuration.replace(',', ';')}"


def _system_row(system: dict[str, Any], metric_keys: list[str]) -> Row:
    # The ranking counts bands from 1, cells from 0.
    band = None if system["band"] is None else system["band"] - 1
    rank = (
        Cell(reason=system["human"].get("reason") or system["human"].get("ci_reason") or "no interval, so no rank")
        if system["rank"] is None
        else Cell(system["rank"], ci=(system["rank"], system["worst_rank"]), band=band)
    )
    cells = {
        "system": Cell(system["system"]),
        "kind": Cell(system["kind"]),
        "human": cell_of(system["human"]),
        "rank": rank,
        "items": Cell(system["items"]),
    }
    for key, score in zip(metric_keys, system["scores"], strict=True):
        cells[key] = Cell(reason=score["reason"]) if isinstance(score, dict) else Cell(score)
    badges = (system["kind"],) if system["kind"] != "agent" else ()
    return Row(f"system-{system['position']}", cells, badges=badges, swatch=system["position"])


def agreement_tables(
    document: dict[str, Any], updated: datetime, pseudonyms: dict[str, str], pairs_shown: int | None = None
) -> list[Table]:
    """The coefficients; Cohen's κ of every pair of raters, or of the ``pairs_shown`` that have most items in common.
    Raters stand under pseudonyms."""
    signature = f"{_signature(document)}|level:{document['level']}"
    return [
        Table(
            id="agreement",
            caption=f"Agreement of raters, {document['corpus']}, aspect {document['aspect']}, "
            f"{document['level']} level",
            columns=(
                Column("coefficient", "Coefficient"),
                Column("variant", "Variant"),
                Column("value", "Value", "estimate"),
                Column("says", "What it says", detail=True),
            ),
            rows=tuple(_agreement_rows(document)),
            signature=signature,
            updated=updated,
        ),
        _pair_table(document, pseudonyms, signature, updated, pairs_shown),
    ]


_SAYS = {
    "alpha": "Agreement beyond chance among any raters, with missing ratings; 1 is perfect, 0 is chance.",
    "kappa": "Mean over pairs of raters of agreement beyond chance on the items that both judged.",
    "fleiss": "Agreement beyond chance where items have equally many ratings.",
    "icc2_1": "Reliability of one rater's score.",
    "icc2_k": "Reliability of the mean of an item's raters.",
    "leave_one_out": "One rater against the mean of the others: the human ceiling.",
}


def _agreement_rows(document: dict[str, Any]) -> list[Row]:
    rows = []

    def add(coefficient: str, variant: str, estimate: dict[str, Any], says: str) -> None:
        rows.append(
            Row(
                f"{coefficient}-{variant}".lower().replace(" ", "-"),
                {
                    "coefficient": Cell(coefficient),
                    "variant": Cell(variant),
                    "value": cell_of(estimate),
                    "says": Cell(says),
                },
            )
        )

    for variant in ("ordinal", "interval", "nominal", "ratio"):
        add("Krippendorff's α", variant, document["krippendorff_alpha"][variant], _SAYS["alpha"])
    for variant, kappa in document["cohen_kappa"].items():
        add("Cohen's κ", f"{variant}, mean of pairs", _mean_of(kappa), _SAYS["kappa"])
    add("Fleiss' κ", "", document["fleiss_kappa"], _SAYS["fleiss"])
    for variant, label in (("icc2_1", "ICC(2,1)"), ("icc2_k", "ICC(2,k)")):
        add(label, "two-way random, absolute", document["icc"][variant], _SAYS[variant])
    for name, estimate in document["leave_one_out"].items():
        if name in COEFFICIENT_NAMES:
            add("Leave-one-out", COEFFICIENT_NAMES[name], estimate, _SAYS["leave_one_out"])
    return rows


def _mean_of(kappa: dict[str, Any]) -> dict[str, Any]:
    """κ's mean carries its interval beside it; an undefined κ is its own document."""
    if "mean" not in kappa:
        return kappa
    mean = kappa["mean"]
    if isinstance(mean, dict):
        return mean
    if mean is None:
        return {"value": None, "reason": kappa.get("reason", "no pair of raters judged the same items")}
    return {"value": mean, **{key: kappa[key] for key in ("ci", "ci_reason") if key in kappa}}


def _pair_table(
    document: dict[str, Any], pseudonyms: dict[str, str], signature: str, updated: datetime, shown: int | None
) -> Table:
    by_pair: dict[tuple[str, str], dict[str, Any]] = {}
    for variant, kappa in document["cohen_kappa"].items():
        for pair in kappa.get("pairs", ()):
            by_pair.setdefault((pair["raters"][0], pair["raters"][1]), {})[variant] = pair
    columns = (
        Column("pair", "Raters"),
        Column("items", "Items both judged", "number", decimals=0, detail=True),
        *(Column(variant, variant, "estimate", group="Cohen's κ") for variant in document["cohen_kappa"]),
    )
    rows = tuple(
        Row(
            f"pair-{number}",
            {
                "pair": Cell(f"{pseudonyms.get(first, first)} and {pseudonyms.get(second, second)}"),
                "items": Cell(next(iter(found.values()))["items"]),
                **{variant: cell_of(pair) for variant, pair in found.items()},
            },
        )
        for number, ((first, second), found) in _with_most_items(by_pair, shown)
    )
    note = f"The {len(rows)} pairs with most items in common; all {len(by_pair):,} are in the download."
    return Table(
        "rater-pairs",
        "Agreement of each pair of raters",
        columns,
        rows,
        notes=(note,) if len(rows) < len(by_pair) else (),
        signature=signature,
        updated=updated,
    )


def _with_most_items(
    by_pair: dict[tuple[str, str], dict[str, Any]], shown: int | None
) -> list[tuple[int, tuple[tuple[str, str], dict[str, Any]]]]:
    """The pairs, numbered; where only some are shown, those with most items, still in their order."""
    numbered = list(enumerate(by_pair.items()))
    if shown is None or len(numbered) <= shown:
        return numbered
    numbered.sort(key=lambda one: -next(iter(one[1][1].values()))["items"])
    return sorted(numbered[:shown], key=lambda one: one[0])
