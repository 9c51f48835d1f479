"""How sure a campaign is of its systems, as an organiser reads it while raters work."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from annotations.campaigns.models import Campaign, Look
from annotations.campaigns.queries.allocation import Certainty, SystemNow, certainty_of
from common.tables import Cell
from common.tables.to_html import whisker_svg


@dataclass(frozen=True, slots=True)
class Line:
    system: SystemNow
    scale: tuple[float, float]
    bar: str
    """The length of the bar, 0 to 1: the chance of the next rating against the largest one."""

    @property
    def whisker(self) -> SafeString:
        """The system's mean and interval, drawn on the scale of all of them."""
        if self.system.low is None or self.system.high is None:
            return SafeString("")
        cell = Cell(self.system.mean, ci=(self.system.low, self.system.high))
        return mark_safe(whisker_svg(cell, self.scale))  # noqa: S308  numbers only

    @property
    def percent(self) -> str:
        return "" if self.system.weight is None else f"{100 * self.system.weight:.1f}"


@dataclass(frozen=True, slots=True)
class CertaintyView:
    now: Certainty
    lines: tuple[Line, ...]
    """The highest mean first; systems that are not known yet last."""
    spreads: bool
    """Whether the next rating's system is drawn by its weight."""
    digits: int
    """After the point: none of a rating from pairs."""

    @property
    def look(self) -> Look | None:
        return self.now.look

    @property
    def unknown(self) -> int:
        """Systems of which too little is known to say anything."""
        return sum(line.system.mean is None for line in self.lines)


def certainty_view(campaign: Campaign, wanted: int) -> CertaintyView | None:
    """None for a campaign that does not look at its ratings while it runs."""
    now = certainty_of(campaign, wanted)
    if now is None:
        return None
    ordered = sorted(now.systems, key=lambda one: (one.mean is None, -(one.mean or 0.0), one.name))
    ends = [end for one in ordered for end in (one.low, one.high) if end is not None]
    scale = (min(ends), max(ends)) if ends else (1.0, 5.0)
    lines = tuple(
        Line(one, scale, f"{(one.weight or 0.0) / (now.most or 1.0):.3f}") for one in ordered
    )
    return CertaintyView(
        now,
        lines,
        campaign.allocation == Campaign.Allocation.ADAPTIVE and not campaign.has_enough,
        digits=0 if campaign.is_of_pairs else 2,
    )
