"""A statistic that somebody waits for goes before a metric run, on workers for plain metrics and on
no others."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from annotations.models import CorpusVersion
from leaderboard.models import Analysis
from leaderboard.results import computing
from leaderboard.results.computing import compute_longest_waiting
from tests.campaigns.sets import made_version
from workers.models import MetricRun
from workers.signals import run_begins


@pytest.mark.django_db
@pytest.mark.parametrize(("queue", "is_computed"), [("cpu", True), ("gpu", False), ("llm", False)])
def test_what_is_waited_for_is_computed_before_a_run_of_the_queue_cpu(
    queue: str, is_computed: bool
) -> None:
    version = made_version()
    system = version.systems.first()
    run = MetricRun.objects.create(
        system=system, metric="word_f1", metric_version="1", configuration="word_f1", queue=queue
    )
    waiting = Analysis.objects.create(
        version=version,
        kind="systems",
        question='{"aspect": "overall"}',
        parameters={"aspect": "overall"},
        waits_since=timezone.now() - timedelta(minutes=1),
    )
    answers = run_begins.send_robust(sender=MetricRun, run_id=run.pk)
    assert [answer for _, answer in answers if isinstance(answer, Exception)] == []
    waiting.refresh_from_db()
    assert (waiting.state != Analysis.State.PENDING) == is_computed


def _waits(version: CorpusVersion, aspect: str, since: timedelta, **older: Any) -> Analysis:
    return Analysis.objects.create(
        version=version,
        kind="systems",
        question=json.dumps({"aspect": aspect}),
        parameters={"aspect": aspect},
        waits_since=timezone.now() - since,
        **older,
    )


def _taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is begun, in place of its computing."""
    taken: list[int] = []
    monkeypatch.setattr(computing, "compute", lambda row_id: bool(taken.append(row_id)) or True)
    return taken


@pytest.mark.django_db
def test_what_nobody_can_read_yet_goes_before_what_is_out_of_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version, taken = made_version(), _taken(monkeypatch)
    _waits(version, "older", timedelta(hours=2), answer={"systems": []}, seconds=1.0)
    missing = _waits(version, "missing", timedelta(minutes=1))
    assert compute_longest_waiting()
    assert taken == [missing.pk]


@pytest.mark.django_db
@pytest.mark.parametrize(("minutes", "is_computed"), [(9, False), (11, True)])
def test_older_answers_are_made_anew_between_runs_in_a_tenth_of_the_time(
    minutes: int, is_computed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took a minute: it has its turn when for eleven none was made, whichever, and not after
    nine."""
    version, taken = made_version(), _taken(monkeypatch)
    older = _waits(version, "older", timedelta(hours=1), answer={"systems": []}, seconds=60.0)
    made = timezone.now() - timedelta(minutes=minutes)
    _waits(
        version,
        "another",
        timedelta(0),
        answer={"systems": []},
        state=Analysis.State.DONE,
        computed_at=made,
    )
    assert compute_longest_waiting() == is_computed
    assert taken == [older.pk] * is_computed


@pytest.mark.django_db
def test_hints_of_statistics_stand_behind_those_of_submissions_and_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Smaller numbers go first on Redis."""
    sent: dict[str, int] = {}
    monkeypatch.setattr(
        current_app, "send_task", lambda task, *, priority, **_: sent.update({task: priority})
    )
    Analysis.objects.notify([_waits(made_version(), "overall", timedelta(0)).pk])
    system = made_version().systems.earliest("pk")
    run = MetricRun.objects.create(
        system=system, metric="pmi", metric_version="1", configuration="pmi", queue="cpu"
    )
    MetricRun.objects.notify([run.pk])
    assert sent[MetricRun.TASK] < sent[Analysis.TASK]
