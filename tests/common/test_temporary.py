"""What is temporary is gone when its owner is, however that ended, and not before."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from common import temporary
from tests.own_home import HOME
from tests.site import PROJECT

OWNER = """
import sys, time
from pathlib import Path
from common import temporary
if sys.argv[2]:
    temporary.use(Path(sys.argv[2]))
with temporary.temporary_folder(beside=Path(sys.argv[1])) as folder:
    (folder / "half").write_text("half of it")
    print(folder, flush=True)
    time.sleep(600)
"""


@contextmanager
def owner_at_work(beside: Path, owners: Path | str) -> Iterator[Path]:
    """A process that has made a folder; it is killed in the end."""
    command = [sys.executable, "-c", OWNER, str(beside), str(owners)]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Path(process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[Path]:
    """Owner files of this test alone."""
    temporary.use(tmp_path / "owners")
    yield tmp_path / "owners"
    temporary.use(HOME / "tmp")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that has nothing to do with a site."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def test_what_a_killed_process_left_is_removed_and_what_is_being_written_stays(
    owners: Path, place: Path
) -> None:
    with owner_at_work(place / "a", owners) as alive:
        with owner_at_work(place / "b", owners) as killed:
            assert temporary.remove_abandoned() == []
        assert [one.path for one in temporary.remove_abandoned()] == [killed]
        assert (alive.exists(), killed.exists()) == (True, False)
    assert [one.size for one in temporary.remove_abandoned()] == [len("half of it")]
    assert list(place.iterdir()) == list(owners.iterdir()) == []


def test_a_removal_is_told_in_the_log(
    owners: Path, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with owner_at_work(place / "a", owners) as killed:
        pass
    temporary.remove_abandoned()
    assert f"removed {killed}: the process that wrote it ended early (10 bytes, " in caplog.text


def test_without_a_site_the_next_program_in_that_folder_removes_it(place: Path) -> None:
    with owner_at_work(place / "a", ""):
        assert len(list(place.iterdir())) == 2  # the folder and its owner
    with owner_at_work(place / "a", "") as folder:
        assert sorted(place.iterdir()) == sorted([folder, folder.with_name(f"{folder.name}.owner")])


def test_only_its_owner_may_open_it(owners: Path, place: Path) -> None:
    with temporary.temporary_folder(place / "a") as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.parent == place
    assert list(place.iterdir()) == list(owners.iterdir()) == []


def test_a_process_that_was_forked_meanwhile_takes_nothing_away(owners: Path, place: Path) -> None:
    """As a web server's processes do of its main process's folder, when they end."""
    borrowed = temporary.temporary_folder(place / "a")
    folder = borrowed.__enter__()
    child = os.fork()
    if child == 0:
        borrowed.__exit__(None, None, None)
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.exists()
    assert temporary.remove_abandoned() == []
    borrowed.__exit__(None, None, None)
    assert not folder.exists()


def test_a_folder_that_had_given_way_comes_back_where_its_replacement_was_cut_off(
    owners: Path, place: Path
) -> None:
    target = place / "export"
    target.mkdir()
    (target / "corpus.jsonl").write_text("the former one")
    with owner_at_work(target, owners) as killed:
        (killed / temporary.REPLACED).mkdir()
        target.rename(killed / temporary.REPLACED / target.name)
    temporary.remove_abandoned()
    assert (target / "corpus.jsonl").read_text() == "the former one"
    assert list(place.iterdir()) == [target]


def test_one_in_another_leaves_no_owner_behind(owners: Path, place: Path) -> None:
    with owner_at_work(place / "a", owners) as outer, owner_at_work(outer / "b", owners):
        pass
    temporary.remove_abandoned()
    temporary.remove_abandoned()
    assert list(place.iterdir()) == list(owners.iterdir()) == []


def test_an_owner_file_that_names_something_else_removes_nothing(owners: Path, place: Path) -> None:
    (place / "precious").write_text("x")
    owners.mkdir()
    for number, named in enumerate(
        [place, place / "precious", place / ".dialeval-0123456789abcdef"]
    ):
        (owners / f".dialeval-{number:016x}.owner").write_text(str(named))
    (place / ".dialeval-0123456789abcdef").mkdir()
    assert temporary.remove_abandoned() == []
    assert sorted(path.name for path in place.iterdir()) == [
        ".dialeval-0123456789abcdef",
        "precious",
    ]


def test_a_link_in_the_place_of_a_folder_leads_a_sweep_nowhere(owners: Path, place: Path) -> None:
    (place / "precious").mkdir()
    (place / "precious" / "file").write_text("x")
    with owner_at_work(place / "a", owners) as killed:
        killed.rename(place / "moved")
        killed.symlink_to(place / "precious")
    temporary.remove_abandoned()
    assert (place / "precious" / "file").read_text() == "x"


def test_sweeps_at_the_same_time_take_nothing_from_who_begins(owners: Path, place: Path) -> None:
    """Between opening an owner file and locking it a sweep may come: the writer notices, and begins
    anew."""
    over = threading.Event()
    faults: list[BaseException] = []

    def sweep_on() -> None:
        while not over.is_set():
            temporary.remove_abandoned()

    def write(name: str) -> None:
        try:
            for _ in range(200):
                with temporary.temporary_folder(place / name) as folder:
                    (folder / "file").write_text("x")
                    assert (folder / "file").read_text() == "x"
        except BaseException as fault:
            faults.append(fault)

    sweepers = [threading.Thread(target=sweep_on) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(f"w{number}",)) for number in range(3)]
    for thread in (*sweepers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    for thread in sweepers:
        thread.join()
    assert faults == []
    assert list(place.iterdir()) == list(owners.iterdir()) == []


LEASING = """
import sys, time
from pathlib import Path
from common import temporary
temporary.use(Path(sys.argv[1]))
with temporary.lease_token() as token:
    print(token, flush=True)
    time.sleep(600)
"""


def test_a_lease_is_known_to_have_ended_where_its_process_was_killed(owners: Path) -> None:
    command = [sys.executable, "-c", LEASING, str(owners)]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        token = process.stdout.readline().strip()
        assert not temporary.has_ended(token)
    finally:
        process.kill()
        process.communicate()
    assert temporary.has_ended(token)
    assert temporary.remove_abandoned() == []
    assert temporary.has_ended(token)
    (entry,) = owners.iterdir()
    os.utime(entry, (0, time.time() - temporary.ENDED_SECONDS - 1))
    temporary.remove_abandoned()
    assert not temporary.has_ended(token)  # of another machine's nothing is known
    assert list(owners.iterdir()) == []
