"""What is stored of how far a metric stands in for ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from common.estimates import Estimate
from leaderboard.answers import OfCorpus, SystemName


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredSystem(SystemName):
    """Its mean from the ratings alone, and with the metric. ``tuning``: how far the metric is used,
    0 not at all, 1 fully. ``gain`` = (width alone / width with the metric)²: how many times as many
    ratings the interval is worth."""

    rated: int
    unrated: int
    dialogues_rated: int
    dialogues: int
    ratings_alone: Estimate
    powered: Estimate
    tuning: Annotated[float, Field(alias="lambda")]
    gain: Estimate
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemWidths:
    """None where no draw has enough of the system's dialogues."""

    position: int
    width_alone: float | None
    width: float | None
    gain: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """With so many rated dialogues: mean widths of intervals over draws and systems."""

    dialogues: int
    width_alone: float
    width: float
    gain: float
    systems: tuple[SystemWidths, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPowered(OfCorpus):
    """``reason``: why the metric cannot help, else ""."""

    aspect: str
    metric: str
    signature: str
    higher_is_better: bool
    level: str
    method: str
    draws: int
    seed: int
    reason: str
    systems: tuple[PoweredSystem, ...]
    what_if: tuple[WhatIf, ...]
