"""Small made-up campaigns: a system's quality and a dialogue's ease show in every score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Campaign:
    human: NDArray[np.float64]
    metrics: NDArray[np.float64]
    system: NDArray[np.int64]
    dialogue: NDArray[np.int64]
    systems: int
    dialogues: int


def campaign(systems=8, dialogues=10, turns=4, metrics=3, seed=0, spread=1.0):
    """Whole-number ratings 1..5; metrics that see them through noise, one of them rounded so that
    it has ties."""
    random = np.random.default_rng(seed)
    system = np.repeat(np.arange(systems), dialogues * turns)
    dialogue = np.tile(np.repeat(np.arange(dialogues), turns), systems)
    quality = (
        np.linspace(-spread, spread, systems)[system]
        + random.normal(scale=0.5, size=dialogues)[dialogue]
    )
    human = np.clip(np.round(3 + quality + random.normal(scale=0.8, size=len(system))), 1, 5)
    scores = human + random.normal(scale=2.0, size=(metrics, len(system)))
    scores[-1] = np.round(scores[-1])
    return Campaign(human, scores, system, dialogue, systems, dialogues)
