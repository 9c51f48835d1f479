"""A rater who waits for a chat's answer has it before a judge begins, wherever the hint of it
stands in the queue."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.campaigns.actions import chat
from annotations.campaigns.models import Message
from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from tests.workers.chats import made_chat
from workers import tasks
from workers.chats import execution as answering
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions, execution

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def deeds(monkeypatch: pytest.MonkeyPatch, notified: list[int]) -> list[str]:
    done: list[str] = []
    monkeypatch.setattr(answering, "answer", lambda pk: done.append("answer"))
    monkeypatch.setattr(execution, "compute", lambda pk: done.append("compute"))
    return done


def a_run(version: CorpusVersion, metric: str) -> int:
    actions.request([parse(metric)], select_systems(version, ["echo"]), hint=False)
    return MetricRun.objects.get(metric=metric).pk


def a_rater_asked(seconds_ago: float) -> None:
    answer = chat.say(made_chat(), "Hello.", "k1").answer
    Message.objects.filter(pk=answer.pk).update(
        created_at=timezone.now() - timedelta(seconds=seconds_ago)
    )


def test_who_waits_is_answered_before_a_judge_begins(
    version: CorpusVersion, deeds: list[str]
) -> None:
    a_rater_asked(3)
    tasks.compute(a_run(version, "cpdscore_detail"))
    assert deeds == ["answer", "compute"]


def test_another_worker_has_two_seconds_to_begin(version: CorpusVersion, deeds: list[str]) -> None:
    a_rater_asked(1)
    tasks.compute(a_run(version, "cpdscore_detail"))
    assert deeds == ["compute"]


def test_a_chat_that_was_left_behind_holds_no_judge_up(
    version: CorpusVersion, deeds: list[str]
) -> None:
    a_rater_asked(301)
    tasks.compute(a_run(version, "cpdscore_detail"))
    assert deeds == ["compute"]


def test_a_worker_of_other_metrics_answers_no_chat(
    version: CorpusVersion, deeds: list[str]
) -> None:
    a_rater_asked(3)
    tasks.compute(a_run(version, "length"))
    assert deeds == ["compute"]
