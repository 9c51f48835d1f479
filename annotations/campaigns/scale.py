"""The scale and the axes that a campaign starts from. Pure: no Django here.

ComperDial (Wakaki et al. 2024, section 3.2.3 and appendix A.7): one overall score from 1 to 5 for
humanlike quality, and six axes that give the reasons of a low one. The questions are our own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LOWEST, HIGHEST = 1, 5
HIGHEST_WIDTH = HIGHEST - LOWEST
"""From one end of the scale to the other: no interval need be wider."""
HIGHEST_RATING_WIDTH = 4000
"""Of pairs, in points of the rating (400 are odds of 10)."""
SCORES = tuple(range(LOWEST, HIGHEST + 1))
DEFAULT_LABELS = ("very bad", "rather bad", "neither good nor bad", "fairly good", "very good")


@dataclass(frozen=True, slots=True)
class Axis:
    """A reason for a low score. ``key`` stands in forms and files, ``name`` and ``question`` on the
    page."""

    key: str
    name: str
    question: str

    def as_json(self) -> dict[str, Any]:
        return {"key": self.key, "name": self.name, "question": self.question}


DEFAULT_AXES = (
    Axis("fluency", "fluency", "Is the wording natural and easy to follow?"),
    Axis(
        "consistency", "consistency", "Does it fit what was said before, without contradicting it?"
    ),
    Axis("coherence", "coherence", "Does it answer what the partner has just said?"),
    Axis("engagingness", "engagingness", "Does it show interest and make one want to go on?"),
    Axis("persona_consistency", "persona consistency", "Does it fit the persona of the speaker?"),
    Axis("humanness", "humanness", "Could a person have said it?"),
)
DEFAULT_THRESHOLD = 3
"""Axes are asked for scores below this."""


def default_labels() -> list[str]:
    return list(DEFAULT_LABELS)


def default_axes() -> list[dict[str, Any]]:
    return [axis.as_json() for axis in DEFAULT_AXES]
