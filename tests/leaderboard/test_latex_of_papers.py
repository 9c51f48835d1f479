"""LaTeX of the papers' tables: whatever a corpus, a system or a model is called, it ends no comment
and no row."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

from leaderboard.reproduction import output
from leaderboard.reproduction.output import adversarial, cmn, cpdscore, density, fbd, trained
from leaderboard.reproduction.output.latex import correlations_to_latex
from tests.leaderboard.written_answers import correlations_from
from workers.training.core.adversarial import KINDS

LINE_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
HOSTILE = "[2pt] over" + "".join(rf"{one}\input{{x}}" for one in LINE_BREAKS)
FOUND = {"value": 0.5, "p": 0.2, "significant": False, "absolute": 0.5, "against_direction": True}
FIGURES = {"pearson": FOUND, "spearman": FOUND, "kendall": FOUND}
SCORED = {
    "corpus": HOSTILE,
    "level": HOSTILE,
    "coverage": 0.5,
    "n": 4,
    "signature": HOSTILE,
    **FIGURES,
}
ABOUT = {
    "published": HOSTILE,
    "notes": [HOSTILE],
    "missing": [{"corpus": HOSTILE, "reason": HOSTILE}],
    "worth": [{"configurations": [HOSTILE], "worth": HOSTILE}],
}
CORRELATIONS = correlations_from(
    **dict.fromkeys(("corpus", "corpus_version", "aspect", "ci"), HOSTILE),
    rows=[
        {
            **SCORED,
            "n": 9,
            "level": "turn",
            "metric": HOSTILE,
            "submitted": dict.fromkeys(("by", "level", "link", "file_sha256"), HOSTILE),
            "worth": HOSTILE,
        }
    ],
)
OF_COMPERDIAL = {
    **ABOUT,
    "tables": [
        {
            "number": HOSTILE,
            "title": HOSTILE,
            "coefficients": ["pearson", "kendall"],
            "places": [{"corpus": HOSTILE, "title": HOSTILE, "level": HOSTILE, "reason": HOSTILE}],
            "rows": [
                {
                    "group": HOSTILE,
                    "metric": HOSTILE,
                    "published": [{"model": HOSTILE, "cells": [FIGURES]}],
                    "ours": [{"configuration": HOSTILE, "models": [HOSTILE], "cells": [SCORED]}],
                }
            ],
        }
    ],
}
OF_FBD = {
    **ABOUT,
    "corpora": [{"title": HOSTILE}],
    "rows": [
        {
            "metric": HOSTILE,
            "group": HOSTILE,
            "models": [HOSTILE],
            "cells": [
                {**SCORED, "published": [{"encoder": HOSTILE, "spearman": 0.4, "pearson": 0.4}]}
            ],
        }
    ],
}
OF_ADVERSARIAL = {
    **ABOUT,
    **dict.fromkeys(("pairs", "dialogues", "seed"), HOSTILE),
    "data": {"corpus": HOSTILE, "version": HOSTILE},
    "rows": [
        {"metric": HOSTILE, "kind": kind, "accuracy": FOUND, "signature": HOSTILE}
        for kind in (*KINDS, HOSTILE)
    ],
}


def of_trained(table: str) -> dict[str, Any]:
    one = {**SCORED, "configuration": HOSTILE, "trained": HOSTILE, "seed": 0}
    return {
        **ABOUT,
        "table": table,
        "corpora": [
            {
                **dict.fromkeys(
                    ("corpus", "corpus_version", "aspect", "title", "published_rated"), HOSTILE
                ),
                "systems": [HOSTILE],
            }
        ],
        "tables": [
            {
                **dict.fromkeys(("number", "title", "corpus", "level"), HOSTILE),
                "coefficients": ["pearson", "spearman"],
                "published_sets": [HOSTILE],
                "rows": [
                    {
                        "metric": HOSTILE,
                        "group": HOSTILE,
                        "published": [FIGURES],
                        "ours": [{"options": HOSTILE, "of": HOSTILE, "scored": [one]}],
                    }
                ],
            }
        ],
        "findings": [
            {
                **dict.fromkeys(("claim", "of", "corpus", "coefficient", "said"), HOSTILE),
                "published": {HOSTILE: 0.4},
                "ours": {"value": 0.4, "seeds": 1},
                "difference": False,
            }
        ],
        "selection": [
            {
                "loss": HOSTILE,
                "published": {HOSTILE: {"R@1": 0.5, "MRR": 0.5}},
                "ours": [
                    {
                        "models": [HOSTILE],
                        "of": HOSTILE,
                        "R@1": {"value": 0.5, "seeds": 1},
                        "MRR": {"value": None, "seeds": 1},
                    }
                ],
            }
        ],
    }


Writer = Callable[[Any], str]
WRITERS: dict[str, tuple[Writer, Any]] = {
    "adversarial": (adversarial.to_latex, OF_ADVERSARIAL),
    "cmn": (cmn.to_latex, of_trained("cmn")),
    "cpdscore": (cpdscore.to_latex, OF_COMPERDIAL),
    "density": (density.to_latex, of_trained("density")),
    "fbd": (fbd.to_latex, OF_FBD),
    "latex": (correlations_to_latex, CORRELATIONS),
    "trained": (trained.to_latex, of_trained("density")),
}


@pytest.mark.parametrize(("writer", "document"), WRITERS.values(), ids=WRITERS)
def test_no_name_breaks_out_of_its_comment(writer: Writer, document: Any) -> None:
    lines = writer(document).splitlines()
    in_comments = [line for line in lines if line.startswith("% ") and r"\input{x}" in line]
    assert in_comments
    assert [line for line in lines if r"\input{x}" in line] == in_comments


@pytest.mark.parametrize(("writer", "document"), WRITERS.values(), ids=WRITERS)
def test_no_row_begins_with_what_the_line_before_takes_for_its_argument(
    writer: Writer, document: Any
) -> None:
    lines = writer(document).splitlines()
    assert not [line for line in lines if line.startswith(("[", "*"))]


def test_every_paper_that_writes_latex_is_held_to_that() -> None:
    modules = [
        import_module(f"{output.__name__}.{found.name}") for found in iter_modules(output.__path__)
    ]
    writing = {
        module.__name__.rpartition(".")[2]
        for module in modules
        if any(name.endswith("to_latex") for name in vars(module))
    }
    assert writing == set(WRITERS)
