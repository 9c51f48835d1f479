"""Programs that rate like people do: they agree in the main, and differ in strictness, care and use
of the scale.

They exist so that the demo corpus has ratings to show. They measure nothing about any system, and
every record they make says that it is simulated. A rating has two parts. ``quality_of_response``
reads features of a text and says how good it is on the whole, the same for every rater. Each rater
then sees that quality with a severity, a spread and a noise of their own and rounds it to the
scale. A system's name or kind is never read; only that a text was written by a person, for then it
is taken to be good.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

LOWEST, HIGHEST = 1, 5
MIDDLE = (LOWEST + HIGHEST) / 2
RATERS_PER_ITEM = 3


@dataclass(frozen=True, slots=True)
class ResponseFeatures:
    """What the simulated raters see of a response. Cosines are of sentence vectors, in −1..1.

    ``relevance``: cosine with the utterance that it answers. ``persona_use``: largest cosine with a
    line of the speaker's own persona. ``words``: its length. ``copied``: share of its words, 0..1,
    that the utterance before it has in the same order. ``repeated``: share of the system's other
    responses in the dialogue, 0..1, that are the same text. ``written_by_person``: a person wrote
    it for this very place.
    """

    relevance: float
    persona_use: float
    words: int
    copied: float
    repeated: float
    written_by_person: bool


@dataclass(frozen=True, slots=True)
class SimulatedRater:
    """``severity`` is taken off every score; ``spread`` stretches (>1) or shrinks (<1) differences
    around the middle of the scale; ``noise`` is the standard deviation of what this rater alone
    sees in an item."""

    name: str
    severity: float
    spread: float
    noise: float


PANEL = (
    SimulatedRater("simulated rater 1", severity=0.0, spread=1.0, noise=0.8),
    SimulatedRater("simulated rater 2", severity=0.5, spread=1.1, noise=0.85),
    SimulatedRater("simulated rater 3", severity=-0.4, spread=0.8, noise=0.8),
    SimulatedRater("simulated rater 4", severity=0.2, spread=1.25, noise=0.95),
    SimulatedRater("simulated rater 5", severity=-0.2, spread=0.65, noise=0.85),
    SimulatedRater("simulated rater 6", severity=0.1, spread=1.0, noise=1.2),
)


def quality_of_response(features: ResponseFeatures, seed: str) -> float:
    """The quality that all raters share, about 1..5. ``seed`` names the response: a part of what
    makes a text good is in none of the features, and it is drawn here once for all raters."""
    unseen = random.Random(f"quality {seed}").gauss(0.0, 1.0)
    if features.written_by_person:
        return 4.0 + 0.6 * features.relevance + 0.5 * unseen
    # An answer of one breath costs nothing; a stub or a speech up to one point.
    words = features.words
    length_penalty = 0.15 * (6 - words) if words < 6 else min(1.0, 0.03 * max(words - 40, 0))
    return (
        1.1
        + 3.2 * max(features.relevance, 0.0)
        + 2.4 * max(features.persona_use, 0.0)
        - 4.2 * features.copied
        - 1.2 * features.repeated
        - length_penalty
        + 0.5 * unseen
    )


def quality_of_dialogue(qualities: Sequence[float], repeated: float, seed: str) -> float:
    """The quality of a system's responses in one dialogue: their mean, drawn towards the worst, and
    less where it repeats itself (``repeated``: mean share of same texts, 0..1). Raises
    ``ValueError`` where there are none."""
    if not qualities:
        raise ValueError("a dialogue without responses has no quality")
    unseen = random.Random(f"quality {seed}").gauss(0.0, 0.25)
    return 0.8 * fmean(qualities) + 0.2 * min(qualities) - 0.5 * repeated + unseen


def score_prefix(rater: SimulatedRater, quality: float, seed: str) -> int:
    """The whole number on the scale that ``rater`` gives to an item. The same seed, the same
    score."""
    seen = quality + random.Random(f"{rater.name} {seed}").gauss(0.0, rater.noise)
    score = MIDDLE + rater.spread * (seen - MIDDLE) - rater.severity
    return max(LOWEST, min(HIGHEST, round(score)))


def raters_of_items(
    items: int, seed: int, panel: Sequence[SimulatedRater] = PANEL
) -> list[tuple[SimulatedRater, ...]]:
    """Who rates each item: three of the panel, every trio equally often, so that every two raters
    share items."""
    trios = list(combinations(panel, RATERS_PER_ITEM))
    rounds = -(-items // len(trios))
    chance = random.Random(f"raters {seed}")
    return [trio for _ in range(rounds) for trio in chance.sample(trios, len(trios))][:items]
