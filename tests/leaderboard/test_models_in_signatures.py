"""A published number says with which model it was made, and that two models made it where two
did."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from leaderboard.queries import meta_evaluation
from tests.annotations.stored import stored, two_systems
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions, execution

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    version = stored(two_systems(), tmp_path)
    actions.request([parse("word_f1")], select_systems(version), hint=False)
    for run in MetricRun.objects.all():
        execution.compute(run.pk)
    return version


def made_with(system: str, revision: str, dtype: str = "float32") -> None:
    run = MetricRun.objects.get(system__name=system)
    facts = f"|dtype:{dtype}|model_revision:{revision}|corpus:"
    signature = run.signature.replace("|corpus:", facts)
    MetricRun.objects.filter(pk=run.pk).update(model=f"small@{revision}", signature=signature)


def row_of(version: CorpusVersion) -> dict:
    document = meta_evaluation(version, version.main_aspect, ("turn",), resamples=0)
    (row,) = document["rows"]
    return row


def test_the_signature_of_a_correlation_names_the_model_s_revision(version: CorpusVersion) -> None:
    made_with("echo", "1f")
    made_with("dull", "1f")
    row = row_of(version)
    own = "metric:word_f1|version:2|normalize:true|tokenize:auto|unicode:fold|references:best|"
    facts = f"{own}tokenize_used:words|language:en|dtype:float32|model_revision:1f|corpus:small|"
    assert row["signature"].startswith(facts)
    assert "note" not in row


def test_a_metric_without_a_model_has_none_in_its_signature(version: CorpusVersion) -> None:
    assert row_of(version)["signature"].startswith(
        "metric:word_f1|version:2|normalize:true|tokenize:auto|unicode:fold|references:best|"
        "corpus:small|"
    )


def test_two_revisions_in_one_row_are_said(version: CorpusVersion) -> None:
    made_with("echo", "1f")
    made_with("dull", "2e")
    row = row_of(version)
    assert "|model_revision:1f+2e|corpus:" in row["signature"]
    assert row["note"].startswith("made with 2 different revisions of the model: 1f, 2e")


def test_two_precisions_are_said(version: CorpusVersion) -> None:
    made_with("echo", "1f")
    made_with("dull", "1f", "bfloat16")
    row = row_of(version)
    assert "|dtype:bfloat16+float32|" in row["signature"]
    assert row["note"] == "the runs were not all made alike: dtype bfloat16, float32"
