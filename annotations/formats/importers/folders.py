"""Formats that are several files in a folder: which files, and whose fault a fault is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems

MAX_FILES = 10_000


def files_of(path: Path, ending: str) -> list[Path]:
    """The files of a folder, at any depth, that a format may read.

    Args:
        path: a folder, or one file, which is taken whatever its name.
        ending: of the names, with its dot.

    Returns:
        At most ``MAX_FILES`` files in the order of their names, without hidden ones; links are not
        followed.
    """
    if not path.is_dir():
        return [path]
    found = (
        one
        for one in path.rglob(f"*{ending}")
        if not one.name.startswith(".") and one.is_file() and not one.is_symlink()
    )
    return sorted(islice(found, MAX_FILES))


def problems_of(problems: Problems, folder: Path, file: Path) -> Problems:
    """A collector for one file of a folder.

    Args:
        problems: of the folder; faults are noted there, too.
        folder: the folder, or the file itself.
        file: of the folder.

    Returns:
        A collector that names the file by its path in the folder.
    """
    if file == folder:
        return problems
    return replace(problems, file=file.relative_to(folder).as_posix())


def rows_of_files(path: Path, ending: str, problems: Problems) -> Iterator[JsonObject]:
    """Iterate over the JSON objects of all files of a folder.

    Args:
        path: as in ``files_of``.
        ending: as in ``files_of``.
        problems: collects faults, among them that the folder holds no such file.

    Returns:
        Iterator over the objects; each names its file and line.

    Raises:
        ImportFailed: as in ``json_rows``, or there is no file.
    """
    files = files_of(path, ending)
    if not files:
        problems.stop("", "", f"holds no file *{ending}")
    for file in files:
        own = problems_of(problems, path, file)
        for where, value in json_rows(file, own):
            place = where if file == path else f"{own.file}:{where}"
            row = JsonObject.of(value, place, problems)
            if row is not None:
                yield row
