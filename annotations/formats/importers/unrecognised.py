"""Why no format is recognised: what a file is instead, and what to do."""

from __future__ import annotations

from pathlib import Path

from annotations.formats.importers.columnar import MAX_COLUMNS, is_columnar, rows
from annotations.formats.importers.compression import compression_of
from annotations.formats.importers.data_files import data_members
from annotations.formats.importers.problems import ImportFailed, Problems, not_text
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.survey_items import NEEDED

_LFS_POINTER = b"version https://git-lfs"
_WEB_PAGE = (b"<!doctype html", b"<html")
_NAMED = 10
UNKNOWN = "no known format is recognised"


def why_unrecognised(path: Path, sample: FileSample) -> str:
    """Say what a file is.

    Args:
        path: file, folder or archive that no importer recognises.
        sample: of it.

    Returns:
        A sentence without its end.
    """
    if sample.kind == "folder":
        if not sample.members:
            return "it holds no file"
        if not data_members(sample.members):
            return f"{UNKNOWN}: its files are none of data, or of several kinds; give one of them"
        return UNKNOWN
    if not path.is_file():
        return UNKNOWN
    with path.open("rb") as file:
        start = file.read(4096)
    if not start.strip(b"\xef\xbb\xbf \t\r\n"):
        return "it is empty"
    if start.startswith(_LFS_POINTER):
        return "it is a pointer of Git LFS; fetch the file itself with git lfs pull"
    if start.lstrip().lower().startswith(_WEB_PAGE):
        return "it is a web page"
    if "ImportId" in " ".join(map(" ".join, sample.cells)):
        return f"it is a survey of Qualtrics, which {NEEDED}"
    if is_columnar(path):
        try:
            next(rows(path, Problems(path.name)), None)
        except ImportFailed as failure:
            return f"it {failure.problems[0].message}"
    elif compression_of(start):
        return "it is compressed; what it holds is damaged, or of no known format"
    elif (fault := not_text(start)) and not (sample.kind.startswith("json") or sample.cells):
        return f"it {fault}"
    elif not sample.kind and b"\0" in start:
        return "it holds NUL bytes: no text, or UTF-16 without a byte order mark; save it as UTF-8"
    return UNKNOWN + _fields(sample)


def _fields(sample: FileSample) -> str:
    if len(sample.keys) > MAX_COLUMNS:
        return f": it has more than {MAX_COLUMNS:,} columns"
    names = sorted(sample.keys)
    if not names or (sample.kind == "table" and len(sample.cells) < 2):
        return ""
    listed = ", ".join(name[:40] for name in names[:_NAMED])
    listed += f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    if sample.kind in ("table", "rows"):
        return f"; it is a table with the columns {listed}: choose the format table, and map them"
    return f"; its records have the fields {listed}"
