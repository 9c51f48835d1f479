"""What is stored of case studies: single responses with all their scores on one scale."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.answers import LeftOut, NoneLeftOut, OfCorpus


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScore:
    """``share``: 0 for the worst score of the corpus, 1 for the best. ``rank_share``: its rank, the
    best one last, divided by their number. ``reason``: why there is no share."""

    score: float | None
    share: NoneLeftOut[float | None] = None
    rank_share: NoneLeftOut[float | None] = None
    reason: LeftOut[str] = ""

    def on_scale(self, low: float, high: float) -> float | None:
        return None if self.share is None else low + (high - low) * self.share


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``position``: of the dialogue. ``context``: (speaker, text), of which ``earlier`` utterances
    are left out. ``scores``: of people, then of ``CaseStudy.metrics``."""

    dialogue: str
    position: int
    turn: int
    system: str
    context: tuple[tuple[str, str], ...]
    earlier: LeftOut[int] = 0
    references: tuple[str, ...]
    response: str
    scores: tuple[CaseScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMetric:
    metric: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerDialogue:
    """A system's dialogue that people rate lower as a ``whole`` than its ``turns`` on average.
    ``position``: of the dialogue."""

    dialogue: str
    position: int
    system: str
    turns: float
    whole: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStudy(OfCorpus):
    """``of``: how many responses people rated. ``reason``: why there are no ``cases``. ``lower``:
    the first of ``lower_count`` dialogues, of ``wholes`` that people rated."""

    aspect: str
    seed: int
    of: int
    metrics: tuple[CaseMetric, ...] = ()
    cases: tuple[Case, ...] = ()
    reason: LeftOut[str] = ""
    lower: LeftOut[tuple[LowerDialogue, ...]] = ()
    lower_count: LeftOut[int] = 0
    wholes: LeftOut[int] = 0
