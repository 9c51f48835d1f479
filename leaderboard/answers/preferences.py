"""What is stored of preferences: how systems stand by them, and how far metrics and people agree
with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from common.estimates import Estimate, Undefined
from leaderboard.answers import LeftOut, Submission, SystemName, WithIntervals

QuestionLevel = Literal["turn", "dialogue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceQuestion:
    """What people compared: two responses (turn), or two systems' parts of a dialogue."""

    aspect: str
    level: QuestionLevel
    votes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPreferences(WithIntervals):
    """``questions``: all that the corpus has, those with most votes first. ``votes``: between two
    systems, on the question of this answer; ``both_bad`` of the ``ties`` liked neither.
    ``conversations``, ``raters``: of these votes."""

    aspect: str
    level: QuestionLevel
    questions: tuple[PreferenceQuestion, ...]
    votes: int
    ties: int
    both_bad: int
    conversations: int
    raters: int


# --- systems --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferredSystem(SystemName):
    """``strength``: Bradley–Terry, on the log scale, centred; ``by_rater``: with an interval that
    is clustered by conversation and by rater. ``controlled``: with style held constant. ``rank`` to
    ``worst_rank``: places that the intervals of ``strength`` leave open, ``controlled_rank``, …
    those of ``controlled``. ``groups``: systems that share one are not significantly different.
    ``win_rate``: of its battles; ``average_win_rate``: of its opponents' win rates. ``first``: in
    which share of resamples it comes first. ``davidson``: its strength in Davidson's model."""

    battles: int
    wins: int
    ties: int
    strength: Estimate
    by_rater: Estimate
    controlled: Estimate
    rank: int | None
    worst_rank: int | None
    controlled_rank: int | None
    controlled_worst_rank: int | None
    groups: tuple[int, ...]
    controlled_groups: tuple[int, ...]
    win_rate: Estimate
    average_win_rate: float | Undefined
    first: float | Undefined
    davidson: float | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """Two systems that met, by their places among the answer's systems: the share that the first
    won, ties as half, and p of the test that they are equally strong, adjusted by Holm's method
    (None where there is none)."""

    first: int
    second: int
    battles: int
    win_rate: float
    p_holm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleCoefficient:
    """``effect``: by how much the log odds rise with one standard deviation more of the feature.
    ``unit``: that standard deviation, of relative differences."""

    feature: str
    effect: Estimate
    unit: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceStanding(OfPreferences):
    """``reason``: why there are no strengths; "" where there are. ``slot_share``: won by slot A;
    ``slot``: its log odds beyond what strengths explain, with p. ``triples``: of systems each pair
    of which has a winner, ``cyclic`` ones are circles, such as ``circles``. ``undefined_resamples``
    of ``resamples`` have no strengths. ``nu``: the tendency to tie in Davidson's model.
    ``same_system``: votes between two samples of one system, which are in no other number."""

    reason: LeftOut[str] = ""
    systems: tuple[PreferredSystem, ...]
    meetings: tuple[Meeting, ...]
    slot_share: Estimate
    slot: Estimate
    style: tuple[StyleCoefficient, ...]
    triples: int
    cyclic: int
    circles: tuple[tuple[str, str, str], ...]
    undefined_resamples: int
    nu: float | Undefined
    same_system: int


# --- metrics --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOnPreferences:
    """See ``statistics.preferences.metric_pairs.PairAgreement``. ``coverage``: the share of votes
    whose two responses have a score. ``groups``: metrics that share one are not significantly
    different in accuracy."""

    metric: str
    signature: str
    higher_is_better: bool
    votes: int
    decisive: int
    tied: int
    coverage: float
    accuracy: Estimate
    ties_wrong: Estimate
    ties_left_out: Estimate
    auc: Estimate
    with_ties: Estimate
    calibrated: float | None
    threshold: float | None
    groups: tuple[int, ...] = ()
    submitted: LeftOut[Submission | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOnPreferences:
    """See ``statistics.preferences.vote_agreement.VoteAgreement``."""

    pairs: int
    decisive_pairs: int
    with_ties: Estimate
    without_ties: Estimate
    accuracy: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceMetrics(OfPreferences):
    """``baseline``: response length, neither ranked nor tested. ``not_on_pairs``: metrics that
    score nothing as small as what was compared. ``method``: of the tests behind ``groups``."""

    systems_chosen: str
    people: PeopleOnPreferences
    rows: tuple[MetricOnPreferences, ...]
    baseline: MetricOnPreferences | None
    not_on_pairs: tuple[str, ...] = field(default=())
    method: str = ""
