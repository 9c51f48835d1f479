"""From stored answers to the heat map of metrics and the tables beneath it."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from django.urls import reverse
from django.utils.http import urlencode

from common.estimates import Estimate
from common.tables import Cell, Column, Row, Table, estimate_cell
from common.tables.numerals import written
from leaderboard.answers.metrics import MetricComparisons, MetricsAmongThemselves
from leaderboard.pages.maps.heat_figure import HeatTable, correlation_heat, significance_heat

COEFFICIENT_LABELS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ-b",
}
Order = Literal["similar", "name"]
ITEMS = {"turn": "responses", "dialogue": "dialogues of a system", "system": "systems"}
SIGNIFICANT = 0.05
NOT_TESTED = "the two metrics could not be tested against each other"
NAMED = 3


class Correlations:
    """The stored correlations between metrics, at one level and by one coefficient."""

    def __init__(
        self, document: MetricsAmongThemselves, level: str, coefficient: str, **asked: Any
    ) -> None:
        """``asked``: what addresses of comparisons carry beside the two metrics (aspect,
        version)."""
        self.document, self.level, self.coefficient, self.asked = (
            document,
            level,
            coefficient,
            urlencode(asked),
        )
        found = document.levels[level]
        self.names = {number: document.metrics[number].metric for number in found.metrics}
        self.similar = found.order[coefficient]
        self.pairs = {
            (pair.first, pair.second): (pair.of(coefficient), pair.n) for pair in found.pairs
        }

    @property
    def signature(self) -> str:
        document = self.document
        return (
            f"{document.corpus} {document.corpus_version}, systems:{document.systems_chosen}, "
            f"{self.level} level, {document.resamples} draws of dialogues, seed {document.seed}"
        )

    def between(self, one: int, other: int) -> tuple[Estimate, int]:
        return self.pairs.get((one, other)) or self.pairs[(other, one)]

    def heat(self, order: Order) -> HeatTable:
        words = COEFFICIENT_LABELS[self.coefficient]
        by_name = sorted(self.names, key=lambda number: self.names[number].casefold())
        counts = [n for _, n in self.pairs.values()]
        return correlation_heat(
            self.names,
            self.similar if order == "similar" else by_name,
            self.pairs,
            heat_id="metric-heat-map",
            coefficient=words,
            caption=f"{words} between {len(self.names)} metrics, {self.level} level, n = "
            f"{_range(counts)} {ITEMS[self.level]} that both scored.",
        )

    def nearest(self) -> Table:
        """Each metric's nearest, and the one that is least like it."""
        columns = [Column("metric", "metric")]
        for place in range(1, min(NAMED, len(self.names) - 1) + 1):
            group = f"{_ordinal(place)} most similar" if place > 1 else "most similar"
            columns += [
                Column(f"near_{place}", "metric", "link", group=group, detail=place > 1),
                Column(
                    f"r_{place}",
                    COEFFICIENT_LABELS[self.coefficient],
                    "estimate",
                    2,
                    group=group,
                    detail=place > 1,
                ),
            ]
        columns += [
            Column("far", "metric", "link", group="least similar"),
            Column(
                "r_far", COEFFICIENT_LABELS[self.coefficient], "estimate", 2, group="least similar"
            ),
        ]
        rows = tuple(self._nearest_row(number) for number in self.similar)
        return Table(
            "nearest-metrics",
            f"Most and least similar metrics: {COEFFICIENT_LABELS[self.coefficient]}, {self.level} "
            "level",
            tuple(columns),
            rows,
            signature=self.signature,
        )

    def _nearest_row(self, number: int) -> Row:
        others = [(self.between(number, other), other) for other in self.names if other != number]
        defined = [
            (estimate, estimate.value, other)
            for (estimate, _), other in others
            if estimate.value is not None
        ]
        defined.sort(key=lambda one: -one[1])
        cells = {"metric": Cell(self.names[number])}
        shown = [
            (f"near_{place}", f"r_{place}", one)
            for place, one in enumerate(defined[:NAMED], start=1)
        ]
        shown += [("far", "r_far", defined[-1])] if defined else []
        for name_key, value_key, (estimate, _, other) in shown:
            cells[name_key] = Cell(self.names[other], href=self._comparison(number, other))
            cells[value_key] = estimate_cell(estimate)
        return Row(self.names[number], cells)

    @cached_property
    def _comparisons(self) -> str:
        """Found once: of forty metrics the table leads to 160 pairs."""
        return reverse("metric-comparison", args=[self.document.corpus])

    def _comparison(self, one: int, other: int) -> str:
        pair = urlencode({"first": self.names[one], "second": self.names[other]})
        return f"{self._comparisons}?{'&'.join(filter(None, (pair, self.asked)))}"

    def all_pairs(self) -> Table:
        return Table(
            "metric-pairs",
            f"{COEFFICIENT_LABELS[self.coefficient]} between metrics, {self.level} level",
            (
                Column("first", "metric"),
                Column("second", "metric"),
                Column("value", COEFFICIENT_LABELS[self.coefficient], "estimate"),
                Column("n", "n", "number", decimals=0),
            ),
            tuple(
                Row(
                    f"{first}-{second}",
                    {
                        "first": Cell(self.names[first]),
                        "second": Cell(self.names[second]),
                        "value": estimate_cell(estimate),
                        "n": Cell(n),
                    },
                )
                for (first, second), (estimate, n) in self.pairs.items()
            ),
            signature=self.signature,
        )


class Comparisons:
    """The stored tests of differences between metrics, at one level and in one coefficient."""

    def __init__(self, document: MetricComparisons, level: str, coefficient: str) -> None:
        self.document, self.level, self.coefficient = document, level, coefficient
        found = document.coefficients[coefficient]
        self.names, self.undefined, self.tests = document.metrics, found.undefined, found.pairs
        # What is undefined is no test: it counts for nobody, and not among those that are corrected
        # for.
        self.pairs = {
            (one.first, one.second): (one.difference, one.p_holm)
            for one in self.tests
            if one.difference is not None and one.p_holm is not None
        }

    @property
    def signature(self) -> str:
        document = self.document
        parts = [
            document.method,
            f"systems:{document.systems_chosen}" if document.systems_chosen else "",
            f"{document.permutations} permutations",
            f"seed {document.seed}",
        ]
        return ", ".join(part for part in parts if part)

    def lead(self, number: int) -> float:
        """Greater for metrics that follow people better: the sum of the differences to all
        others."""
        return sum(
            difference if first == number else -difference
            for (first, second), (difference, _) in self.pairs.items()
            if number in (first, second)
        )

    def order(self, order: Order) -> list[int]:
        numbers = range(len(self.names))
        if order == "name":
            return sorted(numbers, key=lambda number: self.names[number].casefold())
        return sorted(
            numbers, key=lambda number: (self.names[number] in self.undefined, -self.lead(number))
        )

    def heat(self, order: Order) -> HeatTable:
        words = COEFFICIENT_LABELS[self.coefficient]
        return significance_heat(
            self.names,
            self.order(order),
            self.pairs,
            heat_id="metric-heat-map",
            coefficient=words,
            caption="Does the metric of the row correlate better with human ratings than that of "
            f"the column? p of the difference in {words}, {self.level} level, Holm's "
            f"correction for {len(self.pairs)} tests; empty where it does not lead.",
            undefined=self.undefined,
        )

    def standings(self) -> Table:
        """Of each metric, how many it is significantly better than, and how many are better than
        it."""
        rows = []
        for number in self.order("similar"):
            name = self.names[number]
            better, worse = self._beaten(number, 1), self._beaten(number, -1)
            reason = self.undefined.get(name, "")
            counts = {"better": Cell(len(better)), "worse": Cell(len(worse))}
            open_tests = sum(number in pair for pair in self.pairs) - len(better) - len(worse)
            cells = {
                "metric": Cell(name),
                **counts,
                "open": Cell(open_tests),
                "beats": Cell(", ".join(better)),
            }
            if reason:
                cells = {
                    "metric": Cell(name),
                    **{key: Cell(reason=reason) for key in ("better", "worse", "open", "beats")},
                }
            rows.append(Row(name, cells))
        return Table(
            "metric-standings",
            f"Metrics that are better than others, {COEFFICIENT_LABELS[self.coefficient]}, "
            f"{self.level} level",
            (
                Column("metric", "metric"),
                Column(
                    "better",
                    "better than",
                    "number",
                    0,
                    help="metrics, with p < 0.05 after Holm's correction",
                ),
                Column("worse", "worse than", "number", 0),
                Column("open", "is not significantly different from", "number", 0),
                Column("beats", "better than these"),
            ),
            tuple(rows),
            signature=self.signature,
        )

    def _why_not(self, *numbers: int) -> str:
        reasons = [
            self.undefined[self.names[number]]
            for number in numbers
            if self.names[number] in self.undefined
        ]
        return reasons[0] if reasons else NOT_TESTED

    def _beaten(self, number: int, direction: int) -> list[str]:
        found = []
        for (first, second), (difference, p) in self.pairs.items():
            if number in (first, second) and p < SIGNIFICANT:
                lead = difference if first == number else -difference
                if lead * direction > 0:
                    found.append(self.names[second if first == number else first])
        return found

    def all_pairs(self) -> Table:
        return Table(
            "metric-pairs",
            f"Differences in {COEFFICIENT_LABELS[self.coefficient]} between metrics, {self.level} "
            "level",
            (
                Column("first", "metric"),
                Column("second", "metric"),
                Column("difference", "first − second", "number"),
                Column("p", "p", "p"),
                Column("p_holm", "p (Holm)", "p"),
                Column("p_bh", "p (BH)", "p"),
            ),
            tuple(
                Row(
                    f"{one.first}-{one.second}",
                    {
                        "first": Cell(self.names[one.first]),
                        "second": Cell(self.names[one.second]),
                        **{
                            key: Cell(
                                value,
                                reason=""
                                if value is not None
                                else self._why_not(one.first, one.second),
                            )
                            for key, value in (
                                ("difference", one.difference),
                                ("p", one.p),
                                ("p_holm", one.p_holm),
                                ("p_bh", one.p_bh),
                            )
                        },
                    },
                )
                for one in self.tests
            ),
            signature=self.signature,
        )


def _range(counts: list[int]) -> str:
    if not counts:
        return "0"
    low, high = min(counts), max(counts)
    return written(low, 0) if low == high else f"{written(low, 0)} to {written(high, 0)}"


def _ordinal(place: int) -> str:
    return {2: "second", 3: "third"}.get(place, f"{place}th")
