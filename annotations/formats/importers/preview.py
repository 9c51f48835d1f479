"""What would become of a file: its format, what each column is, counts, the first rows. Nothing is
stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from annotations.formats.importers.base import Importer, PartSurvey, survey
from annotations.formats.importers.column_mapping import Column, TableMapping
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.table import IMPORTER as TABLE
from annotations.formats.importers.table import mapping_of, with_mapping
from annotations.formats.importers.unpacking import unpacked
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RatingRecord,
    Record,
    ResponseRecord,
)

FIRST_ROWS = 3
SHOWN_CELLS = 3
_MOST_RECORDS = 2_000
"""Of a stream, among which the first rows are looked for."""
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class ShownJudgement:
    """What a rater says: "rater: aspect = score" and the like. ``about`` and ``sign`` stand between
    the rater and ``value``."""

    rater: str
    about: str
    sign: str
    value: str

    def __str__(self) -> str:
        return f"{self.rater}: {self.about}{self.sign} {self.value}"


@dataclass
class FirstRow:
    """One of the first responses, or a conversation without any, with what is said of it.

    Attributes:
        dialogue: its id.
        turn: number of the turn; None for a conversation without responses.
        context: the last message before it.
        system: who wrote it.
        response: its text, cut.
        judgements: of the response, or of the whole conversation.
    """

    dialogue: str
    turn: int | None
    context: str
    system: str
    response: str
    judgements: list[ShownJudgement] = field(default_factory=list)


@dataclass(frozen=True)
class Preview:
    """A file as one importer reads it.

    Attributes:
        parts: counts of each corpus in it, with what is skipped; of the beginning alone none.
        rows: the first rows of the first corpus.
        mapping: of a table, what each column is.
    """

    parts: tuple[PartSurvey, ...]
    rows: tuple[FirstRow, ...]
    mapping: TableMapping | None = None


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of a table with its use and its first values."""

    name: str
    column: Column
    cells: tuple[str, ...]


def table_columns(path: Path, mapping: TableMapping | None = None) -> list[ShownColumn]:
    """The columns of a table, as they are guessed or as a mapping has them.

    Args:
        path: the table.
        mapping: what its columns are; None to guess it.

    Returns:
        All columns, in the order of the table.

    Raises:
        ImportFailed: as in ``mapping_of``.
    """
    problems = Problems(path.name)
    with unpacked(path, problems) as plain:
        guess, rows = mapping_of(plain, problems)
    return [
        ShownColumn(
            name,
            (mapping or guess).columns.get(name, Column("metadata")),
            tuple(row[place][:100] for row in rows[:SHOWN_CELLS]),
        )
        for place, name in enumerate(guess.columns)
    ]


def preview(
    importer: Importer,
    path: Path,
    mapping: TableMapping | None = None,
    *,
    good_only: bool = False,
) -> Preview:
    """Read a file without storing anything.

    Args:
        importer: of the format.
        path: the file or folder.
        mapping: of a table; None to guess it.
        good_only: leave out bad records, as in ``Importer.read``.

    Returns:
        Counts and first rows.

    Raises:
        ImportFailed: as in ``survey``.
    """
    problems = Problems(path.name)
    with unpacked(path, problems) as plain:
        if importer.name == TABLE.name:
            mapping = mapping or mapping_of(plain, problems)[0]
            importer = with_mapping(mapping)
        parts = survey(importer, plain, good_only=good_only)
        first = _first_rows(importer.read(plain, parts[0].part, good_only=good_only))
    return Preview(parts, first, mapping if importer.name == TABLE.name else None)


def first_rows(
    importer: Importer,
    path: Path,
    mapping: TableMapping | None = None,
    *,
    good_only: bool = False,
) -> Preview:
    """Read the beginning of a file, of one that is too large to be read while somebody waits.

    Args:
        importer: of the format.
        path: the file.
        mapping: of a table; None to guess it.
        good_only: leave out bad records, as in ``Importer.read``.

    Returns:
        The first rows, without counts.

    Raises:
        ImportFailed: with the faults of what was read.
    """
    problems = Problems(path.name, is_lenient=good_only)
    with unpacked(path, problems) as plain:
        if importer.name == TABLE.name:
            mapping = mapping or mapping_of(plain, problems)[0]
            importer = with_mapping(mapping)
        part = importer.parts(plain)[0]
        first = _first_rows(importer.read_with(plain, part, problems, None))
        problems.raise_if_any()
    return Preview((), first, mapping if importer.name == TABLE.name else None)


def _first_rows(records: Iterable[Record]) -> tuple[FirstRow, ...]:
    found: dict[tuple[str, int | None, str], FirstRow] = {}
    dialogue: DialogueRecord | None = None
    for record in islice(records, _MOST_RECORDS):
        if isinstance(record, DialogueRecord):
            if len(found) >= FIRST_ROWS:
                break
            dialogue = record
            if not record.turns or record.interactive:
                last = record.messages[-1].text if record.messages else ""
                found[record.id, None, ""] = FirstRow(record.id, None, last[:_LONGEST], "", "")
        elif isinstance(record, ResponseRecord) and dialogue is not None:
            turn = next((one for one in dialogue.turns if one.number == record.turn), None)
            before = dialogue.context_of(turn) if turn else ()
            found[record.dialogue_id, record.turn, record.system] = FirstRow(
                record.dialogue_id,
                record.turn,
                before[-1].text[:_LONGEST] if before else "",
                record.system,
                record.text[:_LONGEST],
            )
        elif isinstance(record, RatingRecord | LabelRecord):
            _judge(found, record)
        elif isinstance(record, PreferenceRecord):
            for (name, _, system), row in found.items():
                if name == record.dialogue_id and system in (record.system_a, record.system_b):
                    pair = f"{record.system_a} and {record.system_b}"
                    row.judgements.append(ShownJudgement(record.rater, pair, ":", record.preferred))
    rows = [row for row in found.values() if row.response or row.turn is not None or row.context]
    return tuple(rows[:FIRST_ROWS])


def _judge(
    found: Mapping[tuple[str, int | None, str], FirstRow], record: RatingRecord | LabelRecord
) -> None:
    row = found.get((record.dialogue_id, record.turn, record.system))
    row = row or found.get((record.dialogue_id, None, ""))
    if row is None:
        return
    if isinstance(record, RatingRecord):
        judged = ShownJudgement(record.rater, record.aspect, " =", f"{record.score:g}")
    else:
        value = record.value if isinstance(record.value, str) else ", ".join(record.value)
        judged = ShownJudgement(record.rater, record.question, " =", value[:100])
    row.judgements.append(judged)
