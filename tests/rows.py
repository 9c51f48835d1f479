"""What tests write into the database: rows that a module's tests share, and requests that leave
none behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import pytest
from django.db import connection, transaction
from django.test import TestCase

from annotations.models import CorpusVersion
from leaderboard.models import Analysis
from tests.conftest import lookers_compute

Made = TypeVar("Made")


@contextmanager
def shared(blocker: Any, make: Callable[[], Made]) -> Iterator[Made]:
    """What ``make`` writes is there for every test of a module. Each test's transaction is a
    savepoint in this one, so that a test finds the rows as they were made, whatever the tests
    before it did; at the end all go.

    For a fixture of the module's, with ``django_db_setup`` and ``django_db_blocker``. No test of
    the module may have transactions of its own: they would empty the tables. Statistics that are
    looked at are computed at once.
    """
    with ExitStack() as undoing:
        with blocker.unblock(), pytest.MonkeyPatch.context() as patch:
            atomics = TestCase._enter_atomics()
            undoing.callback(_roll_back, blocker, atomics)
            lookers_compute(patch)
            made = make()
        yield made


def _roll_back(blocker: Any, atomics: Any) -> None:
    with blocker.unblock():
        TestCase._rollback_atomics(atomics)


@contextmanager
def undone() -> Iterator[None]:
    """What is written within is taken back, but for the statistics that somebody's look had
    computed: on a site a worker stores them once for all who look, and here each next look would
    have them computed anew."""
    with transaction.atomic():
        newest = _newest()
        yield
        computed = (
            list(Analysis.objects.filter(pk__gt=newest, state="done")) if _newest() > newest else []
        )
        transaction.set_rollback(True)
    if computed:
        still_there = set(CorpusVersion.objects.values_list("pk", flat=True))
        Analysis.objects.bulk_create(one for one in computed if one.version_id in still_there)


def _newest() -> int:
    """As plain SQL: a walk asks twice for each of thousands of requests."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT MAX(id) FROM {Analysis._meta.db_table}")
        return cursor.fetchone()[0] or 0
