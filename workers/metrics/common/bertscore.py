"""BERTScore's tables.

Which layer of a model is used where nobody says: the one that the bert-score package 0.3.13
recommends. Its authors chose, for each model, the layer whose F1 agrees best (Pearson) with the
segment-level human ratings of WMT16's to-English task. A model that is not in the list is used up
to its last layer.

Baseline rescaling: a file of what unrelated sentences score, one row a layer (LAYER,P,R,F).
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


RECOMMENDED_LAYERS = {
    "albert-base-v2": 9,
    "albert-large-v2": 14,
    "albert-xlarge-v2": 13,
    "albert-xxlarge-v2": 8,
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bertweet-base": 9,
    "deberta-base": 9,
    "deberta-base-mnli": 9,
    "deberta-large": 16,
    "deberta-large-mnli": 18,
    "deberta-v3-base": 9,
    "deberta-v3-large": 12,
    "deberta-v3-small": 4,
    "deberta-v3-xsmall": 10,
    "deberta-xlarge": 18,
    "deberta-xlarge-mnli": 40,
    "distilbert-base-multilingual-cased": 5,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "electra-base-discriminator": 9,
    "electra-large-discriminator": 14,
    "electra-small-discriminator": 11,
    "mdeberta-v3-base": 10,
    "mpnet-base": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "scibert_scivocab_cased": 9,
    "scibert_scivocab_uncased": 8,
    "spanbert-base-cased": 8,
    "spanbert-large-cased": 17,
    "sup-simcse-bert-base-uncased": 10,
    "sup-simcse-bert-large-uncased": 18,
    "sup-simcse-roberta-base": 10,
    "sup-simcse-roberta-large": 16,
    "unsup-simcse-bert-base-uncased": 10,
    "unsup-simcse-bert-large-uncased": 18,
    "unsup-simcse-roberta-base": 8,
    "unsup-simcse-roberta-large": 13,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}
"""By the last part of the model's name: a copy in a folder, or under another owner, is the same
model."""


def own_layer(model: str, layers: int) -> int:
    """Layer that bert-score recommends for a model.

    Args:
        model: a hub id or a folder; its last part counts.
        layers: how many the model has.

    Returns:
        1 to ``layers``; the last one for a model that is not in ``RECOMMENDED_LAYERS``.
    """
    recommended = RECOMMENDED_LAYERS.get(model.rstrip("/").rpartition("/")[2], layers)
    return min(recommended, layers)
