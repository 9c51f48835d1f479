"""All importers by name. Adding a format is one file and one line here."""

from __future__ import annotations

from annotations.importers import cpdc, dailydialog, fbd, grade, jsonl, personachat, usr
from annotations.importers.base import Importer


def importers() -> dict[str, Importer]:
    """The importers, in the order in which help texts list them."""
    modules = (cpdc, usr, grade, fbd, dailydialog, personachat, jsonl)
    return {module.IMPORTER.name: module.IMPORTER for module in modules}
