"""Liveness says that the process answers, readiness that the site can work; neither keeps anybody
waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from annotations.models import AttemptCount, System
from dialeval_site.operations import readiness
from tests.conftest import ON_SERVICES
from tests.dialeval_site.small_corpora import PUBLIC, store_corpus
from workers.models import MetricRun, QueueSeen
from workers.runs import presence


@pytest.fixture(autouse=True)
def nothing_under_way() -> Iterator[None]:
    readiness._under_way.clear()
    readiness._written_at = None
    yield
    readiness._under_way.clear()


def told(client: Client, status: int) -> dict[str, Any]:
    response = client.get("/ready/")
    assert response.status_code == status, response.content
    assert "no-store" in response["Cache-Control"]
    return response.json()


def test_liveness_asks_no_database(client: Client) -> None:
    """pytest-django refuses whoever asks one here."""
    response = client.get("/health/")
    assert (response.status_code, response.json()["status"]) == (200, "ok")


@pytest.mark.django_db(transaction=True)
def test_a_site_that_has_all_is_ready(client: Client) -> None:
    found = told(client, 200)
    assert found["status"] == "ready"
    assert {
        name: (one["ok"], one["reason"]) for name, one in found["checks"].items()
    } == dict.fromkeys(["database", "migrations", "broker", "uploads", "files"], (True, ""))
    assert all(0 < one["ms"] < 2000 for one in found["checks"].values())


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_is_not_applied_is_no_readiness(client: Client) -> None:
    """As after an update of the code before ``migrate``: what ``migrate --check`` refuses."""
    applied = MigrationRecorder(connection).migration_qs.filter(
        app="workers", name="0006_chunks_of_stored_scores"
    )
    assert applied.delete()[0] == 1
    try:
        found = told(client, 503)
    finally:
        MigrationRecorder(connection).record_applied("workers", "0006_chunks_of_stored_scores")
    assert found["status"] == "not ready"
    assert found["checks"]["migrations"]["reason"] == (
        "1 migrations are to be applied, first workers.0006_chunks_of_stored_scores"
    )
    assert found["checks"]["database"]["ok"]


@pytest.mark.django_db(transaction=True)
def test_a_folder_that_cannot_be_written_is_no_readiness(
    client: Client, settings, tmp_path
) -> None:
    """A file stands where the folder should be: as a full or read-only disk it takes nothing, from
    root neither."""
    (tmp_path / "files").write_text("in the way")
    settings.UPLOAD_FOLDER = tmp_path / "files"
    found = told(client, 503)
    assert (
        found["checks"]["uploads"]["reason"]
        == "the folder of uploads cannot be written (Not a directory)"
    )


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_check_that_does_not_answer_is_given_two_seconds_and_one_thread(
    client: Client, monkeypatch
) -> None:
    stuck = threading.Event()
    monkeypatch.setattr(readiness, "CHECKS", {**readiness.CHECKS, "broker": stuck.wait})
    try:
        begun = time.monotonic()
        found = told(client, 503)
        assert 2 <= time.monotonic() - begun < 20
        assert found["checks"]["broker"]["reason"] == "no answer for 2 s"
        assert found["checks"]["database"]["ok"]
        told(client, 503)
        assert [thread.name for thread in threading.enumerate()].count("ready: broker") == 1
    finally:
        stuck.set()


@pytest.mark.django_db(transaction=True)
def test_an_error_s_own_words_are_not_shown(client: Client, monkeypatch) -> None:
    def refuses() -> None:
        raise OSError("password authentication failed for user ann at db.example with quiet-river")

    monkeypatch.setattr(readiness, "CHECKS", {**readiness.CHECKS, "database": refuses})
    found = told(client, 503)
    assert found["checks"]["database"]["reason"] == "it does not answer (OSError)"


@pytest.mark.django_db(transaction=True)
def test_who_asks_every_second_has_one_row_written_in_ten(client: Client) -> None:
    for _ in range(12):
        told(client, 200)
    assert [
        one.count for one in AttemptCount.objects.filter(key__startswith="rate:readiness:")
    ] == [1]


@pytest.mark.skipif(ON_SERVICES, reason="of many writers none keeps the others waiting")
@pytest.mark.django_db(transaction=True)
def test_a_long_import_on_sqlite_is_no_reason_to_turn_visitors_away(client: Client) -> None:
    with transaction.atomic():  # has the lock until the end
        AttemptCount.objects.create(key="an import", expires_at=timezone.now())
        assert told(client, 200)["checks"]["database"]["ok"]


@pytest.mark.skipif(not ON_SERVICES, reason="the folder broker is always there")
@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_is_no_readiness(client: Client, monkeypatch) -> None:
    from celery import Celery

    from tests.services import free_port

    elsewhere = Celery(set_as_current=False)
    elsewhere.conf.broker_write_url = (
        f"redis://127.0.0.1:{free_port()}/0"  # not ``broker``: the environment's wins
    )
    monkeypatch.setattr(readiness, "current_app", elsewhere)
    found = told(client, 503)
    assert not found["checks"]["broker"]["ok"]
    assert found["checks"]["broker"]["reason"].startswith("it does not answer")


# --- workers --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_missing_worker_is_told_and_turns_nobody_away(client: Client) -> None:
    presence.note(["cpu", "nobody-knows-this-queue"])
    QueueSeen.objects.create(queue="llm", seen_at=timezone.now() - timedelta(seconds=90))
    workers = told(client, 200)["workers"]
    assert set(workers) == {"cpu", "gpu", "llm"}
    assert workers["cpu"]["seen_seconds_ago"] < 5
    assert workers["cpu"]["reason"] == ""
    assert workers["llm"]["reason"] in ("no worker for 90 s", "no worker for 91 s")
    assert workers["gpu"] == {"seen_seconds_ago": None, "reason": "no worker was ever seen"}


@pytest.mark.django_db
def test_a_worker_notes_its_queues_every_ten_seconds_at_most(monkeypatch) -> None:
    monkeypatch.setattr(presence, "_noted_at", None)
    presence.note_own_queues()
    first = QueueSeen.objects.get(queue="cpu").seen_at
    presence.note_own_queues()
    assert QueueSeen.objects.get(queue="cpu").seen_at == first
    monkeypatch.setattr(presence, "_noted_at", time.monotonic() - presence.NOTED_EVERY_SECONDS)
    presence.note_own_queues()
    assert QueueSeen.objects.get(queue="cpu").seen_at > first


@pytest.mark.django_db
def test_a_worker_that_keeps_a_lease_is_seen_though_it_sweeps_nothing(settings, tmp_path) -> None:
    """Its lease ends 60 s after it was last renewed: here 20 s ago."""
    store_corpus(tmp_path, PUBLIC, is_public=True)
    settings.LEASE_SECONDS = 60
    now = timezone.now()
    MetricRun.objects.create(
        system=System.objects.earliest("pk"), metric="pmi", metric_version="1", configuration="pmi",
        queue="gpu", state="running", lease_token="t", lease_expires_at=now + timedelta(seconds=40),
    )  # fmt: skip
    seen = presence.last_seen()["gpu"]
    assert seen is not None
    assert abs((now - seen).total_seconds() - 20) < 1
