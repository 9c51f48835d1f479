"""The tables of battles beside the reference numbers (golden/preferences/data)."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.statistics.preferences.battles import WON, Battles

Rows = list[dict[str, str]]


def rows_of(golden: Path, table: str) -> Rows:
    path = golden / "preferences" / "data" / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbered(values: list[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def battles_of(golden: Path, table: str) -> tuple[list[str], Battles, Rows]:
    """``name`` of a file, or ``pandalm:rater``."""
    name, _, rater = table.partition(":")
    rows = [row for row in rows_of(golden, name) if not rater or row[rater]]
    systems = sorted({row[slot] for row in rows for slot in ("system_a", "system_b")})
    number = {system: place for place, system in enumerate(systems)}
    battles = Battles(
        len(systems),
        np.array([number[row["system_a"]] for row in rows]),
        np.array([number[row["system_b"]] for row in rows]),
        np.array([WON[row[rater or "winner"]] for row in rows]),
        numbered([row["instruction" if rater else "dialogue"] for row in rows]),
        numbered([rater or row["rater"] for row in rows]),
    )
    return systems, battles, rows


def reference(golden: Path, name: str) -> Any:
    return json.loads((golden / "preferences" / f"{name}.json").read_text(encoding="utf-8"))
