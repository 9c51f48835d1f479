"""The comparison of two metrics as sentences, a table and a picture, from its stored answer. No statistics are computed
here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotations.estimates import Estimate
from annotations.tables import Cell, Column, Row, Table
from annotations.tables.numerals import written, written_p
from leaderboard.estimate_cells import COEFFICIENT_NAMES, COEFFICIENTS, cell_of
from leaderboard.figures import Figure
from leaderboard.figures.forest import ForestRow, forest
from leaderboard.metric_bands import LEVEL_OF_TESTS
from leaderboard.plots import estimate_of
from leaderboard.queries.driving_texts import Driver

SYMBOLS = dict(COEFFICIENTS)
TESTS = (
    ("both", "p, both", "PERM-BOTH: speaks of other systems and other dialogues. The one to report."),
    ("systems", "p, systems", "PERM-SYS: speaks of other systems answering the same dialogues."),
    ("dialogues", "p, dialogues", "PERM-INPUT: speaks of the same systems in other dialogues."),
)
WILLIAMS_HELP = (
    "Williams' test for two correlations that share the human side. It takes its pairs as independent, which systems "
    "are and the turns of a dialogue are not: it is there at system level only."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a level says of the pair."""

    level: str
    words: str
    is_clear: bool = False


def names_of(document: Mapping[str, Any]) -> tuple[str, str]:
    first, second = document["metrics"]
    return first["metric"], second["metric"]


def verdicts(document: Mapping[str, Any], coefficient: str) -> list[Verdict]:
    """A sentence a level."""
    return [_verdict(document, level, found, coefficient) for level, found in document["levels"].items()]


def _verdict(document: Mapping[str, Any], level: str, found: Mapping[str, Any], coefficient: str) -> Verdict:
    if not found["coefficients"]:
        return Verdict(level, f"not compared: {found['reason']}.")
    numbers = found["coefficients"][coefficient]
    difference = numbers["difference"]
    if difference["value"] is None:
        return Verdict(level, f"not compared: {difference['reason']}.")
    first, second = names_of(document)
    ahead, behind = (first, second) if difference["value"] >= 0 else (second, first)
    test, p = _main_test(numbers)
    gap = f"{SYMBOLS[coefficient]} higher by {_distance(difference)}"
    if p is None:
        return Verdict(level, f"{ahead} is ahead of {behind}, {gap}; whether by chance is not tested: {test}.")
    said = f"{written_p(p)}, {test}"
    if p < LEVEL_OF_TESTS:
        return Verdict(level, f"{ahead} follows people better than {behind}, {gap} ({said}).", True)
    return Verdict(level, f"the two cannot be told apart; {ahead} is ahead, {gap} ({said}).")


def _distance(difference: Mapping[str, Any]) -> str:
    value, ci = abs(difference["value"]), difference.get("ci")
    if not ci:
        return written(value, 2)
    low, high = sorted((ci[0], ci[1])) if difference["value"] >= 0 else sorted((-ci[0], -ci[1]))
    return f"{written(value, 2)} [{written(low, 2)}, {written(high, 2)}]"


def _main_test(numbers: Mapping[str, Any]) -> tuple[str, float | None]:
    """(its name, p) of PERM-BOTH, else of PERM-SYS: of metrics of whole systems there is no other; or (why, None)."""
    reason = "there is no test"
    for key, name in (("both", "PERM-BOTH"), ("systems", "PERM-SYS")):
        found = numbers["tests"].get(key)
        if found and found["value"] is not None:
            return name, found["value"]
        if found and reason == "there is no test":
            reason = found["reason"]
    return reason, None


def comparison_table(document: Mapping[str, Any], updated: datetime | None) -> Table:
    """One row a level and coefficient."""
    first, second = names_of(document)
    columns = (
        Column("level", "Level"),
        Column("coefficient", "Coefficient"),
        Column(
            "n", "n", "number", 0, "What both metrics and people scored: responses, dialogues of a system, systems."
        ),
        Column("first", first, "estimate", group="correlation with people"),
        Column("second", second, "estimate", group="correlation with people"),
        Column(
            "difference", "difference", "estimate", help=f"{first} minus {second}, from the same draws of dialogues."
        ),
        *(Column(key, label, "number", 3, help, "may it be chance?") for key, label, help in TESTS),
        Column("williams", "p, Williams", "number", 3, WILLIAMS_HELP, "may it be chance?", detail=True),
    )
    rows = [
        _row(level, found, name, symbol)
        for level, found in document["levels"].items()
        for name, symbol in COEFFICIENTS
        if found["coefficients"]
    ]
    return Table(
        "metric-comparison",
        f"{first} and {second}, {document['corpus']}, aspect {document['aspect']}",
        columns,
        tuple(rows),
        notes=_notes(document),
        signature=signature(document),
        updated=updated,
    )


def signature(document: Mapping[str, Any]) -> str:
    first, second = names_of(document)
    return (
        f"metrics:{first}+{second}|corpus:{document['corpus']}|corpus_version:{document['corpus_version']}"
        f"|aspect:{document['aspect']}|systems:{document['systems_chosen']}|resamples:{document['resamples']}"
        f"|permutations:{document['permutations']}|seed:{document['seed']}"
    )


def _row(level: str, found: Mapping[str, Any], name: str, symbol: str) -> Row:
    numbers = found["coefficients"][name]
    cells = {
        "level": Cell(level),
        "coefficient": Cell(f"{COEFFICIENT_NAMES[name]}, {symbol}"),
        "n": Cell(found["n"]),
        **{key: cell_of(numbers[key]) for key in ("first", "second", "difference")},
    }
    for key, _, _ in TESTS:
        nothing = {"value": None, "reason": numbers["difference"].get("reason") or "not tested"}
        cells[key] = cell_of(numbers["tests"].get(key, nothing), note=_fewest(found, key))
    if "williams" in numbers:
        cells["williams"] = cell_of(numbers["williams"])
    else:
        elsewhere = level != "system"
        cells["williams"] = Cell(
            reason="its pairs are not independent here" if elsewhere else "the test is of Pearson's r"
        )
    return Row(f"{level}-{name}", cells)


def _fewest(found: Mapping[str, Any], key: str) -> str:
    """With few units to swap p cannot be small, whatever the difference."""
    groups = found.get("groups", {}).get(key)
    if groups is None or groups > 6:
        return ""
    return f"with {groups} {key} to swap p is never below {written(2.0 ** (1 - groups), 3)}"


def _notes(document: Mapping[str, Any]) -> tuple[str, ...]:
    turned = [one["metric"] for one in document["metrics"] if not one["higher_is_better"]]
    notes = [
        "Only what both metrics and people scored is compared, so a coefficient may differ a little from that of the "
        f"leaderboard. Intervals: 95 %, from {document['resamples']} draws of dialogues. Tests are two-sided, from "
        f"{document['permutations']} permutations (seed {document['seed']}).",
        "These p are of one pair that was chosen beforehand. Who looks at many pairs and picks the smallest p must "
        "adjust it: the letters on the leaderboard are adjusted (Holm) for all pairs.",
    ]
    if turned:
        notes.append(f"Lower is better for {' and '.join(turned)}: turned round here, so that higher is better.")
    return tuple(notes)


def difference_figure(document: Mapping[str, Any], coefficient: str) -> Figure:
    """The difference at each level, with its interval; at zero the two are equal."""
    first, second = names_of(document)
    rows = [
        ForestRow(f"{level} level", _difference_at(found, coefficient), note=f"n = {found['n']}")
        for level, found in document["levels"].items()
    ]
    figure = forest(
        rows,
        figure_id="differences",
        title=f"{COEFFICIENT_NAMES[coefficient]} of {first} minus that of {second}",
        across=f"difference: right of 0 {first} is ahead",
        what="level",
        higher_is_better=None,
        ordered=False,
        signature=signature(document),
    )
    if not figure.is_empty:
        figure.layout["xaxis"]["rangemode"] = "tozero"
    return figure


def _difference_at(found: Mapping[str, Any], coefficient: str) -> Estimate:
    if not found["coefficients"]:
        return Estimate.undefined(found["reason"])
    return estimate_of(found["coefficients"][coefficient]["difference"])


def drivers_table(document: Mapping[str, Any], side: str, rows: list[Driver]) -> Table:
    """The driving items of a side as a file: the page shows them as cards."""
    first, second = names_of(document)
    columns = (
        Column("system", "System"),
        Column("dialogue", "Dialogue"),
        Column("turn", "Turn", "number", decimals=0),
        Column("response", "Response"),
        Column("human", "people", "number"),
        Column("first", first, "number"),
        Column("second", second, "number"),
        Column("human_z", "z of people", "number"),
        Column("first_z", f"z of {first}", "number"),
        Column("second_z", f"z of {second}", "number"),
        Column("share", "share of the difference", "number", decimals=5),
    )
    found = tuple(
        Row(
            f"{side}-{number}",
            {
                "system": Cell(one.system),
                "dialogue": Cell(one.dialogue.external_id if one.dialogue else None, reason="of the whole system"),
                "turn": Cell(one.turn, reason="of no single turn"),
                "response": Cell(one.response or None, reason="of no single response"),
                **{
                    key: Cell(getattr(one, key))
                    for key in ("human", "first", "second", "human_z", "first_z", "second_z")
                },
                "share": Cell(one.share),
            },
            swatch=one.swatch,
        )
        for number, one in enumerate(rows)
    )
    nearer = first if side == "first" else second
    return Table(f"{side}-nearer", f"Where {nearer} is nearer to people", columns, found, signature=signature(document))
