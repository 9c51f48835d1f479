"""All importers by name. Adding a format is one file and one line here."""

from __future__ import annotations

from pathlib import Path

from annotations.importers import cpdc, dailydialog, fbd, grade, jsonl, personachat, usr
from annotations.importers.base import Importer


def importers() -> dict[str, Importer]:
    """The importers, in the order in which help texts list them."""
    modules = (cpdc, usr, grade, fbd, dailydialog, personachat, jsonl)
    return {module.IMPORTER.name: module.IMPORTER for module in modules}


BEGINNING = 64 * 1024
"""Bytes in which a format's sign stands."""


def likely_format(path: Path) -> str:
    """The format of which the beginning of a file has the sign, for who named another one; "" where none has, or more
    than one, or where it is no file that can be read. It decides nothing: a file is read as what it was said to be."""
    if not path.is_file():  # a pipe would be waited for
        return ""
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING).decode("utf-8-sig", "replace")
    except OSError:
        return ""
    signed = [one.name for one in importers().values() if one.sign.search(beginning)]
    return signed[0] if len(signed) == 1 else ""
