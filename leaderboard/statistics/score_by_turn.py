"""Position: do a judge's scores move along a dialogue in another way than people's?

A judge of single responses is shown one answer, not two: there is no order of alternatives to
prefer (Wang et al. 2023, "Large Language Models are not Fair Evaluators"). What position can do
here is the place of the turn: later turns come with a longer history, and so with a longer prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from common.estimates import Estimate, Undefined
from leaderboard.statistics.placed_scores import FloatArray, IntArray
from leaderboard.statistics.standardised_gaps import mean_gap, standardised_gaps


@dataclass(frozen=True, slots=True)
class AtTurn:
    """A judge's and the human scores at one turn number."""

    number: int
    n: int
    """Responses at turns of this number with both scores."""
    judge: float
    human: float
    """Means over these, each on its own scale."""
    gap: Estimate
    """Mean of z(judge) − z(people), in standard deviations, 95 % interval over dialogues. 0: as
    people do."""


def by_turn_number(
    judge: FloatArray,
    human: FloatArray,
    number: IntArray,
    dialogue: IntArray,
    resamples: int = 1000,
    seed: int = 0,
) -> list[AtTurn] | Undefined:
    """How a judge's scores differ from human scores at each turn number.

    Args:
        judge: (n,) scores, NaN where there is none.
        human: (n,) scores, NaN where there is none.
        number: (n,) turn numbers.
        dialogue: (n,) numbers.
        resamples: bootstrap draws of dialogues; 0: no intervals.
        seed: of the draws.

    Returns:
        One entry per turn number at which a response has both scores, ascending. Undefined with
        fewer than 2 responses with both scores, and where the human scores or the judge's are
        constant.
    """
    gaps = standardised_gaps(judge, human)
    if isinstance(gaps, Undefined):
        return gaps
    both = np.isfinite(gaps.value)
    found = []
    for turn in np.unique(number[both]):
        here = both & (number == turn)
        found.append(
            AtTurn(
                number=int(turn),
                n=int(here.sum()),
                judge=float(judge[here].mean()),
                human=float(human[here].mean()),
                gap=mean_gap(gaps, here, dialogue, resamples, seed),
            )
        )
    return found
