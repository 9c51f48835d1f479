"""Rating matrices for the tests: from rows written in the test, and from the real files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotations.agreement.matrix import RatingMatrix
from annotations.formats.records import RaterKind

_ = None
"""A missing rating in ``matrix_of`` rows."""


def matrix_of(
    *rows: list[float | None],
    dialogues: list[int] | None = None,
    rater_kind: RaterKind = "identified",
) -> RatingMatrix:
    """One row a rater; every item is a dialogue of its own unless ``dialogues`` says otherwise."""
    scores = np.array(
        [[np.nan if score is None else score for score in row] for row in rows], dtype=np.float64
    )
    dialogue_of_item = np.array(
        dialogues if dialogues is not None else range(scores.shape[1]), dtype=np.int64
    )
    return RatingMatrix(
        scores, dialogue_of_item, tuple(f"r{row + 1}" for row in range(len(rows))), rater_kind
    )


def random_matrix(
    raters: int,
    items: int,
    *,
    seed: int,
    missing: float = 0.0,
    per_dialogue: int = 5,
    levels: int = 5,
) -> RatingMatrix:
    """Raters who see an item's quality through noise, on a scale 1 … ``levels``."""
    random = np.random.default_rng(seed)
    quality = random.normal(0.5, 0.25, items)
    scores = np.clip(
        np.round(1 + (levels - 1) * (quality + random.normal(0, 0.2, (raters, items)))), 1, levels
    )
    scores[random.random((raters, items)) < missing] = np.nan
    return RatingMatrix(
        scores, np.arange(items) // per_dialogue, tuple(f"r{row + 1}" for row in range(raters))
    )


def data_folder() -> Path:
    folder = os.environ.get("DIALEVAL_DATA")
    if not folder:
        pytest.skip("DIALEVAL_DATA is not set: the real rating files are not here")
    return Path(folder)


def golden() -> dict[str, Any]:
    path = data_folder().parent / "golden" / "agreement.json"
    if not path.exists():
        pytest.skip("the reference numbers (golden/agreement.json) do not lie beside DIALEVAL_DATA")
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def usr_matrix(aspect: str) -> RatingMatrix:
    """USR PersonaChat: a row an annotator, an item a response, a dialogue a context."""
    contexts = json.loads((data_folder() / "usr" / "pc_usr_data.json").read_text(encoding="utf-8"))
    raters = ("shikib", "maxine", "mckenna", "yulan")
    items = [
        (number, context, response)
        for number, context in enumerate(contexts)
        for response in context["responses"]
    ]
    scores = np.full((len(raters), len(items)), np.nan)
    for item, (_number, context, response) in enumerate(items):
        for annotator, score in zip(context["annotators"], response[aspect], strict=True):
            scores[raters.index(annotator), item] = score
    return RatingMatrix(scores, np.array([number for number, _context, _response in items]), raters)


def grade_matrix(corpus: str | None = None) -> RatingMatrix:
    """GRADE: a row a position in the list of scores, an item a response, a dialogue a context."""
    rows = json.loads(
        (data_folder() / "grade" / "human_judgement.json").read_text(encoding="utf-8")
    )
    rows = [row for row in rows if corpus is None or row["Dataset"] == corpus]
    lists = [json.loads(row["HumanScores"]) for row in rows]
    scores = np.full((max(map(len, lists)), len(lists)), np.nan)
    for item, given in enumerate(lists):
        scores[: len(given), item] = given
    contexts = {
        context: number
        for number, context in enumerate(dict.fromkeys(row["Context"] for row in rows))
    }
    dialogues = np.array([contexts[row["Context"]] for row in rows])
    return RatingMatrix(
        scores, dialogues, tuple(f"position {row + 1}" for row in range(len(scores))), "anonymous"
    )


def packed_left(matrix: RatingMatrix, ratings: int) -> RatingMatrix:
    """The items with exactly so many ratings, each item's ratings moved to the first rows: a
    complete matrix."""
    chosen = np.flatnonzero((~np.isnan(matrix.scores)).sum(axis=0) == ratings)
    columns = [matrix.scores[:, item][~np.isnan(matrix.scores[:, item])] for item in chosen]
    names = tuple(f"place {row + 1}" for row in range(ratings))
    return RatingMatrix(np.array(columns).T, matrix.dialogue_of_item[chosen], names)
