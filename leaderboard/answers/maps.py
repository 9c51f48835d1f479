"""What is stored of maps of responses."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.answers import LeftOut, OfCorpus, SystemName

OnAPlane = tuple[float, float]
"""Across and up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedSystem(SystemName):
    is_gold: bool | None = None
    """None in answers of before it was known: then by its kind."""

    @property
    def repeats_references(self) -> bool:
        return self.kind == "gold" if self.is_gold is None else self.is_gold


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedText:
    """``system``, ``dialogue``: positions; without a system it is a reference. ``cosine``: to the
    reference of its turn."""

    system: int | None
    dialogue: int
    turn: int
    text: str
    pca: OnAPlane
    tsne: OnAPlane
    cosine: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseMap(OfCorpus):
    """``turns`` of ``of_turns`` are drawn. ``reason``: why there are no ``points``, else "".
    ``explained``: shares of the variance of the two principal components."""

    seed: int
    turns: int
    of_turns: int
    systems: tuple[MappedSystem, ...]
    points: tuple[MappedText, ...] = ()
    reason: LeftOut[str] = ""
    model: LeftOut[str] = ""
    explained: LeftOut[tuple[float, ...]] = ()
    perplexity: LeftOut[float] = 0.0
