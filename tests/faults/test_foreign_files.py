"""Processes that come to a site's files with another database: they end with a word, and touch
nothing."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ON_SERVICES
from tests.migrated import fresh_database, migrated_database, migrated_file
from tests.object_storage import ObjectStorage, object_storage
from tests.services import free_port
from tests.site import Site, answers, wait_until

pytestmark = pytest.mark.slow

UPLOADS = 40
SUBMIT = """
from tests.challenges.sets import open_challenge, open_round, submit, team_with_member
from tests.stored_uploads import copies_of
round = open_round(challenge=open_challenge("cup"))
copies_of(submit(round, team_with_member(round.challenge)[0]), 39)
"""
COUNT = "from leaderboard.challenges.models import Submission; print(Submission.objects.count())"
OLD = 1_700_000_000
"""Long ago: no grace covers it."""
SWEEP_AN_HOUR_LATER = (
    "import time; from annotations import orphans; orphans.collect(time.time() + 4000)"
)


@pytest.fixture
def own(site: Site) -> Site:
    """A site with forty uploads and its own identity."""
    identify(site)
    site.python(SUBMIT)
    return site


@pytest.fixture
def stranger(own: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The same DIALEVAL_HOME with an empty database of its own, as where DATABASE_URL was
    forgotten."""
    other = Site(own.home, {**own.settings, **empty_database(tmp_path_factory)})
    identify(other)
    yield other
    other.stop()


def empty_database(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    if ON_SERVICES:
        return {"DATABASE_URL": fresh_database(migrated_database())}
    file = tmp_path_factory.mktemp("other") / "other.sqlite3"
    file.write_bytes(migrated_file().read_bytes())
    return {"DATABASE_URL": f"sqlite:///{file}"}


def identify(site: Site) -> None:
    """Databases of tests are copies of one, and so would have one identity."""
    site.python(
        "try:\n    from annotations import site_identity; site_identity.renew()\nexcept "
        "ImportError:\n    pass"
    )


def uploads(site: Site) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (site.home / "files" / "uploads").iterdir()}


def make_old(site: Site) -> None:
    for path in (site.home / "files" / "uploads").iterdir():
        os.utime(path, (OLD, OLD))


def log_of(site: Site, name: str) -> str:
    return "\n".join(log.read_text(errors="replace") for log in site.home.glob(f"{name}-*.log"))


def ended(process: subprocess.Popen[bytes], left: Any) -> None:
    """The process ends by itself. Where it does not, what it took meanwhile is told."""
    try:
        wait_until(lambda: process.poll() is not None, 60, "the stranger ends")
    except AssertionError:
        raise AssertionError(f"the stranger goes on; {len(left())} files are left") from None


@pytest.mark.parametrize(
    "before", ["the site has run here", "files of an older dialeval, which carry no identity"]
)
def test_a_worker_with_another_database_on_a_site_s_home_takes_none_of_its_files(
    own: Site, stranger: Site, before: str
) -> None:
    kept = uploads(own)
    assert len(kept) == UPLOADS
    make_old(own)
    half = own.home / "files" / "incoming" / "half"
    half.write_bytes(b"half of it")
    os.utime(half, (OLD, OLD))
    if before != "the site has run here":
        for marker in own.home.rglob("site-identity"):
            marker.unlink()
    worker = stranger.start_worker()
    ended(worker, lambda: uploads(own))
    assert worker.returncode != 0
    assert (uploads(own), half.exists()) == (kept, True)
    (told,) = [
        line for line in log_of(stranger, "worker").splitlines() if line.startswith("dialeval: ")
    ]
    assert "check DATABASE_URL, DIALEVAL_HOME and DIALEVAL_STORAGE_URL" in told
    assert "run manage.py site_identity --claim" in told

    own.start_worker()  # the site itself goes on
    wait_until(lambda: not half.exists(), 60, "the site's worker looks after its files")
    assert uploads(own) == kept


def test_a_second_site_on_one_home_is_refused_while_the_first_goes_on(
    own: Site, stranger: Site
) -> None:
    address = own.start_web()
    web = stranger.start(
        "stranger",
        "-m",
        "gunicorn",
        "dialeval_site.wsgi",
        "--bind",
        f"127.0.0.1:{free_port()}",
        "--workers",
        "2",
    )
    ended(web, lambda: uploads(own))
    assert "dialeval: DIALEVAL_HOME belongs to another database" in log_of(stranger, "stranger")
    refused = stranger.manage("run", "--no-demo", "--port", free_port(), check=False)
    assert (refused.returncode, refused.stderr.count("belongs to another database")) == (1, 1)
    assert answers(f"{address}/ready/")


def test_a_web_server_that_was_there_before_the_database_changed_says_so_and_takes_no_file(
    own: Site, stranger: Site
) -> None:
    """The home was another's when the process began, and is claimed by somebody else while it
    runs."""
    address = own.start_web()
    stranger.manage("site_identity", "--claim")
    for _ in range(3):
        assert not answers(f"{address}/ready/")
        time.sleep(1)
    failed = own.manage("shell", "-c", SWEEP_AN_HOUR_LATER, check=False)
    assert "belongs to another database" in failed.stderr
    assert len(uploads(own)) == UPLOADS


def test_where_the_database_is_away_the_web_server_starts_and_waits_for_it(site: Site) -> None:
    site.settings["DATABASE_URL"] = f"postgres://nobody@127.0.0.1:{free_port()}/nowhere"
    address = site.start_web()
    assert answers(f"{address}/health/")
    assert not answers(f"{address}/ready/")
    assert not (site.home / "site-identity").exists()


def test_a_worker_that_starts_while_the_database_is_away_works_when_it_is_back(own: Site) -> None:
    """Its start asks for nothing that is not there; a stranger would be refused at its first look
    at the files."""
    away = own.start_worker(DATABASE_URL=f"postgres://nobody@127.0.0.1:{free_port()}/nowhere")
    wait_until(lambda: "ready." in log_of(own, "worker"), 120, "the worker has started")
    assert away.poll() is None


# --- S3 -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def storage() -> Iterator[ObjectStorage]:
    with object_storage() as server:
        yield server


@pytest.fixture
def staging(
    site: Site, storage: ObjectStorage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Site, Site]]:
    """A site with forty uploads on S3, and another with its own home and database and the same
    prefix."""
    storage.empty()
    site.settings |= storage.settings
    identify(site)
    site.python(SUBMIT)
    home = tmp_path_factory.mktemp("staging")
    other = Site(home, {**site.settings, **empty_database(tmp_path_factory)})
    identify(other)
    yield site, other
    other.stop()


def test_a_staging_site_on_the_production_prefix_is_refused(
    staging: tuple[Site, Site], storage: ObjectStorage
) -> None:
    site, other = staging
    kept = storage.objects()
    assert len(kept) == UPLOADS
    worker = other.start_worker()
    ended(worker, storage.objects)
    assert "dialeval: the storage of files belongs to another database" in log_of(other, "worker")
    assert not (other.home / "site-identity").exists()
    failed = other.manage("shell", "-c", SWEEP_AN_HOUR_LATER, check=False)
    assert "the storage of files belongs to another database" in failed.stderr
    assert storage.objects() == kept
    site.python(SWEEP_AN_HOUR_LATER)
    assert storage.objects() == kept


def test_on_s3_a_file_goes_into_quarantine_and_comes_back(
    staging: tuple[Site, Site], storage: ObjectStorage
) -> None:
    site, _ = staging
    kept = storage.objects()
    site.python(
        "import time; from leaderboard.challenges.models import Submission; from annotations "
        "import orphans\nrow = Submission.objects.get(public_id='copy-7'); there = "
        "row.stored_as\nSubmission.objects.filter(pk=row.pk).update(stored_as='elsewhere'); "
        "orphans.collect(time.time() + "
        "4000)\nSubmission.objects.filter(pk=row.pk).update(stored_as=there)"
    )
    (moved,) = storage.objects("quarantine/").items()
    assert len(storage.objects("uploads/")) == UPLOADS - 1
    name = f"uploads/{moved[0].rpartition('/')[2]}"
    assert kept[name] == moved[1]
    site.python(SWEEP_AN_HOUR_LATER)
    assert storage.objects() == kept


def test_a_copy_restored_on_another_machine_is_refused_at_the_production_prefix(
    staging: tuple[Site, Site], storage: ObjectStorage, tmp_path: Path
) -> None:
    site, other = staging
    site.manage("backup", "--to", tmp_path / "b")
    kept = storage.objects()
    refused = other.manage("restore", tmp_path / "b", check=False)
    assert refused.returncode == 1
    assert "nothing was changed: the storage of files belongs to another database" in refused.stderr
    assert storage.objects() == kept
    assert (
        other.python(
            "from leaderboard.challenges.models import Submission; "
            "print(Submission.objects.count())"
        )
        == "0"
    )

    other.settings["DIALEVAL_STORAGE_URL"] = ""  # a folder of its own
    other.manage("restore", tmp_path / "b")
    assert {f"uploads/{name}": data for name, data in uploads(other).items()} == kept
    identities = [
        json.loads(
            one.python(
                "import json; from annotations import site_identity; "
                "print(json.dumps(site_identity.identity()))"
            )
        )
        for one in staging
    ]
    assert identities[0] != identities[1]
    other.settings |= storage.settings  # somebody copies the production's environment
    assert "belongs to another database" in other.manage("site_identity", check=False).stderr


def test_a_restore_in_place_goes_on_as_the_same_site(own: Site, tmp_path: Path) -> None:
    kept = uploads(own)
    own.manage("backup", "--to", tmp_path / "b")
    before = own.manage("site_identity").stdout
    name = next(iter(kept))
    (own.home / "files" / "uploads" / name).unlink()
    own.manage("restore", tmp_path / "b", "--replace")
    assert own.manage("site_identity").stdout == before
    assert uploads(own) == kept
    begun = time.monotonic()
    own.python(SWEEP_AN_HOUR_LATER)
    assert uploads(own) == kept, f"after {time.monotonic() - begun:.0f} s"
