"""Exports and backups read what was there in one moment, whatever others store meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import DatabaseError, connection

from annotations.models import Corpus
from common.database import read_snapshot

pytestmark = pytest.mark.django_db(transaction=True)


def stored_by_somebody_else(slug: str) -> None:
    def store() -> None:
        Corpus.objects.create(slug=slug, name=slug)
        connection.close()

    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(store).result(60)


def test_what_others_store_meanwhile_is_of_a_later_moment() -> None:
    """And they need not wait."""
    stored_by_somebody_else("before")
    with read_snapshot():
        assert Corpus.objects.count() == 1
        stored_by_somebody_else("meanwhile")
        assert Corpus.objects.count() == 1
    assert Corpus.objects.count() == 2


def test_in_a_caller_s_own_transaction_it_is_that_one_s_moment() -> None:
    from django.db import transaction

    with transaction.atomic(), read_snapshot():
        Corpus.objects.create(slug="mine", name="mine")
    assert Corpus.objects.count() == 1


def test_one_moment_within_another_is_the_same() -> None:
    with read_snapshot():
        assert Corpus.objects.count() == 0
        stored_by_somebody_else("meanwhile")
        with read_snapshot():
            assert Corpus.objects.count() == 0
    assert Corpus.objects.count() == 1


def test_nothing_can_be_stored_inside_and_everything_afterwards() -> None:
    """Else it would be taken back without a word."""
    with pytest.raises(DatabaseError), read_snapshot():
        Corpus.objects.filter(slug="x").update(name="y")
    assert Corpus.objects.create(slug="after", name="after").pk
