"""What a figure is: a drawing as plotly dictionaries, with a caption, a text alternative and the
data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from common.estimates import Estimate
from common.tables.arrange import with_details
from common.tables.table import Table
from common.tables.to_html import TableWriter

Level = Literal["turn", "dialogue", "system"]
CorrelationName = Literal["Pearson r", "Spearman ρ", "Kendall τ"]


@dataclass(frozen=True, slots=True)
class Point:
    """One response (turn), one system in one dialogue (dialogue) or one system. ``swatch`` is its
    stable number."""

    system: str
    human: float
    metric: float
    swatch: int
    item: str = ""
    """Names the point in the data, e.g. "dialogue 3, turn 2"."""
    hover: str = ""
    """What stands beside the point under the pointer, e.g. the response."""
    human_ci: tuple[float, float] | None = None
    metric_ci: tuple[float, float] | None = None
    dialogue: int | None = None
    """The number of its dialogue: points of one dialogue are not independent."""
    turn: int | None = None
    """The number of its turn, to which the point leads."""


@dataclass(frozen=True, slots=True)
class SystemMean:
    system: str
    swatch: int
    mean: Estimate
    badges: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """``data`` and ``layout`` are plotly's. ``points`` holds every value; ``summary`` is what fits
    beneath the chart (the same table where it is short). ``id`` is unique on its page."""

    id: str
    caption: str
    alternative: str
    points: Table
    data: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=dict)
    signature: str = ""
    summary_table: Table | None = None
    empty_reason: str = ""
    legend: tuple[tuple[str, int], ...] = ()
    """(system, swatch): the page writes them as text, which wraps and needs no script; empty where
    names stand in the drawing."""

    @property
    def is_empty(self) -> bool:
        return not self.data

    @property
    def summary(self) -> Table:
        return self.points if self.summary_table is None else self.summary_table

    @property
    def caption_lines(self) -> tuple[str, str]:
        """The caption's first sentence, and what else it says."""
        first, _, rest = self.caption.partition(". ")
        return (f"{first}.", rest) if rest else (self.caption, "")

    @property
    def document_id(self) -> str:
        return f"chart-data-{self.id}"

    @cached_property
    def drawing(self) -> str:
        """What plotly draws, as JSON: ``data`` and ``layout`` are not changed any more once it was
        asked for."""
        return json.dumps({"data": self.data, "layout": self.layout})

    @cached_property
    def summary_writer(self) -> TableWriter:
        """The summary as pages show it."""
        return TableWriter(with_details(self.summary))

    @property
    def weight(self) -> int:
        """Bytes that it may come to hold, roughly: the drawing as text and as plotly's
        dictionaries, and the table."""
        return 5 * len(self.drawing) + self.summary_writer.weight
