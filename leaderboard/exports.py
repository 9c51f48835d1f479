"""A corpus as one archive that is sent while it is packed."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from annotations.corpora.record_stream import records_of
from annotations.formats.exporters.registry import exporters
from annotations.models import CorpusVersion
from common.database import read_snapshot
from common.temporary import temporary_folder
from leaderboard.queries.exported_scores import exported_scores

CHUNK = 256 * 1024
AT_A_STRETCH = 0.01
"""Seconds of work between two rests."""

Item = TypeVar("Item")


def zipped_export(version: CorpusVersion, format: str, *, raters_named: bool) -> Iterator[bytes]:
    """The files of ``export_corpus`` in a zip archive. They are written to a folder first, whole,
    so that an export that fails is an error and not half a file; the archive itself is never held.
    The folder is of this call alone and goes with it: what an organiser gets, raters' names and
    all, is kept for nobody else."""
    with ExitStack() as stack:
        target = stack.enter_context(temporary_folder()) / version.corpus.slug
        with read_snapshot():
            records = records_of(version, raters_named=raters_named)
            exporters()[format].export(
                unhurried(records), target, unhurried(exported_scores(version))
            )
        return _packed(stack.pop_all(), target)


def unhurried(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, with a rest as long as the work on them, every few milliseconds. An archive
    is ten seconds of Python in a process that also writes pages, each of which would wait for its
    turn again and again."""
    begun = time.thread_time()
    for item in items:
        yield item
        worked = time.thread_time() - begun
        if worked > AT_A_STRETCH:
            time.sleep(worked)
            begun = time.thread_time()


def _packed(folder: ExitStack, target: Path) -> Iterator[bytes]:
    with folder:
        sink = _Sink()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in target.rglob("*") if path.is_file()):
                name = zipfile.ZipInfo(
                    f"{target.name}/{path.relative_to(target)}", (1980, 1, 1, 0, 0, 0)
                )
                name.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as packed:
                    while chunk := source.read(CHUNK):
                        packed.write(chunk)
                        yield sink.taken()
        yield sink.taken()


class _Sink:
    """A file that can only be written on: what was written is taken away at once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def taken(self) -> bytes:
        data, self.parts = b"".join(self.parts), []
        return data
