"""The comparison of two metrics as sentences, a table and a picture, from its stored answer. No
statistics are computed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.estimates import Estimate
from common.tables import Cell, Column, Row, Table
from common.tables.numerals import written, written_p
from leaderboard.board_text import design_text
from leaderboard.estimate_cells import COEFFICIENT_NAMES, COEFFICIENTS, cell_of
from leaderboard.figures import Figure
from leaderboard.figures.forest import ForestRow, forest
from leaderboard.pages.metric_pair.query import Driver
from leaderboard.pages.metrics.letters import LEVEL_OF_TESTS
from leaderboard.statistics.correlation.human_ceiling import LEVELS

SYMBOLS = dict(COEFFICIENTS)
RANKS_NOT_ADVISED = (
    "no test of ranks is known to keep its level here; the tests by swaps stand beside"
)
CHANCE = "may it be chance?"
TEST_NAMES = {
    "jackknife-both": "jackknife over systems and dialogues",
    "jackknife-dialogues": "jackknife over dialogues",
    "perm-both": "PERM-BOTH",
    "perm-sys": "PERM-SYS",
    "perm-input": "PERM-INPUT",
    "williams": "Williams",
}
TEST_HELP = {
    "jackknife-both": (
        "A t test whose error comes from leaving out each system and each dialogue in turn."
    ),
    "jackknife-dialogues": (
        "A t test whose error comes from leaving out each dialogue in turn: speaks of other "
        "dialogues and the same systems."
    ),
    "perm-both": (
        "The two metrics' scores are swapped in whole systems, then in whole dialogues (Deutsch, "
        "Dror & Roth 2021)."
    ),
    "perm-sys": "The two metrics' scores are swapped in whole systems.",
    "perm-input": "The two metrics' scores are swapped in whole dialogues.",
    "williams": (
        "Williams' test for two correlations that share the human side. It takes its pairs as "
        "independent, which systems are and the turns of a dialogue are not: it is there at "
        "system level only."
    ),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a level says of the pair."""

    level: str
    words: str
    is_clear: bool = False


def names_of(document: Mapping[str, Any]) -> tuple[str, str]:
    first, second = document["metrics"]
    return first["metric"], second["metric"]


def _levels(document: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """From the turn to the system: PostgreSQL keeps a stored answer's keys in an order of its
    own."""
    return [(level, document["levels"][level]) for level in LEVELS if level in document["levels"]]


def verdicts(document: Mapping[str, Any], coefficient: str) -> list[Verdict]:
    """A sentence a level."""
    return [_verdict(document, level, found, coefficient) for level, found in _levels(document)]


def _verdict(
    document: Mapping[str, Any], level: str, found: Mapping[str, Any], coefficient: str
) -> Verdict:
    if not found["coefficients"]:
        return Verdict(level, f"not compared: {found['reason']}.")
    numbers = found["coefficients"][coefficient]
    difference = numbers["difference"]
    if difference["value"] is None:
        return Verdict(level, f"not compared: {difference['reason']}.")
    first, second = names_of(document)
    ahead, behind = (first, second) if difference["value"] >= 0 else (second, first)
    gap = f"{SYMBOLS[coefficient]} higher by {_distance(difference)}"
    test, p = _main_test(found, numbers)
    if p is None:
        return Verdict(level, f"{ahead} is ahead, {gap}; whether by chance is not tested: {test}.")
    text = f"{written_p(p)}, {test}{_population(found, test)}"
    if p < LEVEL_OF_TESTS:
        return Verdict(
            level,
            f"{ahead} correlates better with human ratings than {behind}, {gap} ({text}).",
            True,
        )
    return Verdict(
        level, f"the two are not significantly different; {ahead} is ahead, {gap} ({text})."
    )


def _population(found: Mapping[str, Any], test: str) -> str:
    """Of what the difference is said: it may hold for these systems and not be known of others."""
    is_advised = TEST_NAMES.get(found["advised"]) == test
    return f", for {found['population']}" if is_advised and found.get("population") else ""


def _distance(difference: Mapping[str, Any]) -> str:
    value, ci = abs(difference["value"]), difference.get("ci")
    decimals = _decimals(value)
    if not ci:
        return written(value, decimals)
    low, high = sorted((ci[0], ci[1])) if difference["value"] >= 0 else sorted((-ci[0], -ci[1]))
    return f"{written(value, decimals)} [{written(low, decimals)}, {written(high, decimals)}]"


FEWEST_DECIMALS, MOST_DECIMALS = 2, 4


def _decimals(gap: float) -> int:
    """Two, or as many, up to four, as show that there is a gap: "higher by 0.00, p < 0.001" reads
    like a mistake."""
    decimals = range(FEWEST_DECIMALS, MOST_DECIMALS + 1)
    return next((places for places in decimals if round(gap, places) > 0), FEWEST_DECIMALS)


def _main_test(found: Mapping[str, Any], numbers: Mapping[str, Any]) -> tuple[str, float | None]:
    """(its name, p) of the advised test, else of PERM-BOTH or PERM-SYS: the jackknife tests are of
    Pearson's r; or (why there is none, None)."""
    reason = "there is no test"
    for key in dict.fromkeys((found["advised"], "perm-both", "perm-sys")):
        tested = numbers["tests"].get(key)
        if tested and tested["value"] is not None:
            return TEST_NAMES[key], tested["value"]
        if tested and reason == "there is no test":
            reason = tested["reason"]
    return reason, None


def comparison_table(document: Mapping[str, Any], updated: datetime | None) -> Table:
    """One row a level and coefficient."""
    first, second = names_of(document)
    columns = (
        Column("level", "Level"),
        Column("coefficient", "Coefficient"),
        Column(
            "n",
            "n",
            "number",
            0,
            "What both metrics and people scored: responses, dialogues of a system, systems.",
        ),
        Column("first", first, "estimate", group="correlation with human ratings"),
        Column("second", second, "estimate", group="correlation with human ratings"),
        Column(
            "difference",
            "difference",
            "estimate",
            help=f"{first} minus {second}, with the interval over dialogues of the difference "
            "itself.",
        ),
        Column(
            "p",
            "p",
            "p",
            3,
            "Of the test that keeps its level here; the cell's note names it.",
            CHANCE,
        ),
        *(
            Column(key, TEST_NAMES[key], "p", 3, TEST_HELP[key], "p of each test", detail=True)
            for key in TEST_NAMES
        ),
    )
    rows = [
        _row(level, found, name, symbol)
        for level, found in _levels(document)
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
        f"metrics:{first}+{second}|corpus:{document['corpus']}|"
        f"corpus_version:{document['corpus_version']}|aspect:{document['aspect']}|"
        f"systems:{document['systems_chosen']}|resamples:{document['resamples']}|"
        f"permutations:{document['permutations']}|seed:{document['seed']}"
    )


def _row(level: str, found: Mapping[str, Any], name: str, symbol: str) -> Row:
    numbers = found["coefficients"][name]
    scope = f"these {found['n']:,} systems, new dialogues" if level == "system" else ""
    cells = {
        "level": Cell(level),
        "coefficient": Cell(f"{COEFFICIENT_NAMES[name]}, {symbol}"),
        "n": Cell(found["n"]),
        **{
            key: cell_of(numbers[key], generalises_to=scope)
            for key in ("first", "second", "difference")
        },
    }
    nothing = {"value": None, "reason": numbers["difference"].get("reason") or "not tested"}
    for key in TEST_NAMES:
        missing = (
            {"value": None, "reason": why_not_tested(key, level, name)}
            if numbers["tests"]
            else nothing
        )
        cells[key] = cell_of(numbers["tests"].get(key, missing), note=_fewest(found, key))
    advised = numbers["tests"].get(found["advised"])
    if advised is None:
        cells["p"] = Cell(
            reason=str(nothing["reason"]) if not numbers["tests"] else RANKS_NOT_ADVISED
        )
    else:
        cells["p"] = cell_of(
            advised, note=f"{TEST_NAMES[found['advised']]}; speaks of {found['population']}"
        )
    return Row(f"{level}-{name}", cells)


def why_not_tested(test: str, level: str, coefficient: str) -> str:
    if test == "williams" and level != "system":
        return "its pairs are not independent here"
    if test == "jackknife-both" and level == "system":
        return "it is of single items"
    return "the test is of Pearson's r" if coefficient != "pearson" else "not tested"


def _fewest(found: Mapping[str, Any], test: str) -> str:
    """With few units to swap p cannot be small, whatever the difference."""
    unit = {"perm-sys": "systems", "perm-input": "dialogues"}.get(test)
    groups = found.get("groups", {}).get(unit)
    if groups is None or groups > 6:
        return ""
    return f"with {groups} {unit} to swap p is never below {written(2.0 ** (1 - groups), 3)}"


def _notes(document: Mapping[str, Any]) -> tuple[str, ...]:
    turned = [one["metric"] for one in document["metrics"] if not one["higher_is_better"]]
    notes = [
        (
            "Only what both metrics and people scored is compared, so a coefficient may differ a "
            "little from that of the leaderboard. Tests are two-sided; those by swaps (PERM) "
            f"from {document['permutations']} permutations (seed {document['seed']})."
        ),
        *((f"{design}.",) if (design := design_text(document["design"])) else ()),
        *_methods(document),
        (
            "These p are of one pair that was chosen beforehand. Who looks at many pairs and "
            "picks the smallest p must adjust it: the letters on the leaderboard are adjusted "
            "(Holm) for all pairs."
        ),
    ]
    if turned:
        notes.append(
            f"Lower is better for {' and '.join(turned)}: turned round here, so that higher is "
            "better."
        )
    return tuple(notes)


def _methods(document: Mapping[str, Any]) -> list[str]:
    """Which test stands under p, and what it speaks of."""
    found: dict[str, list[str]] = {}
    for level, one in _levels(document):
        if one["coefficients"]:
            found.setdefault(f"{one['method']}. It speaks of {one['population']}", []).append(level)
    return [f"p at {' and '.join(levels)} level: {words}." for words, levels in found.items()]


def difference_figure(document: Mapping[str, Any], coefficient: str) -> Figure:
    """The difference at each level, with its interval; at zero the two are equal."""
    first, second = names_of(document)
    rows = [
        ForestRow(f"{level} level", _difference_at(found, coefficient), note=f"n = {found['n']}")
        for level, found in _levels(document)
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
    return Estimate.from_json(found["coefficients"][coefficient]["difference"])


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
                "dialogue": Cell(
                    one.dialogue.external_id if one.dialogue else None, reason="of the whole system"
                ),
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
    return Table(
        f"{side}-nearer",
        f"Where {nearer} is nearer to people",
        columns,
        found,
        signature=signature(document),
    )
