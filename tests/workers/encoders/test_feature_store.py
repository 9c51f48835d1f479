"""What is remembered: by whom, for how long, and what happens to it when processes, files and disks
fail."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from workers.inference.encoders import feature_store
from workers.inference.encoders.feature_store import FILE_NAME, FeatureFile, FeatureStore

MEGABYTE = 1_000_000


def vector(number: float, size: int = 4) -> NDArray[np.float32]:
    return np.full(size, number, dtype=np.float32)


def known(store: FeatureStore, *keys: str) -> dict[str, float]:
    return {key: float(values[0]) for key, values in store.get_many("layer 6", keys).items()}


@pytest.fixture
def store(tmp_path: Path) -> FeatureStore:
    return FeatureStore(tmp_path, MEGABYTE)


def test_gives_back_what_was_put(store: FeatureStore) -> None:
    store.put_many("layer 6", {"hello": np.array([1.5, -2.25], dtype=np.float32)})
    assert store.get_many("layer 6", ["hello", "unknown"])["hello"].tolist() == [1.5, -2.25]
    assert known(store, "hello", "unknown") == {"hello": 1.5}


def test_another_namespace_is_another_entry(store: FeatureStore) -> None:
    store.put_many("layer 6", {"hello": vector(1)})
    assert store.get_many("layer 5", ["hello"]) == {}
    # Nor do namespace and text run into one another
    assert store.get_many("layer 6h", ["ello"]) == {}


def test_another_process_finds_it(store: FeatureStore, tmp_path: Path) -> None:
    store.put_many("layer 6", {"hello": vector(1)})
    assert known(FeatureStore(tmp_path, MEGABYTE), "hello") == {"hello": 1}


def test_what_was_there_stays(store: FeatureStore, tmp_path: Path) -> None:
    store.put_many("layer 6", {"hello": vector(1)})
    FeatureStore(tmp_path, MEGABYTE).put_many("layer 6", {"hello": vector(2)})
    assert known(FeatureStore(tmp_path, MEGABYTE), "hello") == {"hello": 1}


def test_odd_texts_are_keys(store: FeatureStore, tmp_path: Path) -> None:
    texts = ["", "\0", "\ud800", "日本語", "x" * 4000, "' OR 1=1 --"]
    store.put_many("layer 6", {text: vector(number) for number, text in enumerate(texts)})
    assert list(known(FeatureStore(tmp_path, MEGABYTE), *texts).values()) == [0, 1, 2, 3, 4, 5]


def test_more_keys_than_a_query_takes(store: FeatureStore, tmp_path: Path) -> None:
    store.put_many("layer 6", {str(number): vector(number) for number in range(1203)})
    assert len(known(FeatureStore(tmp_path, MEGABYTE), *map(str, range(1203)))) == 1203


def test_what_is_given_cannot_be_written_to(store: FeatureStore) -> None:
    store.put_many("layer 6", {"hello": vector(1)})
    with pytest.raises(ValueError, match="read-only"):
        store.get_many("layer 6", ["hello"])["hello"][0] = 7


def test_without_a_folder_nothing_leaves_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = FeatureStore(None, MEGABYTE)
    store.put_many("layer 6", {"hello": vector(1)})
    assert known(store, "hello") == {"hello": 1}
    assert list(tmp_path.iterdir()) == []


def test_memory_holds_the_last_used_and_no_more() -> None:
    store = FeatureStore(None, 0, memory_bytes=2 * (4 * 100 + 250))  # two entries of 100 numbers
    store.put_many("layer 6", {"one": vector(1, 100), "two": vector(2, 100)})
    known(store, "one")
    store.put_many("layer 6", {"three": vector(3, 100)})
    assert known(store, "one", "two", "three") == {"one": 1, "three": 3}


def bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir() if not file.name.endswith("-shm"))


def test_the_files_never_take_more_than_they_may(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, 2 * MEGABYTE, memory_bytes=0)
    most = 0
    for turn in range(12):
        store.put_many("layer 6", {f"{turn} {number}": vector(turn, 256) for number in range(300)})
        most = max(most, bytes_in(tmp_path))
    assert MEGABYTE < most <= 2 * MEGABYTE
    assert known(store, "11 299") == {"11 299": 11}  # the newest is there, the oldest gone
    assert known(store, "0 0") == {}


def test_what_was_read_lately_outlives_what_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(feature_store.time, "time", lambda: now)
    store = FeatureStore(tmp_path, 2 * MEGABYTE, memory_bytes=0)
    store.put_many("layer 6", {f"old {number}": vector(0, 256) for number in range(300)})
    now += 1_000
    known(store, "old 0")
    now += 1_000
    for turn in range(6):
        store.put_many("layer 6", {f"{turn} {number}": vector(turn, 256) for number in range(300)})
        now += 1_000
        known(store, "old 0")
    assert known(store, "old 0", "old 1") == {"old 0": 0}


def test_a_smaller_allowance_shrinks_the_file(tmp_path: Path) -> None:
    large = FeatureStore(tmp_path, 8 * MEGABYTE)
    large.put_many("layer 6", {str(number): vector(0, 256) for number in range(4000)})
    large.close()
    assert bytes_in(tmp_path) > 4 * MEGABYTE
    small = FeatureStore(tmp_path, 2 * MEGABYTE)
    small.put_many("layer 6", {"new": vector(1, 256)})
    small.close()  # what the log holds goes into the file
    assert bytes_in(tmp_path) <= 2 * MEGABYTE


@pytest.mark.parametrize(
    "damage", [b"this is no database " * 500, b""], ids=["other content", "emptied"]
)
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    (tmp_path / FILE_NAME).write_bytes(damage)
    store = FeatureStore(tmp_path, MEGABYTE, memory_bytes=0)
    store.put_many("layer 6", {"hello": vector(1)})
    store.put_many("layer 6", {"hello": vector(1)})  # the first attempt finds the damage
    assert known(store, "hello") == {"hello": 1}
    if damage:
        assert (tmp_path / f"{FILE_NAME}.damaged").read_bytes() == damage
        assert "is damaged" in caplog.text


def test_pages_overwritten_in_the_middle_are_found_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = FeatureStore(tmp_path, MEGABYTE)
    store.put_many("layer 6", {str(number): vector(number, 256) for number in range(200)})
    store.close()
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 8192 * 10)
    again = FeatureStore(tmp_path, MEGABYTE, memory_bytes=0)
    right = {str(number): float(number) for number in range(200)}
    assert known(again, *right).items() <= right.items()  # nothing wrong is ever given
    again.put_many("layer 6", {"new": vector(1)})
    again.put_many("layer 6", {"new": vector(1)})
    assert known(again, "new") == {"new": 1}


def test_a_value_with_a_flipped_bit_is_not_given(store: FeatureStore, tmp_path: Path) -> None:
    store.put_many("layer 6", {"hello": vector(1)})
    store.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE entry SET value = zeroblob(16)")
    assert known(FeatureStore(tmp_path, MEGABYTE), "hello") == {}


def test_two_processes_find_the_damage_and_one_sets_it_aside(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database" * 1000)
    first, second = FeatureFile(tmp_path, MEGABYTE), FeatureFile(tmp_path, MEGABYTE)
    first.write({b"k": b"1"})
    first.write({b"k": b"1"})
    # As if it had opened the damaged one
    second._connection, second._inode = (sqlite3.connect(":memory:"), -1)
    second._set_aside(sqlite3.DatabaseError("malformed"))
    assert second.read([b"k"]) == {b"k": b"1"}


def test_a_folder_without_rights_makes_it_slower_and_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "features").write_text("a file where the folder should be")
    store = FeatureStore(tmp_path / "features", MEGABYTE)
    with caplog.at_level(logging.WARNING):
        store.put_many("layer 6", {"hello": vector(1)})
    assert known(store, "hello") == {"hello": 1}  # from this process's memory
    assert caplog.text.count("features are not remembered for 60 s") == 1


def test_a_full_disk_is_left_alone_for_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    monkeypatch.setattr(feature_store.time, "monotonic", lambda: now)
    store = FeatureStore(tmp_path, MEGABYTE, memory_bytes=0)
    store.put_many("layer 6", {"before": vector(1)})
    assert store._file
    assert store._file._connection
    (pages,) = store._file._connection.execute("PRAGMA page_count").fetchone()
    # SQLite's own way to meet a full disk
    store._file._connection.execute(f"PRAGMA max_page_count = {pages}")
    store.put_many("layer 6", {"large": vector(1, 5000)})
    assert "database or disk is full" in caplog.text
    assert known(store, "before") == {}  # for a minute
    now = 61
    assert known(store, "before", "large") == {"before": 1}


def write_many(folder: Path, name: str, entries: int) -> None:
    store = FeatureStore(folder, 50 * MEGABYTE)
    for start in range(0, entries, 50):
        store.put_many(
            "layer 6", {f"{name} {number}": vector(number) for number in range(start, start + 50)}
        )
        store.get_many("layer 6", [f"{name} {start}"])


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=write_many, args=(tmp_path, name, 1000)) for name in ("one", "two")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    keys = [f"{name} {number}" for name in ("one", "two") for number in range(1000)]
    assert len(known(FeatureStore(tmp_path, 50 * MEGABYTE), *keys)) == 2000


WRITE_FOR_EVER = """
import sys, itertools
from pathlib import Path
import numpy as np
from workers.inference.encoders.feature_store import FeatureStore
store = FeatureStore(Path(sys.argv[1]), 50_000_000)
for number in itertools.count():
    store.put_many("layer 6", {f"{number} {part}": np.full(2000, number, "f4") for part in range(50)})
    print(number, flush=True)
"""


def test_killed_in_the_middle_of_a_write_leaves_whole_entries(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE_FOR_EVER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path.cwd(),
    )
    assert writer.stdout
    written = -1
    while written < 20:
        written = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    writer.wait(10)
    writer.stdout.close()
    store = FeatureStore(tmp_path, 50 * MEGABYTE)
    found = store.get_many(
        "layer 6", [f"{number} {part}" for number in range(written + 1) for part in range(50)]
    )
    assert len(found) == 50 * (written + 1)
    assert all(
        (values == int(key.split()[0])).all() and values.size == 2000
        for key, values in found.items()
    )
    store.put_many("layer 6", {"after": vector(1)})
    assert known(FeatureStore(tmp_path, 50 * MEGABYTE), "after") == {"after": 1}


def test_a_forked_process_has_a_connection_of_its_own(store: FeatureStore, tmp_path: Path) -> None:
    store.put_many("layer 6", {"of the parent": vector(1)})
    child = os.fork()
    if child == 0:
        status = 1
        try:
            found = FeatureStore.get_many(store, "layer 6", ["of the parent"])
            store.put_many("layer 6", {"of the child": vector(2)})
            assert store._file is not None
            status = 0 if found and store._file._of_parents[0] is not None else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.put_many("layer 6", {"later": vector(3)})
    everything = known(FeatureStore(tmp_path, MEGABYTE), "of the parent", "of the child", "later")
    assert everything == {"of the parent": 1, "of the child": 2, "later": 3}
