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
    """Baselines of P, R and F1 for one layer, from a file laid out as bert-score's.

    Args:
        path: a CSV file with the columns LAYER, P, R and F; ``~`` stands for the home folder.
        layer: whose row is read.

    Returns:
        P, R and F1, each a finite number below 1.

    Raises:
        BaselineError: the file cannot be read, lacks a column or the layer's row, or a baseline is
            not a number below 1.
    """
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
    """Rescale a score so that its baseline becomes 0 and 1 stays 1.

    Args:
        value: at most 1.
        baseline: below 1.

    Returns:
        At most 1; below 0 for a value under the baseline.

    (x − b) / (1 − b), as bert-score's ``rescale_with_baseline``.
    """
    return (value - baseline) / (1 - baseline)


def _number(written: str | None, path: str, line: int, name: str) -> float:
    try:
        number = float(written or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number >= 1:
        raise BaselineError(f'{path} line {line}: {name} must be a number below 1, not "{written}"')
    return number
