"""The comparison of two metrics as sentences, a table and a picture, from its stored answer. No
statistics are computed here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common.estimates import Estimate
from common.tables import Cell, Column, Row, Table, estimate_cell
from common.tables.numerals import with_interval, written, written_p
from leaderboard.answers.metric_pair import ComparedLevel, DifferenceOfPair, MetricPair
from leaderboard.board_text import design_text
from leaderboard.estimate_cells import COEFFICIENT_NAMES, COEFFICIENTS
from leaderboard.figures import Figure
from leaderboard.figures.forest import ForestRow, forest
from leaderboard.pages.metric_pair.query import DriverText
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


def _levels(document: MetricPair) -> list[tuple[str, ComparedLevel]]:
    """From the turn to the system: PostgreSQL keeps a stored answer's keys in an order of its
    own."""
    return [(level, document.levels[level]) for level in LEVELS]


def verdicts(document: MetricPair, coefficient: str) -> list[Verdict]:
    """A sentence a level."""
    return [_verdict(document, level, found, coefficient) for level, found in _levels(document)]


def _verdict(document: MetricPair, level: str, found: ComparedLevel, coefficient: str) -> Verdict:
    if not found.coefficients:
        return Verdict(level, f"not compared: {found.reason}.")
    numbers = found.coefficients[coefficient]
    difference = numbers.difference
    if difference.value is None:
        return Verdict(level, f"not compared: {difference.reason}.")
    first, second = document.names
    ahead, behind = (first, second) if difference.value >= 0 else (second, first)
    distance, ci = abs(difference.value), (difference if difference.value >= 0 else -difference).ci
    decimals = _decimals(distance)
    gap = f"{SYMBOLS[coefficient]} higher by {with_interval(distance, ci, decimals)}"
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


def _population(found: ComparedLevel, test: str) -> str:
    """Of what the difference is said: it may hold for these systems and not be known of others."""
    return f", for {found.population}" if TEST_NAMES[found.advised] == test else ""


FEWEST_DECIMALS, MOST_DECIMALS = 2, 4


def _decimals(gap: float) -> int:
    """Two, or as many, up to four, as show that there is a gap: "higher by 0.00, p < 0.001" reads
    like a mistake."""
    decimals = range(FEWEST_DECIMALS, MOST_DECIMALS + 1)
    return next((places for places in decimals if round(gap, places) > 0), FEWEST_DECIMALS)


def _main_test(found: ComparedLevel, numbers: DifferenceOfPair) -> tuple[str, float | None]:
    """(its name, p) of the advised test, else of PERM-BOTH or PERM-SYS: the jackknife tests are of
    Pearson's r; or (why there is none, None)."""
    reason = "there is no test"
    for key in dict.fromkeys((found.advised, "perm-both", "perm-sys")):
        tested = numbers.tests.get(key)
        if tested and tested.is_defined:
            return TEST_NAMES[key], tested.value
        if tested and reason == "there is no test":
            reason = tested.reason
    return reason, None


def comparison_table(document: MetricPair, updated: datetime | None) -> Table:
    """One row a level and coefficient."""
    first, second = document.names
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
        if found.coefficients
    ]
    return Table(
        "metric-comparison",
        f"{first} and {second}, {document.corpus}, aspect {document.aspect}",
        columns,
        tuple(rows),
        notes=_notes(document),
        signature=signature(document),
        updated=updated,
    )


def signature(document: MetricPair) -> str:
    first, second = document.names
    return (
        f"metrics:{first}+{second}|corpus:{document.corpus}|"
        f"corpus_version:{document.corpus_version}|aspect:{document.aspect}|"
        f"systems:{document.systems_chosen}|resamples:{document.resamples}|"
        f"permutations:{document.permutations}|seed:{document.seed}"
    )


def _row(level: str, found: ComparedLevel, name: str, symbol: str) -> Row:
    numbers = found.coefficients[name]
    scope = f"these {found.n:,} systems, new dialogues" if level == "system" else ""
    cells = {
        "level": Cell(level),
        "coefficient": Cell(f"{COEFFICIENT_NAMES[name]}, {symbol}"),
        "n": Cell(found.n),
        "first": estimate_cell(numbers.first, generalises_to=scope),
        "second": estimate_cell(numbers.second, generalises_to=scope),
        "difference": estimate_cell(numbers.difference, generalises_to=scope),
    }
    untested = "" if numbers.tests else numbers.difference.reason
    for key in TEST_NAMES:
        missing = Estimate.undefined(untested or why_not_tested(key, level, name))
        cells[key] = estimate_cell(numbers.tests.get(key, missing), note=_fewest(found, key))
    if found.advised in numbers.tests:
        note = f"{TEST_NAMES[found.advised]}; speaks of {found.population}"
        cells["p"] = estimate_cell(numbers.tests[found.advised], note=note)
    else:
        cells["p"] = Cell(reason=untested or RANKS_NOT_ADVISED)
    return Row(f"{level}-{name}", cells)


def why_not_tested(test: str, level: str, coefficient: str) -> str:
    if test == "williams" and level != "system":
        return "its pairs are not independent here"
    if test == "jackknife-both" and level == "system":
        return "it is of single items"
    return "the test is of Pearson's r" if coefficient != "pearson" else "not tested"


def _fewest(found: ComparedLevel, test: str) -> str:
    """With few units to swap p cannot be small, whatever the difference."""
    unit = {"perm-sys": "systems", "perm-input": "dialogues"}.get(test)
    if unit is None or (groups := found.groups[unit]) > 6:
        return ""
    return f"with {groups} {unit} to swap p is never below {written(2.0 ** (1 - groups), 3)}"


def _notes(document: MetricPair) -> tuple[str, ...]:
    turned = [one.metric for one in document.metrics if not one.higher_is_better]
    notes = [
        (
            "Only what both metrics and people scored is compared, so a coefficient may differ a "
            "little from that of the leaderboard. Tests are two-sided; those by swaps (PERM) "
            f"from {document.permutations} permutations (seed {document.seed})."
        ),
        *((f"{design}.",) if (design := design_text(document.design)) else ()),
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


def _methods(document: MetricPair) -> list[str]:
    """Which test stands under p, and what it speaks of."""
    found: dict[str, list[str]] = {}
    for level, one in _levels(document):
        if one.coefficients:
            found.setdefault(f"{one.method}. It speaks of {one.population}", []).append(level)
    return [f"p at {' and '.join(levels)} level: {words}." for words, levels in found.items()]


def difference_figure(document: MetricPair, coefficient: str) -> Figure:
    """The difference at each level, with its interval; at zero the two are equal."""
    first, second = document.names
    rows = [
        ForestRow(f"{level} level", _difference_at(found, coefficient), note=f"n = {found.n}")
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


def _difference_at(found: ComparedLevel, coefficient: str) -> Estimate:
    if not found.coefficients:
        return Estimate.undefined(found.reason)
    return found.coefficients[coefficient].difference


def drivers_table(document: MetricPair, side: str, rows: list[DriverText]) -> Table:
    """The driving items of a side as a file: the page shows them as cards."""
    first, second = document.names
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
                "human": Cell(one.scores.human),
                "first": Cell(one.scores.first),
                "second": Cell(one.scores.second),
                "human_z": Cell(one.scores.human_z),
                "first_z": Cell(one.scores.first_z),
                "second_z": Cell(one.scores.second_z),
                "share": Cell(one.scores.share),
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
