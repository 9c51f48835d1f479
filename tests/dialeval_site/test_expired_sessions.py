"""Sessions that have run out open nothing, and do not gather for ever. That a worker asks:
``tests/faults/test_workers.py``."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dialeval_site import tasks
from dialeval_site.operations import expired_sessions, maintenance

pytestmark = pytest.mark.django_db


def sessions(name: str, count: int, *, run_out: timedelta) -> None:
    """So many, which ran out so long ago."""
    expire_date = timezone.now() - run_out
    Session.objects.bulk_create(
        Session(session_key=f"{name} {number}", expire_date=expire_date) for number in range(count)
    )


def test_sessions_that_have_run_out_are_removed_and_no_others() -> None:
    sessions("old", 3, run_out=timedelta(seconds=1))
    sessions("good", 2, run_out=timedelta(minutes=-1))
    tasks.sweep()
    assert set(Session.objects.values_list("pk", flat=True)) == {"good 0", "good 1"}


def test_many_are_removed_a_batch_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expired_sessions, "BATCH", 2)
    sessions("old", 5, run_out=timedelta(days=30))
    with CaptureQueriesContext(connection) as asked:
        assert expired_sessions.remove() == 5
    assert sum(query["sql"].startswith("DELETE") for query in asked) == 3


def test_a_session_that_has_run_out_is_nobody_s(client: Client) -> None:
    """Also before it is removed."""
    client.force_login(get_user_model().objects.create_user("ann"))
    page = reverse("tokens")
    assert client.get(page).status_code == 200
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert client.get(page)["Location"].startswith(reverse("login"))


def test_workers_ask_for_it() -> None:
    assert tasks.sweep.name == maintenance.HOURLY_TASK
