"""A judge's prompt as a file: read strictly, checked, and known by a digest. Pure.

(The format is described in docs/judges.md; ``read_prompt`` is being written.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Step = Literal["turn", "dialogue"]


@dataclass(frozen=True)
class JudgePromptFile:
    """``labels``: what the answer holds a number for, in order; ``score`` is the one that counts."""

    name: str
    step: Step
    labels: tuple[str, ...]
    score: str
    scale: tuple[int, int]
    """Lowest and highest score: 1 to 5; the original G-EVAL engagingness prompt has 1 to 3."""
    separator: str
    """Between a label and its number in the answer's form, such as ``: `` or `` - ``."""
    begin: str
    """Before a label in the form, such as ``- ``; so an answer that is begun for the model ends ``- Humanness: ``."""
    max_tokens: int
    system: str
    user: str
    digest: str
    """SHA-256 of the canonical text, in hexadecimal; signatures hold its first twelve digits."""

    @property
    def needs_reference(self) -> bool:
        return "{reference}" in self.user + self.system

    @property
    def needs_fact(self) -> bool:
        return "{fact}" in self.user + self.system
