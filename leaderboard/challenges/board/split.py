"""Which dialogues the public leaderboard counts, and which the private one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
PartName = Literal["public", "private"]
PARTS: tuple[PartName, ...] = ("public", "private")


@dataclass(frozen=True)
class Part:
    """The dialogues that a board counts, in the corpus's order; where it counts none, why."""

    counted: BoolArray
    reason: str = ""

    @property
    def is_everything(self) -> bool:
        return bool(self.counted.all()) and len(self.counted) > 0


@dataclass(frozen=True)
class Split:
    public: Part
    private: Part

    def part(self, name: PartName) -> Part:
        return self.public if name == "public" else self.private


def split_dialogues(dialogue_ids: Sequence[str], share: float, seed: int) -> Split:
    """Divide the dialogues: ``share`` of them, rounded, to the public leaderboard, the others to
    the     private one.

    Where ``share`` lies between 0 and 1 each side has at least one dialogue; a corpus of one
    dialogue cannot be divided so, and the public leaderboard then counts nothing. With a share of 1
    both
    boards count everything; with 0 the public one counts nothing and the private one everything.

    The draw is a rule that anybody can repeat with a seed and the ids: the dialogues whose SHA-256
    of ``seed|id`` comes first are public. Raises ``ValueError`` for a share outside 0..1 and for an
    id that comes twice.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"a share lies between 0 and 1, not at {share}")
    if len(set(dialogue_ids)) != len(dialogue_ids):
        raise ValueError("a dialogue has its id alone")
    count = len(dialogue_ids)
    everything, nothing = np.ones(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    if count == 0:
        return Split(*2 * (Part(nothing, "the corpus has no dialogues"),))
    if share == 1.0:
        return Split(Part(everything), Part(everything))
    if share == 0.0:
        return Split(
            Part(nothing, "this round shows no scores before the release"), Part(everything)
        )
    if count == 1:
        return Split(
            Part(nothing, "the corpus has one dialogue, which cannot be divided"), Part(everything)
        )
    public = nothing.copy()
    public[_drawn(dialogue_ids, seed)[: public_count(count, share)]] = True
    return Split(Part(public), Part(~public))


def public_count(dialogues: int, share: float) -> int:
    """How many of 2 or more dialogues the public leaderboard counts for a share between 0 and 1:
        half a
    dialogue is rounded up, and each side keeps one."""
    return min(max(int(share * dialogues + 0.5), 1), dialogues - 1)


def _drawn(dialogue_ids: Sequence[str], seed: int) -> list[int]:
    """The places of the dialogues in the order in which they are drawn."""
    order = [
        hashlib.sha256(f"{seed}|{one}".encode("utf-8", "surrogatepass")).digest()
        for one in dialogue_ids
    ]
    return sorted(range(len(dialogue_ids)), key=lambda place: order[place])
