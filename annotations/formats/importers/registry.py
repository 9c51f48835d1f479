"""All importers by name. Adding a format is one file and one line here."""

from __future__ import annotations

import re
from pathlib import Path

from annotations.formats.importers import (
    cpdc,
    dailydialog,
    fbd,
    grade,
    jsonl,
    personachat,
    ratings,
    usr,
)
from annotations.formats.importers.base import Importer
from annotations.formats.importers.csv_source import UTF16_MARKS


def importers() -> dict[str, Importer]:
    """All importers.

    Returns:
        Importers by format name, in the order in which help texts list them.
    """
    modules = (cpdc, usr, grade, fbd, dailydialog, personachat, ratings, jsonl)
    return {module.IMPORTER.name: module.IMPORTER for module in modules}


BEGINNING = 64 * 1024
"""Bytes in which a format's sign stands."""


FOREIGN = (
    (re.compile(r'"completed_by"\s*:'), "an export of Label Studio"),
    (re.compile(r'"label_annotations"\s*:'), "annotations of Potato"),
    (
        re.compile(r'"context"\s*:\s*"(User|System): .*"annotations"\s*:\s*\{', re.DOTALL),
        "FED's data",
    ),
)
"""What no importer takes, by its sign, and what it is called."""
AS_RATINGS = (
    "make it a table with one rating a row, dialog_id, turn, system, context, response, rater, "
    "score, and import that as ratings"
)


def what_to_do(path: Path) -> str:
    """Advice for a file that no importer reads but whose origin is recognised.

    Args:
        path: the file; its first ``BEGINNING`` bytes are read.

    Returns:
        What the file is and how to convert it; "" where it is not recognised or cannot be read.
    """
    beginning = _beginning(path)
    return next(
        (f"it is {what}: {AS_RATINGS}" for sign, what in FOREIGN if sign.search(beginning)), ""
    )


def likely_format(path: Path) -> str:
    """Guess a file's format from its beginning, for a message to someone who named another one.

    It decides nothing: a file is read as the format that the user named.

    Args:
        path: the file; its first ``BEGINNING`` bytes are read.

    Returns:
        Name of the importer whose ``sign`` is found; "" where none is, or more than one, or where
        the path is no file that can be read.
    """
    beginning = _beginning(path)
    signed = [one.name for one in importers().values() if one.sign.search(beginning)]
    return signed[0] if len(signed) == 1 else ""


def _beginning(path: Path) -> str:
    if not path.is_file():  # a pipe would be waited for
        return ""
    try:
        with path.open("rb") as file:
            start = file.read(BEGINNING)
    except OSError:
        return ""
    if start[:2] not in UTF16_MARKS:
        return start.decode("utf-8-sig", "replace")
    text = start.decode("utf-16", "replace")
    return "" if text.lstrip().startswith(("[", "{")) else text  # no importer takes JSON in UTF-16
