"""Baseline rescaling of BERTScore: a file of what unrelated sentences score, one row a layer
(LAYER,P,R,F).

(x − b) / (1 − b) spreads the scores, which lie close together, and leaves their order as it is.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

COLUMNS = ("P", "R", "F")


class BaselineError(ValueError):
    """The file cannot be used; the message names it, the line and the fault."""


def read_baseline(path: str, layer: int) -> tuple[float, float, float]:
    """The baselines of P, R and F1 at ``layer``, in the layout of bert-score's files. Raises
    ``BaselineError``."""
    try:
        with Path(path).expanduser().open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            missing = [name for name in ("LAYER", *COLUMNS) if name not in (rows.fieldnames or ())]
            if missing:
                raise BaselineError(
                    f"{path} line 1: no column {', '.join(missing)}; it must begin LAYER,P,R,F"
                )
            for row in rows:
                if (row["LAYER"] or "").strip() == str(layer):
                    precision, recall, f1 = (
                        _number(row[name], path, rows.line_num, name) for name in COLUMNS
                    )
                    return precision, recall, f1
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise BaselineError(f"{path} cannot be read: {fault}") from fault
    raise BaselineError(f"{path} has no row for layer {layer}")


def rescaled(value: float, baseline: float) -> float:
    return (value - baseline) / (1 - baseline)


def _number(written: str | None, path: str, line: int, name: str) -> float:
    try:
        number = float(written or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number >= 1:
        raise BaselineError(f'{path} line {line}: {name} must be a number below 1, not "{written}"')
    return number
