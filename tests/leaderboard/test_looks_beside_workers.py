"""A page that leaves a note on a row does not wait for the worker that writes it."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotations.models import CorpusVersion
from leaderboard.models import Analysis
from leaderboard.results import rows
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated

LONG_AGO = timedelta(days=1)


def looked_at_long_ago(version: CorpusVersion) -> Analysis:
    row = Analysis.objects.create(version=version, kind="systems", question="{}", parameters={})
    Analysis.objects.filter(pk=row.pk).update(asked_at=timezone.now() - LONG_AGO)
    row.refresh_from_db()
    return row


def since_last_look(row: Analysis) -> timedelta:
    row.refresh_from_db()
    return timezone.now() - row.asked_at


@pytest.mark.django_db
def test_a_look_is_noted(rated: Rated) -> None:
    row = looked_at_long_ago(rated(FOUR_RESPONSES))
    rows.record_view(row)
    assert since_last_look(row) < timedelta(minutes=1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    not connection.features.has_select_for_update_skip_locked, reason="SQLite has one writer"
)
def test_a_row_that_is_being_written_is_passed_over(rated: Rated) -> None:
    row = looked_at_long_ago(rated(FOUR_RESPONSES))
    writing, noted = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with transaction.atomic():
            Analysis.objects.filter(pk=row.pk).update(answer={"points": []})
            writing.set()
            noted.wait(20)
        connection.close()

    worker = threading.Thread(target=write_slowly)
    worker.start()
    assert writing.wait(20)
    started = timezone.now()
    rows.record_view(row)
    took = timezone.now() - started
    noted.set()
    worker.join()
    assert took < timedelta(seconds=10)
    assert since_last_look(row) > LONG_AGO / 2
