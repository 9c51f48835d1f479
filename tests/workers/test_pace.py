"""What people who wait read, and with what finished runs were made."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions, execution, progress
from workers.runs.tables import run_progress

pytestmark = pytest.mark.django_db


def under_way(version: CorpusVersion, **values: object) -> list[MetricRun]:
    """Both systems' runs, begun together ten seconds ago."""
    actions.request([parse("length")], select_systems(version), hint=False)
    MetricRun.objects.update(
        state="running",
        lease_token="t",
        lease_expires_at=timezone.now() + timedelta(minutes=1),
        started_at=timezone.now() - timedelta(seconds=10),
        **values,
    )
    return list(MetricRun.objects.all())


def test_rate_and_time_left_are_of_all_runs_that_go_at_once(version: CorpusVersion) -> None:
    under_way(version, examples_done=100, examples_total=300, model="m@1", device="cpu, 1 thread")
    (one,) = run_progress(version).configurations
    # 2 × 100 responses in 10 s are 20 a second; the 400 that are left take 20 s
    assert (
        one.pace == "200 of 600 responses · 20 responses/s · about 20 s left · m@1 · cpu, 1 thread"
    )


def test_those_that_wait_are_taken_to_be_as_long_as_those_at_work(version: CorpusVersion) -> None:
    first, _ = under_way(version, examples_done=100, examples_total=300)
    MetricRun.objects.filter(pk=first.pk).update(
        state="pending", lease_token="", started_at=None, examples_done=0
    )
    (one,) = run_progress(version).configurations
    # 10 a second; 200 of the running one and about 300 of the waiting one are left
    assert one.pace == "100 of 300 responses · 10 responses/s · about 50 s left"


def test_before_the_first_response_a_metric_with_a_model_is_loading_it() -> None:
    groups = [progress.UnderWay("bertscore_f1", 0, 300, 4.0)]
    assert (
        progress.text_of(groups, 0, 1)
        == "the model loads, or its first batch is under way · 0 of 300 responses"
    )
    assert (
        progress.text_of([progress.UnderWay("word_f1", 0, 300, 4.0)], 0, 1)
        == "begun · 0 of 300 responses"
    )


def test_what_is_not_under_way_has_no_pace(version: CorpusVersion) -> None:
    actions.request([parse("length")], select_systems(version), hint=False)
    assert run_progress(version).configurations[0].pace == ""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (89, "89 s"), (91, "2 min"), (5400, "1 h 30 min"), (7500, "2 h 5 min")],
)
def test_times_are_said_in_their_unit(seconds: float, said: str) -> None:
    assert progress.duration(seconds) == said


def test_two_models_of_one_configuration_are_two_rows(version: CorpusVersion) -> None:
    actions.request([parse("length")], select_systems(version), hint=False)
    for number, run in enumerate(MetricRun.objects.all()):
        execution.compute(run.pk)
        remarks = {"0": "cut"} if number else {}
        MetricRun.objects.filter(pk=run.pk).update(
            model=f"m@{number}", device="cpu", remarks=remarks
        )
    rows = progress.provenance_table(version).rows
    columns = ("metric", "model", "systems", "remarks")
    assert [tuple(row.cells[key].value for key in columns) for row in rows] == [
        ("length", "m@0", 1, 0),
        ("length", "m@1", 1, 1),
    ]


def test_runs_that_were_computed_together_share_their_time(version: CorpusVersion) -> None:
    actions.request([parse("length")], select_systems(version), hint=False)
    for run in MetricRun.objects.all():
        execution.compute(run.pk)
    began = timezone.now()
    MetricRun.objects.update(
        started_at=began, finished_at=began + timedelta(seconds=2), examples_total=3
    )
    (row,) = progress.provenance_table(version).rows
    assert row.cells["rate"].value == pytest.approx(3.0)  # 2 × 3 responses in 2 s
