"""What commands print as JSON keeps its keys, which the reference page shows.

``command_json.json`` holds them. After a change that is meant, which the changelog tells, run this
file with ``DIALEVAL_WRITE_ANSWERS=1``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import (
    call_command,
)

from dialeval_site.demo.site import DEMO_CORPUS
from tests.dialeval_site.small_corpora import write_corpus
from tests.reference import KEYS_OF_JSON

SHAPES = {
    "metrics": ["metrics"],
    "score": ["score", "--corpus", "cooks", "--metrics", "word_f1", "--inline"],
    "agreement": ["agreement", "--corpus", "cooks"],
    "correlate": ["correlate", "--corpus", "cooks", "--level", "turn"],
}
SHAPES_WITH_A_MODEL = {
    "tables": ["tables", "fbd", "--resamples", "100"],
    "normality": ["normality", "--corpus", "personam"],
    "adversarial": [
        "adversarial",
        "--metrics",
        "context_similarity",
        "--corpus",
        "personam",
        "--pairs",
        "40",
    ],
}


@pytest.mark.django_db
def test_json_has_the_keys_that_it_had(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command(
        "import_corpus",
        "jsonl",
        str(write_corpus(tmp_path / "cooks.jsonl", "secret")),
        "--slug",
        "cooks",
    )
    compare_shapes(SHAPES, capsys)


@pytest.mark.django_db
@pytest.mark.slow
def test_json_of_models_has_the_keys_that_it_had(capsys: pytest.CaptureFixture[str]) -> None:
    """One of the paper's corpora is there, with eight systems, scored without a model and with
    one."""
    call_command("import_corpus", "jsonl", str(DEMO_CORPUS), "--slug", "personam")
    call_command(
        "score",
        "--corpus",
        "personam",
        "--metrics",
        "corpus_bleu[tokenize=treebank,lowercase=true,unicode=none,smooth=none],"
        "embedding_average[unicode=none]",
        "--inline",
    )
    compare_shapes(SHAPES_WITH_A_MODEL, capsys)


def compare_shapes(commands: dict[str, list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    held = json.loads(KEYS_OF_JSON.read_text(encoding="utf-8"))
    for name, arguments in commands.items():
        capsys.readouterr()
        call_command(*arguments, "--format", "json")
        found = sorted(shape(json.loads(capsys.readouterr().out)))
        if os.environ.get("DIALEVAL_WRITE_ANSWERS") == "1":
            held[name] = found
            KEYS_OF_JSON.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n", "utf-8")
        assert held[name] == found, name


def shape(value: Any, path: str = "$") -> set[str]:
    """Where which kind of value stands; of a list, what any of its elements has."""
    if isinstance(value, dict):
        return {f"{path}: object"}.union(
            *(shape(inner, f"{path}.{key}") for key, inner in value.items())
        )
    if isinstance(value, list):
        return {f"{path}: list"}.union(*(shape(inner, f"{path}[]") for inner in value))
    kind = (
        "number"
        if isinstance(value, int | float) and not isinstance(value, bool)
        else type(value).__name__
    )
    return {f"{path}: {kind}"}
