"""Distribution metrics hold a system against people in the same dialogues."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from annotations.models import CorpusVersion
from tests.annotations.stored import dialogue, rated_corpus, stored
from workers.models import MetricRun

pytestmark = pytest.mark.django_db
OWN = {"ann": ("d0", "d1"), "bob": ("d2", "d3")}
"""Each system has dialogues of its own, and answers as people do in them."""


def nested(folder: Path) -> CorpusVersion:
    """References of 7 and of 11 characters."""
    said = {"d0": "one two", "d1": "one two", "d2": "a b c d e f", "d3": "a b c d e f"}
    dialogues = [dialogue(name, 2, (text,)) for name, text in said.items()]
    texts = {
        (name, turn, system): said[name]
        for system, names in OWN.items()
        for name in names
        for turn in (0, 1)
    }
    return stored(rated_corpus(dialogues, texts), folder)


def scored(metric: str) -> dict[str, MetricRun]:
    call_command("score", corpus="small", metrics=metric, inline=True)
    return {run.system.name: run for run in MetricRun.objects.select_related("system")}


def test_a_system_with_dialogues_of_its_own_is_held_against_people_in_these(
    tmp_path: Path, odd_metrics: None
) -> None:
    """Both answer at people's length: 7 − 7 and 11 − 11 characters. Beside all references, of 9 on
    average, they lay 2 off on either side."""
    nested(tmp_path)
    runs = scored("system_length")
    assert {name: run.system_score for name, run in runs.items()} == {"ann": 0.0, "bob": 0.0}
    assert all("n:4|n_human:4" in run.signature for run in runs.values())


def test_people_of_another_corpus_are_all_compared_with(tmp_path: Path, odd_metrics: None) -> None:
    """7 − 13 and 11 − 13 characters."""
    nested(tmp_path)
    others = [dialogue("other", 1, ("one two three",))]
    (tmp_path / "people").mkdir()
    stored(rated_corpus(others, {("other", 0, "x"): "y"}), tmp_path / "people", "people")
    runs = scored("system_length[human=people]")
    assert {name: run.system_score for name, run in runs.items()} == {"ann": -6.0, "bob": -2.0}
