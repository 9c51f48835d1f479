"""What is stored of how far raters agree, of a corpus and of a campaign."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotations.agreement.by_question import QuestionAgreement
from annotations.agreement.cohen import PairKappa, Weighting
from annotations.agreement.report import AgreementReport
from annotations.agreement.score_use import ScoreUse
from common.estimates import Estimate
from leaderboard.answers import LeftOut, WithIntervals


@dataclass(frozen=True, kw_only=True)
class Agreement(WithIntervals, AgreementReport):
    aspect: str
    level: str
    score_use: ScoreUse


@dataclass(frozen=True, kw_only=True)
class CorpusAgreement(Agreement):
    """``all_pairs``: of raters, for files and the API; pages read the answer without them, and have
    the ``agreement_pairs.PAIRS_SHOWN`` with most items in common under each κ."""

    all_pairs: LeftOut[dict[Weighting, tuple[PairKappa, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCount:
    level: float
    ratings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemAgreement:
    """``rated`` of ``items`` have a rating. ``mean``: None where nobody rated. ``alpha``:
    Krippendorff's, ordinal."""

    system: str
    items: int
    rated: int
    ratings: int
    mean: float | None
    alpha: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class WidestDisagreement:
    """``position``: of the dialogue; ``spread``: highest minus lowest of the ``scores``, by
    rater."""

    dialogue: str
    position: int
    turn: int | None
    system: str
    spread: float
    scores: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class CampaignAgreement(Agreement):
    """``questions``: of a campaign with a form. ``widest``: the items on which raters differ
    most."""

    campaign: str
    systems: tuple[str, ...]
    excluded_raters: bool
    questions: LeftOut[tuple[QuestionAgreement, ...]] = ()
    distribution: tuple[ScoreCount, ...]
    by_system: tuple[SystemAgreement, ...]
    widest: tuple[WidestDisagreement, ...]
