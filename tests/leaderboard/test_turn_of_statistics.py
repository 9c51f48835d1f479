"""A statistic that somebody waits for goes before a metric run, on workers for plain metrics and on no others."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Analysis
from tests.campaigns.sets import made_version
from workers.models import MetricRun
from workers.signals import run_begins


@pytest.mark.django_db
@pytest.mark.parametrize(("queue", "is_computed"), [("cpu", True), ("gpu", False), ("llm", False)])
def test_what_is_waited_for_is_computed_before_a_run_of_the_queue_cpu(queue: str, is_computed: bool) -> None:
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
