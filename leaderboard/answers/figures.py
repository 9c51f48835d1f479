"""What is stored of charts whose points are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFigures:
    """``figures``: each as it is drawn (``stored_figures.document_of``). ``points``: for files,
    every point of those whose page has a summary alone (``packed``); pages read the answer without
    it."""

    figures: tuple[dict[str, Any], ...]
    points: tuple[dict[str, Any], ...] = ()
