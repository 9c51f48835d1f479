"""What a file holds and a corpus of it does not: skipped records, and bad ones left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import PartSurvey
from annotations.formats.importers.json_source import array_elements, file_lines
from annotations.formats.importers.problems import ImportFailed, Problems, Where
from annotations.formats.importers.unpacking import unpacked
from common.tables.csv_text import csv_heading, csv_line
from common.text import storable

MOST = 1_000
"""Records that are named."""
LONGEST = 2_000
"""Characters of a record."""
COLUMNS = ("place", "field", "problem", "record")
_ELEMENT = re.compile(r"\$\[\d+\]")


@dataclass(frozen=True, slots=True)
class LeftOutRecord:
    """One problem of a record.

    Attributes:
        place: line or JSON path.
        field: below the place.
        problem: why it is not there, as a predicate.
        record: as the file has it, cut; "" where the place is no line and no element of a list.
    """

    place: str
    field: str
    problem: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What one corpus of a file leaves out.

    Attributes:
        skipped: records or answers that do not count by what the file says.
        bad: faults of records that were left out because of them.
        records: the first ``MOST``, bad ones first.
    """

    skipped: int = 0
    bad: int = 0
    records: tuple[LeftOutRecord, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.skipped or self.bad)

    def as_json(self) -> dict[str, Any]:
        """For a database."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> LeftOut:
        """What ``as_json`` made.

        Args:
            value: read from a database.
        """
        records = tuple(LeftOutRecord(**one) for one in value["records"])
        return cls(value["skipped"], value["bad"], records)

    def csv(self) -> str:
        """A table with a row for each record in ``records``."""
        rows = ((one.place, one.field, one.problem, one.record) for one in self.records)
        return csv_heading(COLUMNS) + "".join(map(csv_line, rows))


def left_out(path: Path, part: PartSurvey) -> LeftOut:
    """What a corpus of a file leaves out.

    Args:
        path: the file or folder that was surveyed.
        part: of its survey.

    Returns:
        Counts and records. The file is read once more where there is a bad one.
    """
    bad = part.left_out[:MOST]
    texts = _records_at(path, {one.where for one in bad}) if bad else {}
    listed = [*bad, *part.skipped][:MOST]
    return LeftOut(
        part.skipped_count,
        len(part.left_out),
        tuple(
            LeftOutRecord(
                *map(storable, (str(one.where), one.field, one.message, texts.get(one.where, "")))
            )
            for one in listed
        ),
    )


def _records_at(path: Path, places: Iterable[Where]) -> dict[Where, str]:
    """Lines, or elements of a JSON list, as far as the file can be read."""
    found: dict[Where, str] = {}
    lines = {place for place in places if isinstance(place, int)}
    elements = {place for place in places if _ELEMENT.fullmatch(str(place))}
    problems = Problems(path.name)
    try:
        with unpacked(path, problems) as plain:
            if lines:
                for number, line in file_lines(plain, problems):
                    if number in lines:
                        found[number] = line.decode("utf-8", "replace").strip()[:LONGEST]
            elif elements:
                for where, value in array_elements(plain, problems):
                    if where in elements:
                        found[where] = json.dumps(value, ensure_ascii=False)[:LONGEST]
    except ImportFailed:
        pass
    return found
