"""What every worker's sweeper asks for reaches submissions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dialeval_site.operations import maintenance
from leaderboard.challenges import tasks
from leaderboard.challenges.models import Submission
from tests.challenges.sets import open_round, submit, team_with_member
from workers import tasks as job_tasks

pytestmark = pytest.mark.django_db


def test_the_task_gives_back_what_a_silent_worker_held() -> None:
    round = open_round()
    held = submit(round, team_with_member(round.challenge)[0])
    Submission.objects.filter(pk=held.pk).update(
        state="validating",
        attempts=1,
        lease_token="gone",
        lease_expires_at=timezone.now() - timedelta(seconds=1),
    )
    job_tasks.sweep()
    held.refresh_from_db()
    assert (held.state, held.lease_token) == ("received", "")


def test_workers_ask_for_it() -> None:
    assert {job_tasks.sweep.name, tasks.sweep.name} <= set(maintenance.FREQUENT_TASKS)
