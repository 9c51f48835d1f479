"""What is stored of metrics: how far each agrees with people, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from common.estimates import Estimate, OwnJson
from leaderboard.answers import LeftOut, OfCorpus, Submission, WithIntervals
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.design import Kind
from leaderboard.statistics.distribution import Summary


class ByCoefficient:
    """What has the fields ``pearson``, ``spearman`` and ``kendall``."""

    __slots__ = ()

    def of(self, name: str) -> Estimate:
        found: Estimate = getattr(self, name)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients(ByCoefficient):
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Averages(Coefficients):
    """Each coefficient's mean over so many ``groups``; ``defined``: in how many it is, by its
    name."""

    groups: int
    defined: dict[str, int]


@dataclass(frozen=True, slots=True)
class TieCalibratedAccuracy(OwnJson):
    """``epsilon``: the threshold for ties that suits the metric best."""

    accuracy: Estimate
    epsilon: float | None
    groups: int
    pairs: int

    def as_json(self) -> dict[str, Any]:
        """With the accuracy's own keys."""
        return {
            **self.accuracy.as_json(),
            "epsilon": self.epsilon,
            "groups": self.groups,
            "pairs": self.pairs,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> TieCalibratedAccuracy:
        accuracy = Estimate.from_json(document)
        return cls(accuracy, document["epsilon"], document["groups"], document["pairs"])


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationRow(ByCoefficient):
    """One metric at one level. ``n``: pairs; ``coverage``: the share of what people rated that has
    a score, None where nobody rated anything. Accuracies are of the levels that have them.
    ``generalises_to``: what the intervals speak of, at system level; ``worth``: what is known of a
    judge; ``warning``: what the metric cannot read."""

    metric: str
    signature: str
    level: CeilingLevel
    n: int
    coverage: float | None
    higher_is_better: bool
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    note: LeftOut[str] = ""
    worth: LeftOut[str] = ""
    submitted: LeftOut[Submission | None] = None
    per_dialogue: LeftOut[Averages | None] = None
    per_system: LeftOut[Averages | None] = None
    per_input: LeftOut[Averages | None] = None
    tie_calibrated_accuracy: LeftOut[TieCalibratedAccuracy | None] = None
    pairwise_accuracy: LeftOut[Estimate | None] = None
    soft_pairwise_accuracy: LeftOut[Estimate | None] = None
    attenuation_corrected: LeftOut[Coefficients | None] = None
    generalises_to: LeftOut[str] = ""
    warning: LeftOut[str] = ""

    def variant(self, name: str) -> Coefficients | None:
        """Of averages or corrected coefficients, by their name; None where not computed."""
        found: Coefficients | None = getattr(self, name)
        return found

    def accuracy(self, name: str) -> Estimate | None:
        """By its name; None at levels that have no such accuracy."""
        found: Estimate | TieCalibratedAccuracy | None = getattr(self, name)
        return found.accuracy if isinstance(found, TieCalibratedAccuracy) else found


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleCoefficients(OwnJson, Coefficients):
    """Of people's own scores at one level."""

    @classmethod
    def undefined(cls, reason: str) -> PeopleCoefficients:
        nothing = Estimate.undefined(reason)
        return cls(pearson=nothing, spearman=nothing, kendall=nothing)

    def as_json(self) -> dict[str, Any]:
        """Bare values, and beside them all intervals, by coefficient."""
        found = {"pearson": self.pearson, "spearman": self.spearman, "kendall": self.kendall}
        values = {
            name: one.as_json() if one.value is None else one.value for name, one in found.items()
        }
        intervals = {name: list(one.ci) for name, one in found.items() if one.ci}
        without = {
            name: one.reason
            for name, one in found.items()
            if one.is_defined and not one.ci and one.reason
        }
        return {
            **values,
            **({"ci": intervals} if intervals else {}),
            **({"ci_reason": without} if without else {}),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> PeopleCoefficients:
        def one(name: str) -> Estimate:
            value = document[name]
            if isinstance(value, dict):
                return Estimate.from_json(value)
            ci = document.get("ci", {}).get(name)
            reason = document.get("ci_reason", {}).get(name, "")
            return Estimate(value, (ci[0], ci[1]) if ci else None, reason=reason)

        return cls(pearson=one("pearson"), spearman=one("spearman"), kendall=one("kendall"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """For a thousand of the ``responses`` that it scored."""

    seconds_per_1000: Estimate
    tokens_per_1000: Estimate
    usd_per_1000: Estimate
    device: str
    responses: int

    def of(self, name: str) -> Estimate:
        found: Estimate = getattr(self, name)
        return found


PeopleByLevel = Mapping[str, PeopleCoefficients]
BASELINE = "response_length"
"""The metric that is the trivial baseline of leaderboards, with its defaults: a row of its own, and
no metric among the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCorrelations(WithIntervals):
    """``interval``: by level, how intervals are made and what they speak of. Of people, by level:
    the ceiling of a correlation, the reliability of the mean rating, and leave-one-out agreement.
    ``baseline``: of response length, by level, apart from the metrics, which alone are ranked and
    tested. ``cost``: by metric. ``data_slice``: KEY:VALUE; "" for all conversations."""

    aspect: str
    systems: tuple[str, ...]
    systems_chosen: str
    data_slice: LeftOut[str] = ""
    design: Kind
    interval: Mapping[str, str]
    rows: tuple[CorrelationRow, ...]
    baseline: LeftOut[tuple[CorrelationRow, ...]] = ()
    leave_one_out_agreement: PeopleByLevel
    human_ceiling: PeopleByLevel
    """The other's name until 0.2.0; goes with 0.4.0."""
    correlation_ceiling: LeftOut[PeopleByLevel] = field(default_factory=dict)
    reliability: LeftOut[PeopleByLevel] = field(default_factory=dict)
    split_half: LeftOut[PeopleByLevel] = field(default_factory=dict)
    """The other's name until 0.2.0; goes with 0.4.0."""
    cost: LeftOut[dict[str, Cost]] = field(default_factory=dict)

    @property
    def levels(self) -> list[str]:
        return list(self.leave_one_out_agreement)

    def rows_of(self, metric: str) -> list[CorrelationRow]:
        """Of each level; of ``response_length`` the baseline's."""
        rows = [row for row in self.rows if row.metric == metric]
        return list(self.baseline) if metric == BASELINE and not rows else rows

    def baseline_at(self, level: str) -> CorrelationRow | None:
        """None where nothing is correlated at this level."""
        return next((row for row in self.baseline if row.level == level), None)

    def people(self, statistic: str, level: str, coefficient: str = "pearson") -> Estimate:
        """``statistic``: the field, ``correlation_ceiling``, ``reliability`` or
        ``leave_one_out_agreement``."""
        by_level: PeopleByLevel = getattr(self, statistic)
        if not by_level:
            return Estimate.undefined("not computed yet")
        if level not in by_level:
            return Estimate.undefined(f"nobody rated at the {level} level")
        return by_level[level].of(coefficient)


# --- all pairs of metrics -------------------------------------------------------------------------


class TestedPair(NamedTuple):
    """Two metrics by their index, the first the lower; numbers are None where undefined. The
    difference is of what both scored, metrics whose low scores are good turned round."""

    first: int
    second: int
    difference: float | None
    p: float | None
    p_holm: float | None
    p_bh: float | None
    permutations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsOfMetrics:
    """``alone``: each metric's coefficient on all it scored, turned round likewise, which orders
    the letters; ``groups``: its letters, 0 is "a" (``compact_letters``); ``undefined``: reasons."""

    pairs: tuple[TestedPair, ...]
    alone: dict[str, float | None]
    groups: dict[str, tuple[int, ...]]
    undefined: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparisons(OfCorpus):
    """``coefficients`` and ``not_compared``, with the reason, by coefficient. ``permutations`` is 0
    where the test needs none. ``population``: what a difference is said of."""

    aspect: str
    level: CeilingLevel
    systems: tuple[str, ...]
    systems_chosen: LeftOut[str] = ""
    data_slice: LeftOut[str] = ""
    design: Kind
    metrics: tuple[str, ...]
    coefficients: dict[str, PairsOfMetrics]
    not_compared: dict[str, str]
    test: str
    method: str
    population: str
    permutations: int
    seed: int


# --- metrics beside metrics -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedMetric:
    metric: str
    higher_is_better: bool
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelatedPair(Coefficients):
    """Of two metrics by their index, over what both scored."""

    first: int
    second: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelatedMetrics:
    """Of one level. ``metrics``: indices of those that have scores there; ``order``: the same by
    coefficient, with similar metrics side by side."""

    metrics: tuple[int, ...]
    order: dict[str, tuple[int, ...]]
    pairs: tuple[CorrelatedPair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsAmongThemselves(OfCorpus):
    systems_chosen: str
    design: Kind
    resamples: int
    seed: int
    method: str
    metrics: tuple[NamedMetric, ...]
    levels: dict[str, CorrelatedMetrics]


# --- one metric -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WidestGap:
    """Where it is, by the keys of rows (texts are read when they are shown), and both scores; see
    ``driving_items.Gap``."""

    system: int
    dialogue: int | None
    turn: int | None
    metric: float
    human: float
    metric_z: float
    human_z: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """The most over- and under-rated of ``n``; ``reason``: why nothing is compared, else ""."""

    level: str
    systems_chosen: str
    reason: str
    n: int
    over: tuple[WidestGap, ...]
    under: tuple[WidestGap, ...]

    def of(self, side: str) -> tuple[WidestGap, ...]:
        return self.over if side == "over" else self.under


class ScoredSystem(NamedTuple):
    system: str
    position: int
    score: float | None


class ScoreBin(NamedTuple):
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDistribution:
    """``undefined``, ``remarks``: how often each, the most frequent first."""

    level: str
    systems: tuple[ScoredSystem, ...]
    summary: Summary | None
    bins: tuple[ScoreBin, ...]
    undefined: tuple[tuple[str, int], ...]
    remarks: tuple[tuple[str, int], ...]
