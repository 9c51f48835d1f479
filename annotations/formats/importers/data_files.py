"""Which files of a folder hold data: the others describe it, or were left there by programs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

MAX_FILES = 10_000
_DATA = re.compile(
    r"\.(jsonl?|ndjson|csv|tsv|xlsx|parquet|arrow|feather)(\.(gz|bz2|xz|zst))?\Z", re.IGNORECASE
)
_DESCRIPTION = re.compile(
    r"(^|/)(\.|__MACOSX/|dataset_infos?\.json|dataset_dict\.json|state\.json|metadata\.json|"
    r"(users|projects|memories)\.json\Z)"
)


def data_members(names: Iterable[str]) -> list[str]:
    """Those of the names that hold data.

    Args:
        names: paths below a folder, with ``/`` between the parts.

    Returns:
        Files of JSON, tables, Parquet and Arrow, none where they are of several kinds.
    """
    found = [
        (name, kind[1].lower())
        for name in names
        if (kind := _DATA.search(name)) and not _DESCRIPTION.search(name)
    ]
    return [name for name, _ in found] if len({kind for _, kind in found}) == 1 else []


def data_files(folder: Path) -> list[Path]:
    """The files of data in a folder, at any depth.

    Args:
        folder: to look through; links are not followed.

    Returns:
        At most ``MAX_FILES`` files in the order of their names, all of one kind.
    """
    files = (one for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
    names = (one.relative_to(folder).as_posix() for one in islice(files, MAX_FILES))
    return [folder / name for name in data_members(sorted(names))]


def data_size(path: Path) -> int:
    """Bytes of a file, or of the files of data in a folder.

    Args:
        path: of either.

    Returns:
        Their sum; 0 where there is none.
    """
    files = data_files(path) if path.is_dir() else [path]
    return sum(one.stat().st_size for one in files if one.is_file())
