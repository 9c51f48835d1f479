"""Pairs of raters in the stored answer about agreement: sixty raters make 1,770, two megabytes of
which a page shows a hundred. All of them stand apart, as a part of the answer that only files and
the API read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PAIRS_SHOWN = 100
ALL_PAIRS = "all_pairs"
SCORE_USE = "score_use"
"""What the page shows of each rater; no part of the agreement document."""


def with_pairs_apart(document: Mapping[str, Any]) -> dict[str, Any]:
    """The agreement document with, under each κ, the ``PAIRS_SHOWN`` pairs that have most items in
    common (in their order, and how many there are in all), and all pairs by κ under
    ``ALL_PAIRS``."""
    kappas = document["cohen_kappa"]
    items = {
        tuple(pair["raters"]): pair["items"] for kappa in kappas.values() for pair in kappa["pairs"]
    }
    shown = frozenset(sorted(items, key=lambda pair: -items[pair])[:PAIRS_SHOWN])
    light = {
        weighting: {
            **kappa,
            "pairs": [pair for pair in kappa["pairs"] if tuple(pair["raters"]) in shown],
            "pairs_in_all": len(kappa["pairs"]),
        }
        for weighting, kappa in kappas.items()
    }
    return {
        **document,
        "cohen_kappa": light,
        ALL_PAIRS: {weighting: kappa["pairs"] for weighting, kappa in kappas.items()},
    }


def with_all_pairs(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The agreement document again, of a whole stored answer."""
    kappas = {
        weighting: {key: value for key, value in kappa.items() if key != "pairs_in_all"}
        | {"pairs": stored[ALL_PAIRS][weighting]}
        for weighting, kappa in stored["cohen_kappa"].items()
    }
    document = {key: value for key, value in stored.items() if key not in (ALL_PAIRS, SCORE_USE)}
    return document | {"cohen_kappa": kappas}
