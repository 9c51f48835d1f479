"""DSTC11 track 4 (Rodríguez-Cantelar et al. 2023, SIGDIAL): a table of utterances, and another of
their paraphrases and back-translations."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.csv_source import csv_lines
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message

COLUMNS = ("UID", "SID", "SEG")
MAX_LIST_TEXT = 100_000
"""Characters of a cell that holds a list."""


class _Utterances:
    """The messages of all dialogues by UID, each with the place where it first stands."""

    def __init__(self) -> None:
        self.places: dict[str, Where] = {}
        self.messages: dict[str, Message] = {}

    def add(self, cells: dict[str, str], where: Where, problems: Problems) -> None:
        uid = cells["UID"].strip()
        extra = {
            key.lower(): _value(cell)
            for key, cell in cells.items()
            if key not in COLUMNS and cell.strip() not in ("", "None")
        }
        known = self.messages.get(uid)
        if known is None:
            if not uid.rpartition("-")[0]:
                problems.add(where, "UID", f"{uid!r} is not dialogue-utterance")
                return
            self.places[uid] = where
            self.messages[uid] = spoken(cells["SID"].strip(), cells["SEG"], extra)
        elif known.text != cells["SEG"]:
            problems.add(where, "SEG", f"is another text than that of {uid!r} before")
        else:
            self.messages[uid] = replace(known, metadata={**known.metadata, **extra})


def _value(cell: str) -> Any:
    """A list or number that Python wrote, else the text."""
    if len(cell) > MAX_LIST_TEXT or not cell.strip().startswith(("[", *"-0123456789")):
        return cell
    try:
        value = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell
    return value if isinstance(value, list | int | float) else cell


def _has_columns(cells: Sequence[str]) -> bool:
    return set(COLUMNS) <= set(cells)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    files = files_of(path, ".csv")
    refuse_large(sum(one.stat().st_size for one in files if one.is_file()), problems)
    utterances = _Utterances()
    read = 0
    for file in files:
        own = problems_of(problems, path, file)
        rows = csv_lines(file, _has_columns, own)
        line, heading = next(rows, (1, []))
        if not _has_columns(heading):
            if file == path:
                problems.stop(line, "", f"the heading line must name {', '.join(COLUMNS)}")
            problems.skip(own.file, "", f"has no columns {', '.join(COLUMNS)}")
            continue
        read += 1
        for line, cells in rows:
            where = line if file == path else f"{own.file}:{line}"
            utterances.add(dict(zip(heading, cells, strict=True)), where, problems)
    if not read:
        problems.stop("", "", f"holds no table with the columns {', '.join(COLUMNS)}")
    dialogues: dict[str, list[str]] = {}
    for uid in utterances.messages:
        dialogues.setdefault(uid.rpartition("-")[0], []).append(uid)
    for dialogue_id, uids in dialogues.items():
        messages = tuple(utterances.messages[uid] for uid in sorted(uids, key=_position))
        yield from people_talking(dialogue_id, messages, utterances.places[uids[0]])


def _position(uid: str) -> tuple[int, str]:
    last = uid.rpartition("-")[2]
    is_number = last.isascii() and last.isdigit() and len(last) < 10
    return (int(last) if is_number else 0), last


def _detect(sample: FileSample) -> float:
    tables = [sample.member(name) for name in sample.members if name.endswith("_main.csv")]
    fits = any(one.keys >= set(COLUMNS) for one in (sample, *tables[:5]))
    return 0.9 if fits else 0.0


_DESCRIPTION = """\
A table with the columns `UID` (corpus, dialogue and utterance, joined by `-`), `SID` (who speaks)
and `SEG` (the text), or a folder with it and the tables of paraphrases and translations, whose
further columns are metadata of the message (`None` is nothing). A dialogue is a UID without its
last part. There are no systems; the human scores of this track are not read, because their columns
are not known to us."""
_EXAMPLE = "UID,SID,SEG\nBAKE-1-0000,A,Is the oven hot?\nBAKE-1-0001,B,Not yet.\n"

IMPORTER = Importer(
    name="dstc11",
    summary="DSTC11 track 4: utterances and their paraphrases (CSV, a folder)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
