"""Small files and short ways to read them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.base import PartSurvey, survey
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers
from annotations.formats.records import Record


def real_file(name: str) -> Path:
    """A file of the real data, or a skip where the folder is not given."""
    folder = os.environ.get("DIALEVAL_DATA")
    if not folder:
        pytest.skip("DIALEVAL_DATA names no folder with the real data")
    return Path(folder) / name


def file_of(folder: Path, content: Any, name: str = "file.json") -> Path:
    """A file that holds ``content``: bytes or text as they are, anything else as JSON."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8", newline="")
    return path


def lines_of(folder: Path, lines: list[Any]) -> Path:
    return file_of(folder, "".join(json.dumps(line) + "\n" for line in lines), "file.jsonl")


def read(format_name: str, path: Path, part: str = "") -> list[Record]:
    return list(importers()[format_name].read(path, part))


def surveyed(format_name: str, path: Path) -> tuple[PartSurvey, ...]:
    return survey(importers()[format_name], path)


def problems(format_name: str, path: Path) -> list[str]:
    """What the survey finds wrong, as it is shown to people."""
    with pytest.raises(ImportFailed) as failure:
        surveyed(format_name, path)
    return str(failure.value).split("\n")


def of_type(records: list[Record], record_type: type) -> list[Any]:
    return [record for record in records if isinstance(record, record_type)]
