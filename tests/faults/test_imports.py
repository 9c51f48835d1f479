"""The process of a large import, a command or a worker, or of a large deletion, is killed: what is
left is seen by nobody. The next import of the file goes on with it; the rest of a deletion goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotations.formats.records import (
    CorpusRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
)
from tests.annotations.stored import dialogue, written
from tests.site import Site, kill, wait_until

pytestmark = pytest.mark.slow

DIALOGUES, TURNS = 2_000, 5
LEFT = """
from annotations.models import *
from django.db import connection
print(Corpus.objects.count(), CorpusVersion.staged.count(), Response.objects.count())
"""
TOO_LATE = """
from datetime import timedelta
from django.utils import timezone
from annotations.models import CorpusVersion
CorpusVersion.staged.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
"""
WAIT_FOR = """
import time
from annotations.models import *
while not ({condition}):
    time.sleep(0.02)
"""


def large_corpus() -> Iterator[Record]:
    yield CorpusRecord(name="Large")
    yield SystemRecord("echo")
    yield RaterRecord("ann")
    for number in range(DIALOGUES):
        name = f"d{number}"
        yield dialogue(name, TURNS)
        for turn in range(TURNS):
            yield ResponseRecord(name, turn, "echo", "yes")
            yield RatingRecord(name, turn, "echo", "ann", "overall", 4)


def left(site: Site) -> list[int]:
    """Corpora, versions that belong to none, responses."""
    return [int(number) for number in site.python(LEFT).split()]


def killed_when(site: Site, condition: str, *command: str) -> None:
    watching = site.start("watch", "manage.py", "shell", "-c", WAIT_FOR.format(condition=condition))
    working = site.start("work", "manage.py", *command)
    watching.wait(timeout=240)
    kill(working)


def test_an_import_that_is_killed_leaves_nothing_to_see_and_the_next_one_goes_on(
    site: Site, tmp_path: Path
) -> None:
    path = written(large_corpus(), tmp_path / "large.jsonl")
    import_it = ("import_corpus", "jsonl", str(path), "--slug", "large")
    killed_when(site, "Response.objects.exists()", *import_it)
    corpora, halves, responses = left(site)
    assert (corpora, halves) == (0, 1)
    assert 0 < responses < DIALOGUES * TURNS
    # At once, for its lock is free. The last dialogue, which may be half there, is stored anew.
    done = site.manage(*import_it)
    (before,) = re.findall(r"([\d,]+) dialogues were stored before the import was", done.stderr)
    assert 0 <= responses / TURNS - int(before.replace(",", "")) <= 1
    assert int(before.replace(",", "")) > 0
    assert "stored v1" in done.stdout
    assert left(site) == [1, 0, DIALOGUES * TURNS]


STARTED = """
from pathlib import Path
from django.contrib.auth.models import Group, User
from annotations.corpora import imports, pending_uploads
user = User.objects.create_user("mara")
user.groups.add(Group.objects.get(name="organiser"))
path = Path({path!r})
size = path.stat().st_size
fields = {{"format": "jsonl", "name": "", "slug": "large", "language": "", "seen_by": "organisers"}}
imports.start(pending_uploads.store(path, path.name, user), size, fields, user)
"""


def test_a_worker_that_is_killed_leaves_its_import_to_the_next_one_which_goes_on(
    site: Site, tmp_path: Path
) -> None:
    path = written(large_corpus(), tmp_path / "large.jsonl")
    condition = WAIT_FOR.format(condition="Response.objects.exists()")
    watching = site.start("watch", "manage.py", "shell", "-c", condition)
    first = site.start_worker()
    site.python(STARTED.format(path=str(path)))
    watching.wait(timeout=240)
    kill(first)
    corpora, halves, responses = left(site)
    assert (corpora, halves) == (0, 1)
    assert 0 < responses < DIALOGUES * TURNS
    (half,) = site.rows("SELECT id FROM annotations_corpusversion")
    site.start_worker()
    ended = "SELECT state, attempts, error FROM annotations_corpusimport WHERE state <> 'running'"
    wait_until(
        lambda: site.rows(ended) not in ([], [("pending", 1, "")]), 240, "the next worker is done"
    )
    assert site.rows(ended) == [("done", 2, "")]
    assert left(site) == [1, 0, DIALOGUES * TURNS]
    assert site.rows("SELECT id FROM annotations_corpusversion") == [half]


@pytest.mark.one_database
def test_what_a_killed_deletion_left_is_removed_by_a_worker(site: Site, tmp_path: Path) -> None:
    path = written(large_corpus(), tmp_path / "large.jsonl")
    site.manage("import_corpus", "jsonl", path, "--slug", "large")
    killed_when(site, "CorpusVersion.staged.exists()", "delete_corpus", "large")
    corpora, halves, responses = left(site)
    assert (corpora, halves) == (0, 1)
    assert responses > 0
    site.python(TOO_LATE)
    site.start_worker()
    wait_until(lambda: left(site) == [0, 0, 0], 240, "a worker has removed the rest")
