"""``normality``: what it tests, what stands beside it, and its four forms."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from tests.annotations.stored import dialogue, rated_corpus, stored
from workers.inference.encoders import encoder
from workers.inference.encoders.encoder import Vectors
from workers.metrics.common.normality import normality

pytestmark = pytest.mark.django_db


class Encoder:
    device_label = "cpu, 1 thread, float32"
    files = type("Files", (), {"label": "stand-in@0123456789ab"})()

    def pair_states(
        self, pairs: Sequence[tuple[str, str]], layer: int, progress: Any = None
    ) -> Vectors:
        return Vectors(states(pairs, layer), frozenset())


def states(pairs: Sequence[tuple[str, str]], layer: int) -> np.ndarray:
    """Four dimensions: two lengths, a constant and the layer."""
    return np.array([(len(a), len(b) ** 2, 7, layer) for a, b in pairs], dtype=np.float32).reshape(
        -1, 4
    )


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "encoder_for", lambda name, precision: Encoder())


@pytest.fixture
def personam(tmp_path: Path) -> None:
    """A corpus with the name of one of the paper's; a system that is long-winded in one answer of
    five."""
    dialogues = [dialogue("d" * n, references=("yes " * n,)) for n in (1, 2, 4, 8, 9)]
    answers = {(one.id, 0, "chatty"): "so " * (len(one.id) == 9) * 50 + "well" for one in dialogues}
    stored(rated_corpus(dialogues, answers), tmp_path, "personam")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str) -> tuple[str, str]:
        capsys.readouterr()
        call_command("normality", *arguments)
        printed = capsys.readouterr()
        return printed.out, printed.err

    return run


def test_people_on_a_corpus_of_the_paper_stand_beside_its_figures(command, personam: None) -> None:
    document = json.loads(command("--corpus", "personam", "--format", "json")[0])
    (row,) = document["rows"]
    expected = normality(
        states([(f"question about {'d' * n}", ("yes " * n).strip()) for n in (1, 2, 4, 8, 9)], -1)
    )
    assert (row["points"], row["dimensions"], row["constant_dimensions"]) == (5, 2, 2)
    assert (row["w_mean"], row["p_mean"], row["share_normal"]) == pytest.approx(
        (expected.w_mean, expected.p_mean, expected.share_normal)
    )
    # Xiang et al. (2021), Table 4, column P(M).
    assert row["published"] == {
        "BERT (base)": {"mean": 0.57, "sd": 0.44},
        "RoBERTa (base)": {"mean": 0.71, "sd": 0.38},
    }
    assert (document["model"], document["layer"], document["side"]) == (
        "stand-in@0123456789ab",
        -1,
        "human",
    )
    assert "does not say whether it is W or p" in document["notes"][0]


def test_a_system_is_tested_on_its_own_responses_and_has_no_published_figure(
    command, personam: None
) -> None:
    document = json.loads(
        command("--corpus", "personam", "--side", "chatty", "--format", "json")[0]
    )
    (row,) = document["rows"]
    responses = ["well"] * 4 + ["so " * 50 + "well"]
    pairs = [
        (f"question about {'d' * n}", text)
        for n, text in zip((1, 2, 4, 8, 9), responses, strict=True)
    ]
    assert row["w_mean"] == pytest.approx(normality(states(pairs, -1)).w_mean)
    assert row["published"] == {}


def test_the_layer_asked_for_is_taken(command, personam: None) -> None:
    assert (
        json.loads(command("--corpus", "personam", "--layer", "3", "--format", "json")[0])["layer"]
        == 3
    )


def test_too_few_points_are_a_row_without_figures_and_a_reason(
    command, tmp_path: Path, personam: None
) -> None:
    stored(rated_corpus([dialogue("a"), dialogue("bb")], {}, systems=["s"]), tmp_path, "tiny")
    out, said = command("--corpus", "personam,tiny", "--format", "json")
    row = json.loads(out)["rows"][1]
    assert row["w_mean"] is None
    assert row["reason"] == "the test of Shapiro and Wilk needs 3 points, there are 2"
    assert "tiny: no figures: the test of Shapiro and Wilk needs 3 points, there are 2" in said


def test_a_corpus_without_references_has_a_reason(command, tmp_path: Path) -> None:
    stored(rated_corpus([dialogue("a", references=())], {}, systems=["s"]), tmp_path, "bare")
    assert (
        "there are 0"
        in json.loads(command("--corpus", "bare", "--format", "json")[0])["rows"][0]["reason"]
    )


def test_the_table_shows_both_figures_the_papers_and_what_they_are(command, personam: None) -> None:
    out, said = command("--corpus", "personam")
    head, _, row, *notes = out.splitlines()
    assert head.split()[:5] == ["corpus", "n", "dimensions", "W", "p"]
    assert row.startswith("personam  5")
    assert "0.57 ± 0.44" in row
    assert "W or p" in notes[0]
    assert "1 corpus, responses of people, stand-in@0123456789ab" in said


def test_csv_has_every_figure_and_no_formula(command, tmp_path: Path, personam: None) -> None:
    stored(
        rated_corpus([dialogue(n, references=(n,)) for n in "abc"], {("a", 0, "=x"): "y"}),
        tmp_path,
        "odd",
    )
    (row,) = csv.DictReader(
        io.StringIO(command("--corpus", "odd", "--side", "=x", "--format", "csv")[0])
    )
    assert row["side"] == "'=x"
    assert row["w_mean"] == ""
    assert "needs 3 points, there are 1" in row["reason"]
    (row,) = csv.DictReader(io.StringIO(command("--corpus", "personam", "--format", "csv")[0]))
    assert float(row["published_BERT (base)_mean"]) == 0.57
    assert 0 < float(row["w_mean"]) <= 1


def test_latex_is_a_table_for_booktabs(command, personam: None) -> None:
    out, _ = command("--corpus", "personam", "--format", "latex")
    assert r"\begin{tabular}{lrrrrrrr}" in out
    (row,) = [line for line in out.splitlines() if line.startswith("personam")]
    assert row.endswith(r"0.57 $\pm$ 0.44 & 0.71 $\pm$ 0.38 \\")
    assert row.count("&") == 7


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--corpus", "nowhere"], "nowhere"),
        (["--corpus", "personam", "--side", "nobody"], "no system 'nobody'"),
        (["--corpus", "personam", "--model", "/no/such/folder"], "/no/such/folder"),
        (["--corpus", " , "], "names nothing"),
    ],
)
def test_what_is_not_there_is_one_clear_error(
    command, personam: None, arguments: list[str], problem: str
) -> None:
    with pytest.raises(CommandError, match=problem):
        command(*arguments)
