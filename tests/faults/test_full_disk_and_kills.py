"""A disk that is full, and processes that are killed while they write: nothing half is stored,
nothing is lost, and nothing is left behind."""

from __future__ import annotations

import errno
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.challenges.http_participant import HttpParticipant
from tests.demo_site import demo_site
from tests.faults.chance import SEED, draw, few
from tests.faults.test_submissions import SET_UP, good_file
from tests.site import Site, kill, wait_until

pytestmark = pytest.mark.slow

KILLS, MOST_KILLS = few(2, of=6), 24
"""Of each command, and how many where the first ones were all too late."""
COUNT = "from leaderboard.challenges.models import Submission; print(Submission.objects.count())"
REMOVED = (
    "from annotations.models import OrphanCount; "
    "print(OrphanCount.objects.get(kind='temporary').removed)"
)
KILLED_EXPORT = """
import os, random, signal, threading
from annotations.models import CorpusVersion
from leaderboard.exports import zipped_export
version = CorpusVersion.objects.get(corpus__slug="demo")
threading.Timer(random.Random({seed}).random(), lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
while True:
    b"".join(zipped_export(version, "jsonl", raters_named=True))
"""
QUARANTINE = """
import time
from annotations import orphans
try:
    orphans.collect(time.time() + 4000)
except OSError as fault:
    print(fault.errno)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes and three hundred files, in memory."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m,nr_inodes=300", "tmpfs", folder],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> None:
    """To the last byte."""
    with (folder / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass


def use_up_inodes(folder: Path) -> None:
    with suppress(OSError):
        for number in range(1000):
            (folder / f"empty-{number}").touch()


def temporary_files(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob(".dialeval-*")]


# --- a full disk ----------------------------------------------------------------------------------


def test_an_upload_to_a_full_disk_is_refused_and_counts_for_nothing(
    site: Site, small_disk: Path
) -> None:
    (site.home / "files").symlink_to(small_disk)
    sender = HttpParticipant(site.start_web(), site.python(SET_UP.format(limit=1)), "cup", "one")
    fill(small_disk)
    answer = sender.submit(good_file(1))
    assert answer.status == 503
    assert "The site has no room for the file at the moment. Nothing was stored or counted" in str(
        answer.content
    )
    assert site.python(COUNT) == "0"
    assert not list((small_disk / "incoming").iterdir())
    assert not list((small_disk / "uploads").glob("*"))
    (small_disk / "filler").unlink()
    assert sender.submit(good_file(1)).status == 201  # the only place of the round was not used up


@pytest.mark.parametrize("form", ["jsonl", "csv", "mt-metrics-eval"])
def test_an_export_to_a_full_disk_leaves_the_former_one_whole(
    demo: Site, small_disk: Path, form: str
) -> None:
    target = small_disk / "export"
    demo.manage("export_corpus", "demo", "--to", target, "--format", form)
    former = {path.name: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    fill(small_disk)
    failed = demo.manage(
        "export_corpus", "demo", "--to", target, "--format", form, "--replace", check=False
    )
    assert failed.returncode == 1
    assert "No space left on device" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert {path.name: path.read_bytes() for path in target.rglob("*") if path.is_file()} == former
    assert temporary_files(small_disk, demo.home / "tmp") == []


def test_quarantining_on_a_full_disk_leaves_every_file_where_it_is(
    site: Site, small_disk: Path
) -> None:
    (site.home / "files").symlink_to(small_disk)
    site.python("from annotations import site_identity; site_identity.check()")
    orphan = small_disk / "uploads" / "nobodys"
    orphan.parent.mkdir(exist_ok=True)
    orphan.write_bytes(b"what nobody may lose")
    use_up_inodes(small_disk)  # the quarantine's folder cannot be made
    assert site.python(QUARANTINE).splitlines()[-1] == str(errno.ENOSPC)
    assert orphan.read_bytes() == b"what nobody may lose"
    for path in small_disk.glob("empty-*"):
        path.unlink()
    site.python(QUARANTINE)
    assert [path.read_bytes() for path in (small_disk / "quarantine").rglob("nobodys")] == [
        b"what nobody may lose"
    ]


# --- SIGKILL --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with demo_site(tmp_path_factory) as site:
        yield site


def killed_at_work(site: Site, wait: float, *arguments: str | Path) -> None:
    """A command that is killed so many seconds after it has begun to write."""
    process = site.start("killed", "manage.py", *map(str, arguments))
    deadline = time.monotonic() + 120
    # Closely: some write for a moment
    while process.poll() is None and not any((site.home / "tmp").glob("*.owner")):
        assert time.monotonic() < deadline, "the command begins to write"
        time.sleep(0.001)
    time.sleep(wait)
    kill(process)
    site.processes.remove(process)


@pytest.mark.parametrize(
    "command",
    [("export_corpus", "demo", "--replace"), ("report", "demo", "--force"), ("backup",)],
    ids=["export_corpus", "report", "backup"],
)
def test_of_a_command_that_is_killed_nothing_is_left_after_a_sweep(
    demo: Site, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Also where it writes far from DIALEVAL_HOME. Another command, or a worker, removes it."""
    chance, target = draw(), tmp_path / "target"
    if command[0] == "report":
        target.mkdir()  # reports come into it
    left = 0
    for number in range(MOST_KILLS):
        if left and number >= KILLS:
            break
        # A report is written in a moment: where the first were all too late, others come sooner
        wait = chance.random() ** 3 * 0.5 if number < KILLS else chance.random() * 0.02
        killed_at_work(demo, wait, *command, "--to", target)
        left += len(temporary_files(tmp_path))
        demo.manage("site_identity")
        assert temporary_files(tmp_path, demo.home / "tmp") == []
        assert {path.name for path in tmp_path.iterdir()} <= {"target"}
    assert left, "every one of them was quicker than its death"


def test_of_exports_over_http_that_are_killed_nothing_is_left_when_the_web_server_is_back(
    demo: Site,
) -> None:
    """The folder of an export holds what raters wrote, and their names where an organiser asks."""
    print(f"DIALEVAL_TEST_SEED={SEED}")
    left = 0
    for number in range(MOST_KILLS):
        if left and number >= KILLS:
            break
        killed = demo.manage("shell", "-c", KILLED_EXPORT.format(seed=SEED + number), check=False)
        assert killed.returncode == -signal.SIGKILL
        left += len(temporary_files(demo.home / "tmp"))
    assert left, "every one of them was quicker than its death"
    demo.start_web()
    assert list((demo.home / "tmp").iterdir()) == []
    assert int(demo.python(REMOVED)) > 0  # and counted
    demo.stop()


def test_a_worker_removes_what_another_process_left(
    site: Site, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("backups").resolve()
    killed_at_work(site, 0.02, "backup", "--to", folder / "b")
    (left,) = temporary_files(folder)
    site.start_worker()
    told = f"removed {left}: the process that wrote it ended early"
    log = site.home / "worker-0.log"
    wait_until(lambda: told in log.read_text(errors="replace"), 120, "the worker has looked")
    assert temporary_files(folder, site.home / "tmp") == []
