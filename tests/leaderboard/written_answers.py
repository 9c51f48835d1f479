"""Stored answers written by hand, as JSON of which only what a test is about is given."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from leaderboard.answers.metrics import MetricComparisons, MetricCorrelations

UNKNOWN = {"value": None, "reason": "not given"}


def correlations_from(**document: Any) -> MetricCorrelations:
    rows = [
        {
            "signature": "",
            "n": 9,
            "coverage": 1.0,
            "higher_is_better": True,
            "pearson": UNKNOWN,
            "spearman": UNKNOWN,
            "kendall": UNKNOWN,
            **row,
        }
        for row in document.pop("rows", ())
    ]
    nothing_but = {
        "corpus": "small",
        "corpus_version": "v1",
        "aspect": "overall",
        "systems": ["a"],
        "systems_chosen": "all",
        "design": "crossed",
        "ci": "jackknife-t95-over-dialogues",
        "resamples": 10,
        "seed": 0,
        "interval": dict.fromkeys(("turn", "dialogue", "system"), "95 % over dialogues"),
        "leave_one_out_agreement": {},
        "human_ceiling": {},
        **document,
        "rows": rows,
    }
    return TypeAdapter(MetricCorrelations).validate_python(nothing_but)


def comparisons_from(
    metrics: list[str], coefficients: dict[str, Any], **document: Any
) -> MetricComparisons:
    nothing: dict[str, Any] = {"pairs": [], "alone": {}, "groups": {}, "undefined": {}}
    return TypeAdapter(MetricComparisons).validate_python(
        {
            "corpus": "small",
            "corpus_version": "v1",
            "aspect": "overall",
            "level": "turn",
            "systems": ["a"],
            "design": "crossed",
            "metrics": metrics,
            "coefficients": {name: nothing | found for name, found in coefficients.items()},
            "not_compared": {},
            "test": "perm-both",
            "method": "PERM-BOTH",
            "population": "other systems and other dialogues",
            "permutations": 0,
            "seed": 0,
            **document,
        }
    )
