"""The embedded broker under several writers and readers at once."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

import dialeval_site.config.folder_broker  # noqa: F401  makes the scheme known

WRITERS, READERS, EACH = 3, 3, 400
processes = multiprocessing.get_context("spawn")


def connection(scheme: str, folder: Path) -> Connection:
    options = {
        "data_folder_in": str(folder / "queue"),
        "data_folder_out": str(folder / "queue"),
        "control_folder": str(folder / "control"),
    }
    return Connection(f"{scheme}://localhost//", transport_options=options)


def write(scheme: str, folder: Path, writer: int) -> None:
    with connection(scheme, folder).channel() as channel:
        for number in range(EACH):
            channel._put("cpu", {"message": writer * EACH + number})


def read(scheme: str, folder: Path, writing: Any, found: Any) -> None:
    """Takes messages until the writers are done and the queue is empty; sends what it took, or what
    went wrong."""
    taken: list[int] = []
    with connection(scheme, folder).channel() as channel:
        try:
            while True:
                still_writing = not writing.is_set()
                try:
                    taken.append(channel._get("cpu")["message"])
                except Empty:
                    if not still_writing:
                        break
        except Exception as problem:
            found.put(f"{type(problem).__name__}: {problem}")
            return
    found.put(taken)


def exchange_messages(scheme: str, folder: Path) -> list[Any]:
    (folder / "queue").mkdir(parents=True)
    (folder / "control").mkdir()
    done, found = processes.Event(), processes.Queue()
    readers = [
        processes.Process(target=read, args=(scheme, folder, done, found)) for _ in range(READERS)
    ]
    writers = [
        processes.Process(target=write, args=(scheme, folder, writer)) for writer in range(WRITERS)
    ]
    for process in [*readers, *writers]:
        process.start()
    for process in writers:
        process.join()
    done.set()
    results = [found.get(timeout=60) for _ in readers]
    for process in readers:
        process.join()
    return results


def test_every_message_is_read_whole_and_once(tmp_path: Path) -> None:
    results = exchange_messages("folder", tmp_path)
    assert not [problem for problem in results if isinstance(problem, str)]
    assert sorted(message for taken in results for message in taken) == list(range(WRITERS * EACH))
    assert list((tmp_path / "queue").iterdir()) == []


def test_a_message_that_is_being_written_cannot_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole = Path.write_text
    looked: list[str] = []

    def write_half_and_look(path: Path, text: str) -> int:
        write_whole(path, text[: len(text) // 2])
        with pytest.raises(Empty):
            channel._get("cpu")
        looked.append(path.name)
        return write_whole(path, text)

    with connection("folder", tmp_path).channel() as channel:
        monkeypatch.setattr(Path, "write_text", write_half_and_look)
        channel._put("cpu", {"message": 1})
        assert len(looked) == 1
        assert channel._get("cpu") == {"message": 1}


def bind(folder: Path, name: int) -> None:
    with connection("folder", folder).channel() as channel:
        for number in range(50):
            channel._queue_bind("exchange", f"key-{name}-{number}", "", f"queue-{name}-{number}")


def test_no_binding_is_lost_when_processes_bind_at_once(tmp_path: Path) -> None:
    binders = [processes.Process(target=bind, args=(tmp_path, name)) for name in range(3)]
    for process in binders:
        process.start()
    for process in binders:
        process.join()
    with connection("folder", tmp_path).channel() as channel:
        assert len(channel.get_table("exchange")) == 150


def test_a_folder_that_was_removed_is_an_empty_queue_and_made_again(tmp_path: Path) -> None:
    with connection("folder", tmp_path / "gone").channel() as channel:
        with pytest.raises(Empty):
            channel._get("cpu")
        channel._put("cpu", {"message": 1})
        assert channel._get("cpu") == {"message": 1}


def test_a_message_is_taken_from_its_own_queue_only(tmp_path: Path) -> None:
    with connection("folder", tmp_path).channel() as channel:
        channel._put("gpu", {"message": 1})
        with pytest.raises(Empty):
            channel._get("cpu")
        assert channel._size("gpu") == 1
