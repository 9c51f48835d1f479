"""What is stored of papers' tables that have figures of a corpus."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.answers import LeftOut, NoneLeftOut, OfCorpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A printed or computed figure. ``reason``: why there is none."""

    value: float | None
    ci: NoneLeftOut[tuple[float, float] | None] = None
    reason: LeftOut[str] = ""
    is_starred: LeftOut[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """``source``: the configuration, or "paper" with its model or set."""

    metric: str
    source: str
    is_published: bool
    figures: tuple[Shown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOfPaper:
    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperWithOurs:
    """``command``: makes the same with all corpora of the paper."""

    citation: str
    comparison: tuple[str, ...]
    command: str
    tables: tuple[TableOfPaper, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTables(OfCorpus):
    papers: tuple[PaperWithOurs, ...]
