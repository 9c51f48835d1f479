"""What a format detector sees of a file or folder: its beginning, parsed as far as it goes.

Reading is bounded and never raises on what a file holds: garbage has no kind, no keys, no records.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from annotations.formats.importers.columnar import MAX_COLUMNS
from annotations.formats.importers.compression import (
    DAMAGED,
    beginning,
    is_tar,
    open_tar,
)
from annotations.formats.importers.csv_source import UTF16_MARKS, likely_delimiter
from annotations.formats.importers.wrapped_records import (
    BEGINNING,
    BY_COLUMN,
    FIRST_RECORDS,
    TRANSCRIPT_KEYS,
    array_values,
    wrapped_records,
)

MAX_MEMBERS = 1_000
"""Files of a folder or archive whose names are looked at."""
MAX_WHOLE = 64 * 1024**2
"""Bytes of a member that has to be read as a whole (Parquet, a spreadsheet), and of a tar archive
that are passed for its listing."""

Kind = Literal["json array", "json object", "json lines", "table", "rows", "text", "folder", ""]
"""``table``: delimited text or a spreadsheet. ``rows``: Parquet or Arrow. "" is anything else."""
NOT_DATA = re.compile(r"(^|/)(__MACOSX/|\.[^/]*$|Thumbs\.db$)")
"""Members of archives that file managers leave there."""
_MOST_OPENED = 50
"""Members of a tar archive, which is read from its beginning each time, whose first bytes are
held."""
_WHOLE = (b"PK\x03\x04", b"PAR1", b"ARROW1")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_AFTER_KEY = re.compile(r"\s*:")
_SEPARATOR_LINE = re.compile(r'\A"?sep=[,;\t]"?\r?\n')


@dataclass(frozen=True)
class FileSample:
    """The beginning of a file, or the listing of a folder or archive.

    Attributes:
        name: of the file or folder.
        kind: how it is laid out.
        text: the first ``BEGINNING`` bytes as text; "" for a folder and for what is no text.
        keys: of the first JSON object, even where the sample cuts it; column names of a table or of
            rows.
        records: the first JSON values of an array, of lines or a whole object, or the first rows.
        cells: the first lines of a table, as they stand.
        members: paths in a folder or archive, with ``/`` between the parts, sorted.
    """

    name: str
    kind: Kind = ""
    text: str = ""
    keys: frozenset[str] = frozenset()
    records: tuple[Any, ...] = ()
    cells: tuple[tuple[str, ...], ...] = ()
    members: tuple[str, ...] = ()
    _read: Callable[[str, int], bytes] = field(default=lambda _member, _most: b"", repr=False)
    _folder: Path | None = None

    @classmethod
    def of(cls, path: Path) -> FileSample:
        """Look at a file, folder or archive.

        Args:
            path: anything, also nothing; a pipe or device is not opened.

        Returns:
            The sample; without a kind where nothing can be said.
        """
        try:
            if path.is_dir():
                return _folder(path)
            if not path.is_file():
                return cls(path.name)
            with path.open("rb") as file:
                start, suffix = beginning(file, BEGINNING)
        except OSError:
            return cls(path.name)
        if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return _archive(path)
        if is_tar(start):
            return _tar(path)
        if start.startswith((b"PAR1", b"ARROW1")) or path.suffix == ".arrow":
            return _rows(path)
        return _file(path.name.removesuffix(suffix), start)

    @property
    def record(self) -> Mapping[str, Any]:
        """The first record where it is an object, else an empty one."""
        first = self.records[0] if self.records else None
        return first if isinstance(first, dict) else {}

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """The first records that are objects, or rows of a table by their headings."""
        if self.kind != "table":
            return [one for one in self.records if isinstance(one, dict)]
        lines = [tuple(map(str.strip, row)) for row in self.cells]
        place = next((at for at, row in enumerate(lines) if self.keys <= set(row)), 0)
        heading, *rows = lines[place:] or ((),)
        return [dict(zip(heading, row, strict=False)) for row in rows]

    @property
    def is_of_rows(self) -> bool:
        """Whether it is laid out as rows of a table, and has no more columns than one may have."""
        is_laid_out = self.kind in ("table", "rows", "json lines", "json array")
        return is_laid_out and len(self.keys) <= MAX_COLUMNS

    def member(self, name: str) -> FileSample:
        """Look at one file of a folder or archive.

        Args:
            name: one of ``members``.

        Returns:
            Its sample, without a kind where it cannot be read.
        """
        if name not in self.members:
            return FileSample(name)
        if self._folder is not None:
            return FileSample.of(self._folder / name)
        plain = name.rpartition("/")[2]
        start, suffix = beginning(io.BytesIO(self._read(name, BEGINNING)), BEGINNING)
        if not start.startswith(_WHOLE):
            return _file(plain.removesuffix(suffix), start)
        with TemporaryDirectory(prefix="dialeval-member-") as folder:
            path = Path(folder) / plain
            path.write_bytes(self._read(name, MAX_WHOLE))
            found = FileSample.of(path)
        return FileSample(found.name) if found.kind == "folder" else found


def _folder(folder: Path) -> FileSample:
    names = sorted(islice(_paths_below(folder), MAX_MEMBERS))
    return FileSample(folder.name, "folder", members=tuple(names), _folder=folder)


def _paths_below(folder: Path) -> Iterator[str]:
    for place, _, files in os.walk(folder):
        for name in files:
            yield (Path(place) / name).relative_to(folder).as_posix()


def _archive(path: Path) -> FileSample:
    """A spreadsheet, or a zip file as the folder that it holds."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()[:MAX_MEMBERS]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return FileSample(path.name)
    found = [info.filename for info in infos if not info.is_dir()]
    if "xl/workbook.xml" in found:
        return _spreadsheet(path)

    def read(name: str, most: int) -> bytes:
        try:
            with zipfile.ZipFile(path) as archive, archive.open(name) as file:
                return file.read(most)
        except (
            zipfile.BadZipFile,
            zlib.error,
            OSError,
            ValueError,
            KeyError,
            EOFError,
            RuntimeError,
            NotImplementedError,
        ):
            return b""

    return _of_members(path.name, found, read)


def _tar(path: Path) -> FileSample:
    found: list[str] = []
    beginnings: dict[str, bytes] = {}
    with contextlib.suppress(*DAMAGED), open_tar(path, MAX_WHOLE) as archive:
        for info in archive:
            if info.isfile() and len(found) < MAX_MEMBERS:
                found.append(posixpath.normpath(info.name))
                file = archive.extractfile(info) if len(found) <= _MOST_OPENED else None
                if file is not None:
                    beginnings[found[-1]] = file.read(BEGINNING)

    def read(name: str, most: int) -> bytes:
        if most <= BEGINNING and name in beginnings:
            return beginnings[name]
        with contextlib.suppress(*DAMAGED), open_tar(path, MAX_WHOLE) as archive:
            for info in archive:
                if posixpath.normpath(info.name) == name and (file := archive.extractfile(info)):
                    return file.read(most)
        return b""

    return _of_members(path.name, found, read)


def _of_members(name: str, found: list[str], read: Callable[[str, int], bytes]) -> FileSample:
    """An archive as the folder that it holds, or its only file."""
    found = [one for one in found if not NOT_DATA.search(one)]
    try:  # the folder that holds all is not part of the layout
        top = posixpath.commonpath([posixpath.dirname(one) for one in found])
    except ValueError:
        top = ""
    top = f"{top}/" if top else ""
    names = sorted(one.removeprefix(top) for one in found)
    sample = FileSample(
        name,
        "folder",
        members=tuple(names),
        _read=lambda member, most: read(top + member, most),
    )
    return sample.member(names[0]) if len(names) == 1 else sample


def _spreadsheet(path: Path) -> FileSample:
    from annotations.formats.importers.spreadsheet import first_rows

    cells = tuple(first_rows(path))
    return FileSample(path.name, "table", keys=_heading(cells), cells=cells)


def _rows(path: Path) -> FileSample:
    from annotations.formats.importers.columnar import first_rows

    rows = tuple(first_rows(path, FIRST_RECORDS))
    keys = frozenset(rows[0]) if rows else frozenset()
    return FileSample(path.name, "rows" if rows else "", keys=keys, records=rows)


def _file(name: str, start: bytes) -> FileSample:
    text = _decoded(start)
    sample = FileSample(name, text=text)
    json_text = text.lstrip()
    if json_text.startswith("["):
        values = array_values(json_text)
        return replace(sample, kind="json array", keys=first_keys(text), records=values)
    if records := wrapped_records(json_text):
        keys = frozenset(records[0]) if isinstance(records[0], dict) else frozenset()
        return replace(sample, kind="json array", keys=keys, records=records)
    if BY_COLUMN.match(json_text):
        return replace(sample, kind="json array", keys=first_keys(text))
    if json_text.startswith("{"):
        return replace(sample, **_json_objects(json_text))
    if not json_text or "\0" in text:
        return replace(sample, text="")
    cells = _cells(text)
    has_one_column = len(cells) > 1 and cells[0][0].strip().casefold() in TRANSCRIPT_KEYS
    if any(len(row) > 1 for row in cells) or has_one_column:
        return replace(sample, kind="table", keys=_heading(cells), cells=cells)
    return replace(sample, kind="text")


def _decoded(start: bytes) -> str:
    if start[:2] in UTF16_MARKS:
        return start.decode("utf-16", "replace")
    return start.decode("utf-8-sig", "replace")


def first_keys(text: str) -> frozenset[str]:
    """The keys of the first object in JSON that may be cut anywhere.

    Args:
        text: beginning of a JSON document: an object, or an array of them.

    Returns:
        The keys of the outermost object; none where the text holds no object.
    """
    depth, keys = 0, set()
    start = text.find("{")
    for token in _TOKEN.finditer(text, max(start, 0)):
        found = token[0]
        if found in "{[":
            depth += 1
        elif found in "}]":
            depth -= 1
            if depth <= 0:
                break
        elif depth == 1 and _AFTER_KEY.match(text, token.end()):
            keys.add(_text_of(found))
    return frozenset(keys)


def _text_of(written: str) -> str:
    try:
        return str(json.loads(written))
    except ValueError:
        return written


def _json_objects(text: str) -> dict[str, Any]:
    """Kind, keys and records of text that begins with an object."""
    values: list[Any] = []
    lines = text.split("\n", FIRST_RECORDS)
    for line in lines[:FIRST_RECORDS]:
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError):
                break
    is_whole_object = not values and len(lines) > 1
    if not values:
        with contextlib.suppress(ValueError, RecursionError):
            values.append(json.loads(text))
    kind: Kind = "json object" if is_whole_object else "json lines"
    return {"kind": kind, "keys": first_keys(text), "records": tuple(values)}


def _cells(text: str) -> tuple[tuple[str, ...], ...]:
    """The first rows, in which no one-celled text is a table."""
    text = _SEPARATOR_LINE.sub("", text)
    rows: list[tuple[str, ...]] = []
    with contextlib.suppress(csv.Error):
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=likely_delimiter(text)):
            if any(map(str.strip, row)):
                rows.append(tuple(row))
            if len(rows) > 2 * FIRST_RECORDS:
                break
    return tuple(rows)


def _heading(cells: tuple[tuple[str, ...], ...]) -> frozenset[str]:
    """Names of the columns: a title may stand above them, and one column may have no name."""
    widths = [sum(bool(cell.strip()) for cell in row) for row in cells]
    most = max(widths, default=0)
    heading = next((row for row, width in zip(cells, widths, strict=True) if width >= most - 1), ())
    return frozenset(cell.strip() for cell in heading if cell.strip())


Detector = Callable[[FileSample], float]
"""How certainly a file is of a format, from 0 (it is not) to 1 (it names the format itself); about
0.9 for keys that no other format has, 0.6 for a layout that many write, 0.3 for a last resort."""


def has_keys(*keys: str, confidence: float = 0.9, kinds: tuple[Kind, ...] = ()) -> Detector:
    """A detector that looks for the keys of the first record.

    Args:
        keys: all of which the record, or the heading of a table, must have.
        confidence: what it answers where they are there.
        kinds: the layouts in which they count; none for all.

    Returns:
        The detector.
    """

    def detect(sample: FileSample) -> float:
        fits = (not kinds or sample.kind in kinds) and sample.keys >= set(keys)
        return confidence if fits else 0.0

    return detect
