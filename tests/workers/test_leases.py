"""A lease is renewed beside the work, and who keeps one is seen to live."""

from __future__ import annotations

import threading

import pytest
from django.db import OperationalError

from tests.site import wait_until
from workers import jobs
from workers.runs import presence

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("is_worker", [True, False])
def test_a_worker_that_keeps_a_lease_for_long_is_seen_and_a_command_is_no_worker(
    monkeypatch: pytest.MonkeyPatch, settings, is_worker: bool
) -> None:
    """A training of an hour leaves no process of the worker to sweep."""
    settings.LEASE_SECONDS = 0.15
    seen, renewed = threading.Event(), threading.Event()
    monkeypatch.setattr(jobs, "current_task", is_worker)
    monkeypatch.setattr(presence, "note_own_queues", seen.set)
    with jobs.renewing_lease(lambda: renewed.set() or True, "a training"):
        wait_until(renewed.is_set, 20, "the lease is renewed")
    assert seen.is_set() == is_worker


def test_a_worker_that_cannot_be_noted_keeps_its_lease(
    monkeypatch: pytest.MonkeyPatch, settings
) -> None:
    """A paid run must not go to somebody else for that."""

    def away() -> None:
        raise OperationalError("database is locked")

    settings.LEASE_SECONDS = 0.15
    renewals: list[int] = []
    monkeypatch.setattr(jobs, "current_task", True)
    monkeypatch.setattr(presence, "note_own_queues", away)
    with jobs.renewing_lease(lambda: renewals.append(1) or True, "a training"):
        wait_until(lambda: len(renewals) > 2, 20, "the lease is renewed again and again")
