"""Conversations out of a file, whichever importer reads it. Faults are the importers': file, line,
field."""

from __future__ import annotations

import re
from pathlib import Path

from annotations.formats.importers.dailydialog import END
from annotations.formats.importers.json_source import file_lines
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers
from workers.training.dialogues import TrainingDialogue, dialogues_of

RECOGNISED = ("dailydialog", "personachat", "jsonl", "cpdc")
"""The formats that are told by their first line; the others are named by the caller."""
_BEGINNINGS = (
    ("jsonl", re.compile(rb'\s*\{\s*"type"\s*:')),
    ("dailydialog", re.compile(rb"\s*\{")),
    ("cpdc", re.compile(rb"\s*\[")),
    ("personachat", re.compile(rb"1 .*(persona:|\t)")),
    ("dailydialog", re.compile(rb".*" + END.encode())),
)


def read_dialogues(path: Path, format_name: str = "", part: str = "") -> list[TrainingDialogue]:
    """The conversations in a file, each once, in order.

    ``format_name`` is an importer's; without one it is told from the first line that holds
    something. ``part`` names the corpus where a file holds several. Raises ImportFailed where the
    file has a fault: then nothing of it is used.
    """
    name = format_name or recognised(path)
    known = importers()
    if name not in known:
        Problems(path.name).stop(
            "", "", f"there is no format {name!r}; there are {', '.join(known)}"
        )
    return dialogues_of(known[name].read(path, part))


def recognised(path: Path) -> str:
    """The format of a file by its first line. Raises ImportFailed where it is none of
    ``RECOGNISED``."""
    problems = Problems(path.name)
    _, first = next(file_lines(path, problems), (0, b""))
    for name, beginning in _BEGINNINGS:
        if beginning.match(first):
            return name
    return problems.stop("", "", f"does not begin like {', '.join(RECOGNISED)}; name its format")
