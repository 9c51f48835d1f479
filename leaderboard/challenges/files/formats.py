"""Which of the formats a file is in, told from what it holds: names and browsers' content types
lie."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from annotations.formats.importers.csv_source import UTF16_MARKS
from annotations.formats.importers.json_source import open_file
from annotations.formats.importers.problems import Problems

Format = Literal["json", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = ("json", "jsonl", "csv")
_SAMPLE_BYTES = 64 * 1024


def format_of(path: Path, problems: Problems) -> Format:
    """``json`` for a list, ``jsonl`` for objects, else ``csv``, which may be UTF-16, as Excel's
    "Unicode text" is.

    Raises ImportFailed where the file is missing, empty, white space, of another kind or not UTF-8
    at its start.
    """
    with open_file(path, problems, utf16=True) as file:
        start = file.read(_SAMPLE_BYTES)
    if start[:2] in UTF16_MARKS:
        return "csv"
    first = start.lstrip()[:1]
    if not first:
        problems.stop("", "", "holds nothing but white space")
    if first == b"[":
        return "json"
    return "jsonl" if first == b"{" else "csv"
