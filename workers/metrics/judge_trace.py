"""How a judge came to a score: what ``MetricRun.details["traces"]`` holds by turn index, or by
dialogue index for a metric of whole dialogues. For people and for checks; no score is ever read
from here.

The raw answers are in the store (``workers.judges.models``): those of ``request``, samples 0 to
``len(samples) - 1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JudgeTrace:
    """One text that was judged. What is empty is not written."""

    request: str
    """The key of the stored request; "" where nothing was asked."""
    samples: tuple[float | None, ...] = ()
    """The score that each sample gave, None for one that could not be read however often it was
    asked."""
    asks: tuple[int, ...] = ()
    """How often each sample was asked: 1 to 3."""
    aspects: Mapping[str, float] = field(default_factory=dict)
    """Every number of the answer by its label, the one that counts too: means over the samples that
    could be read."""
    mass: float | None = None
    """Expected scores: the probability of all numbers of the scale together, before it is divided
    out."""
    chances: Mapping[str, float] = field(default_factory=dict)
    """Expected scores: the probability of each number of the scale, divided by ``mass``."""
    said: str = ""
    """Where there is no score: how the answer begins, or why the endpoint refuses."""
    injections: tuple[str, ...] = ()
    """What in the response speaks to the judge, as it stands there."""
    kept: float | None = None
    """Where there are injections: the score of the response as it is …"""
    removed: float | None = None
    """… and without them. The option ``injections`` says which counts; ``request`` is that
    one's."""
    other_request: str = ""
    """The key of the other one."""
    turns: tuple[Mapping[str, Any], ...] = ()
    """Metrics of dialogues: the trace of each turn with its ``turn`` (number) and ``score``."""

    def as_json(self) -> dict[str, Any]:
        """The trace as a JSON object.

        Returns:
            ``request`` and ``samples``, and of the other fields those that say something: ``asks``
            where a sample was asked more than once, ``aspects`` where there are several.
        """
        document: dict[str, Any] = {"request": self.request, "samples": list(self.samples)}
        if any(asks > 1 for asks in self.asks):
            document["asks"] = list(self.asks)
        if len(self.aspects) > 1:
            document["aspects"] = dict(self.aspects)
        for name in ("mass", "kept", "removed"):
            if (value := getattr(self, name)) is not None:
                document[name] = value
        for name in ("said", "other_request"):
            if value := getattr(self, name):
                document[name] = value
        if self.chances:
            document["chances"] = dict(self.chances)
        for name in ("injections", "turns"):
            if values := getattr(self, name):
                document[name] = list(values)
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> JudgeTrace:
        """Read what ``as_json`` wrote.

        Args:
            document: unknown keys are ignored, missing ones are empty.
        """
        samples = tuple(document.get("samples", ()))
        return cls(
            request=str(document.get("request", "")),
            samples=samples,
            asks=tuple(document.get("asks", (1,) * len(samples))),
            aspects=dict(document.get("aspects", {})),
            mass=document.get("mass"),
            chances=dict(document.get("chances", {})),
            said=str(document.get("said", "")),
            injections=tuple(document.get("injections", ())),
            kept=document.get("kept"),
            removed=document.get("removed"),
            other_request=str(document.get("other_request", "")),
            turns=tuple(document.get("turns", ())),
        )
