"""A corpus as one archive."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO, TypeVar

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from annotations.corpora.record_stream import records_of
from annotations.formats.exporters.registry import exporters
from annotations.models import CorpusVersion
from common.database import read_snapshot
from common.ranges import file_response
from common.temporary import temporary_folder
from common.web import is_head_request
from leaderboard.queries.exported_scores import exported_scores

CHUNK = 256 * 1024
ZIP = "application/zip"
AT_A_STRETCH = 0.01
"""Seconds of work between two rests."""

Item = TypeVar("Item")


def export_response(
    request: HttpRequest, version: CorpusVersion, format: str, *, raters_named: bool
) -> HttpResponseBase:
    """The archive as a download, whole or in part. It is made anew for each request, and two
    archives of the same data have the same bytes. For HEAD nothing is made."""
    response: HttpResponseBase
    if is_head_request(request):
        response = HttpResponse(content_type=ZIP, headers={"Accept-Ranges": "bytes"})
    else:
        file = zipped_export(version, format, raters_named=raters_named)
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        response = file_response(request, file, file.tell(), sha256, ZIP)
    name = f"{version.corpus.slug}-{version.label}-{format}.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def zipped_export(version: CorpusVersion, format: str, *, raters_named: bool) -> IO[bytes]:
    """The files of ``export_corpus`` in a zip archive, which has no name on the disk: what an
    organiser gets, raters' names and all, is kept for nobody else."""
    with temporary_folder() as folder, ExitStack() as on_failure:
        target = folder / version.corpus.slug
        with read_snapshot():
            records = records_of(version, raters_named=raters_named)
            exporters()[format].export(
                unhurried(records), target, unhurried(exported_scores(version))
            )
        file: IO[bytes] = on_failure.enter_context(tempfile.TemporaryFile(dir=folder))
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in target.rglob("*") if path.is_file()):
                name = zipfile.ZipInfo(
                    f"{target.name}/{path.relative_to(target)}", (1980, 1, 1, 0, 0, 0)
                )
                name.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as packed:
                    shutil.copyfileobj(source, packed, CHUNK)
                path.unlink()  # a disk need not hold all of it twice
        file.seek(0)
        on_failure.pop_all()
    return file


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
