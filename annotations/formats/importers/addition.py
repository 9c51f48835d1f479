"""A corpus with what a table adds to it: responses of systems, ratings and labels.

Nothing that the corpus holds is changed: what the table says again must be the same, and is passed
over; what it says otherwise is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from annotations.formats.importers.added_rows import AddedRow, AddedTable, Judgement, added_table
from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import COMMENT, DATASET
from annotations.formats.importers.column_mapping import TableMapping
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers
from annotations.formats.importers.table_reader import MAX_HELD
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
)

SHOWN = 5
"""Of the first records that are added."""


@dataclass
class AddedCounts:
    """What a table adds.

    Attributes:
        systems: new ones.
        responses: likewise, of new and of known systems.
        raters: new ones.
        aspects: new ones.
        ratings: new ones.
        labels: likewise, comments on their own included.
        known: how much of the table the corpus holds already, by row and cell.
    """

    systems: int = 0
    responses: int = 0
    raters: int = 0
    aspects: int = 0
    ratings: int = 0
    labels: int = 0
    known: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing is new."""
        return not (self.responses or self.ratings or self.labels)

    def as_json(self) -> dict[str, int]:
        """The counts that are not 0, by name."""
        return {name: count for name, count in asdict(self).items() if count}


@dataclass
class Addition:
    """Reads a table as an addition to a corpus.

    Attributes:
        base: gives the records of the corpus, each time from its start.
        mapping: what each column is; None to guess it.
        counts: of the last time that ``importer`` has read the table.
        first: the first records that were added then.
    """

    base: Callable[[], Iterable[Record]]
    mapping: TableMapping | None = None
    counts: AddedCounts = field(default_factory=AddedCounts)
    first: list[ResponseRecord | RatingRecord | LabelRecord] = field(default_factory=list)

    @property
    def importer(self) -> Importer:
        """An importer whose file is the table, and whose corpus is the base with what the table
        adds. A table has at most ``MAX_HELD`` rows, which are held."""
        return replace(importers()["table"], stream=self.stream)

    def stream(self, path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
        """Read the corpus and the table.

        Args:
            path: the table.
            _part: ignored.
            problems: collects faults, each with its line.

        Returns:
            Iterator over records; those of the table stand with their line, after those of the
            corpus in their conversation.

        Raises:
            ImportFailed: as in ``added_table``.
        """
        self.counts, self.first = AddedCounts(), []
        table = added_table(path, problems, self.mapping)
        self.mapping = table.mapping
        rows = list(islice(table.rows, MAX_HELD + 1))
        if len(rows) > MAX_HELD:
            problems.stop(rows[-1].line, "", f"is beyond the {MAX_HELD:,} rows of an addition")
        merging = _Merging(table, rows, problems, self.counts, self.first)
        for record in _conversations(self.base()):
            yield from merging.merged(record)
        merging.finish()


def _conversations(records: Iterable[Record]) -> Iterator[Record | list[Record]]:
    """Corpus, systems and raters one by one; then a list for each conversation."""
    number = 0

    def conversation_of(record: Record) -> int:
        nonlocal number
        number += isinstance(record, DialogueRecord)
        return number

    for count, group in groupby(records, conversation_of):
        if count:
            yield list(group)
        else:
            yield from group


class _Merging:
    def __init__(
        self,
        table: AddedTable,
        rows: list[AddedRow],
        problems: Problems,
        counts: AddedCounts,
        first: list[Any],
    ) -> None:
        self.names_turns = table.names_turns
        self.problems = problems
        self.counts = counts
        self.first = first
        self.rows: dict[str, list[AddedRow]] = {}
        for row in rows:
            self.rows.setdefault(row.conversation, []).append(row)
        self.answering = {row.system: row for row in reversed(rows) if row.response is not None}
        self.numeric = {
            one.aspect for row in rows for one in row.judgements if one.score is not None
        }
        self.corpus = CorpusRecord()
        self.systems: set[str] = set()
        self.raters: set[str] = set()
        self.heads_are_done = 0

    def merged(self, record: Record | list[Record]) -> Iterator[Placed]:
        if isinstance(record, CorpusRecord):
            yield self._with_aspects(record), "", ""
        elif isinstance(record, SystemRecord):
            self.systems.add(record.name)
            yield record, "", ""
        elif isinstance(record, RaterRecord):
            yield from self._new_systems()
            self.raters.add(record.name)
            yield record, "", ""
        elif isinstance(record, list):
            yield from self._new_systems()
            yield from self._new_raters()
            yield from self._conversation(record)

    def finish(self) -> None:
        for name, rows in self.rows.items():
            for row in rows:
                message = f"the corpus has no conversation {name!r}"
                self.problems.add(row.line, "conversation", message)

    def _with_aspects(self, corpus: CorpusRecord) -> CorpusRecord:
        self.corpus = corpus
        scored = {
            self._aspect(one): None
            for rows in self.rows.values()
            for row in rows
            for one in row.judgements
            if one.score is not None
        }
        new = tuple(name for name in scored if name not in corpus.aspects)
        self.counts.aspects = len(new)
        scales = tuple((name, *corpus.scale_of(name)) for name in corpus.aspects)
        return replace(
            corpus,
            aspects=corpus.aspects + new,
            scales=scales + tuple((name, None, None) for name in new),
        )

    def _aspect(self, one: Judgement) -> str:
        """As the corpus spells it; its main one where the table names none."""
        if not one.aspect:
            return self.corpus.main_aspect
        spelt = {name.casefold(): name for name in reversed(self.corpus.aspects)}
        known = one.aspect in self.corpus.aspects
        return one.aspect if known else spelt.get(one.aspect.casefold(), one.aspect)

    def _new_systems(self) -> Iterator[Placed]:
        if self.heads_are_done:
            return
        self.heads_are_done = 1
        for name, row in reversed(self.answering.items()):
            if name and name not in self.systems:
                self.systems.add(name)
                self.counts.systems += 1
                yield SystemRecord(name), row.line, "system"

    def _new_raters(self) -> Iterator[Placed]:
        if self.heads_are_done == 2:
            return
        self.heads_are_done = 2
        for rows in self.rows.values():
            for row in rows:
                judging = [one.rater or DATASET for one in row.judgements if self._counts(one)]
                if row.comments:
                    judging.append(self._commenting(row))
                for name in judging:
                    if name not in self.raters:
                        self.raters.add(name)
                        self.counts.raters += 1
                        kind = "aggregate" if name == DATASET else "identified"
                        yield RaterRecord(name, kind), row.line, "rater"  # type: ignore[arg-type]

    def _counts(self, one: Judgement) -> bool:
        """Text among an aspect's numbers does not."""
        return one.score is not None or one.aspect not in self.numeric

    def _commenting(self, row: AddedRow) -> str:
        return row.rater or next((one.rater for one in row.judgements if one.rater), DATASET)

    def _conversation(self, records: list[Record]) -> Iterator[Placed]:
        for record in records:
            yield record, "", ""
        dialogue = records[0]
        assert isinstance(dialogue, DialogueRecord)
        rows = self.rows.pop(dialogue.id, [])
        if rows:
            known = _Known(dialogue, records)
            new = [
                placed for row in rows for placed in self._row(row, known)
            ]  # responses come before ratings
            yield from sorted(new, key=lambda one: not isinstance(one[0], ResponseRecord))

    def _row(self, row: AddedRow, known: _Known) -> Iterator[Placed]:
        if row.response is None and not row.judgements and not row.comments:
            return
        system = row.system or known.only_system
        turn = row.turn
        if turn is None and not self.names_turns and len(known.turns) == 1:
            (turn,) = known.turns
        if fault := self._fault(row, system, turn, known):
            self.problems.add(row.line, *fault)
            return
        if row.response is not None and turn is not None:
            yield from self._response(row, system, turn, known)
        yield from self._judgements(row, system, turn, known)

    def _fault(
        self, row: AddedRow, system: str, turn: int | None, known: _Known
    ) -> tuple[str, str] | None:
        where = f"conversation {row.conversation!r}"
        if not system:
            count = len(known.answering)
            return "system", f"is not named, and {count} systems answer in {where}"
        if system not in self.systems:
            return "system", f"the corpus has no system {system!r}, and no row gives its response"
        if turn is None and row.response is not None:
            return "turn", f"is not named, and {where} has {len(known.turns)}"
        if turn is not None and turn not in known.turns:
            return "turn", f"{where} has no turn {turn}"
        if row.response is None and turn is None and system not in known.answering:
            return "system", f"{system!r} has no response in {where}"
        if row.response is None and turn is not None and (turn, system) not in known.responses:
            return "turn", f"{system!r} has no response at turn {turn} of {where}"
        return None

    def _response(self, row: AddedRow, system: str, turn: int, known: _Known) -> Iterator[Placed]:
        text = row.response or ""
        there = known.responses.get((turn, system))
        if there is None:
            record = ResponseRecord(
                known.dialogue.id, turn, system, text, metadata=dict(row.metadata)
            )
            known.responses[turn, system] = text
            known.answering[system] = None
            self.counts.responses += 1
            yield self._noted(record), row.line, "response"
        elif there.strip() != text:
            message = f"{system!r} has another response at turn {turn} already"
            self.problems.add(row.line, "response", message)
        else:
            self.counts.known += 1

    def _judgements(
        self, row: AddedRow, system: str, turn: int | None, known: _Known
    ) -> Iterator[Placed]:
        rated: list[RatingRecord] = []
        for one in row.judgements:
            if not self._counts(one):
                self.problems.skip(row.line, one.aspect, f"is no number: {one.text[:50]!r}")
                continue
            rater = one.rater or DATASET
            aspect = self._aspect(one)
            if one.score is None:
                yield from self._label(row, system, turn, rater, aspect, one.text, known)
                continue
            key = (turn, system, rater, aspect)
            there = known.ratings.get(key)
            if there is None:
                known.ratings[key] = one.score
                self.counts.ratings += 1
                rated.append(
                    RatingRecord(known.dialogue.id, turn, system, rater, aspect, one.score)
                )
            elif there != one.score:
                message = f"{rater} gave {aspect!r} the score {there:g} already"
                self.problems.add(row.line, "score", message)
            else:
                self.counts.known += 1
        comments = list(row.comments)
        who = self._commenting(row) if comments else ""
        for record in rated:
            comment = comments.pop(0) if comments and record.rater == who else ""
            yield self._noted(replace(record, comment=comment)), row.line, "score"
        for comment in comments:
            if (turn, system, who, comment) in known.comments:
                self.counts.known += 1
            else:
                yield from self._label(row, system, turn, who, COMMENT, comment, known)

    def _label(
        self,
        row: AddedRow,
        system: str,
        turn: int | None,
        rater: str,
        question: str,
        text: str,
        known: _Known,
    ) -> Iterator[Placed]:
        key = (turn, system, rater, question)
        there = known.labels.get(key)
        if there is None:
            known.labels[key] = text
            self.counts.labels += 1
            record = LabelRecord(known.dialogue.id, turn, system, rater, question, text)
            yield self._noted(record), row.line, question
        elif there != text:
            message = f"{rater} answered {question!r} with {str(there)[:50]!r} already"
            self.problems.add(row.line, question, message)
        else:
            self.counts.known += 1

    def _noted(self, record: Any) -> Any:
        if len(self.first) < SHOWN:
            self.first.append(record)
        return record


class _Known:
    """What the corpus holds in one conversation, and what the table has added to it so far."""

    def __init__(self, dialogue: DialogueRecord, records: list[Record]) -> None:
        self.dialogue = dialogue
        self.turns = [turn.number for turn in dialogue.turns]
        self.responses: dict[tuple[int, str], str] = {}
        self.answering: dict[str, None] = {}
        self.ratings: dict[tuple[int | None, str, str, str], float] = {}
        self.labels: dict[tuple[int | None, str, str, str], str | tuple[str, ...]] = {}
        self.comments: set[tuple[int | None, str, str, str]] = set()
        for record in records:
            if isinstance(record, ResponseRecord) and not record.sample:
                self.responses[record.turn, record.system] = record.text
                self.answering[record.system] = None
            elif isinstance(record, RatingRecord):
                place = record.turn, record.system, record.rater
                self.ratings[*place, record.aspect] = record.score
                if record.comment:
                    self.comments.add((*place, record.comment))
            elif isinstance(record, LabelRecord) and record.message is None:
                key = record.turn, record.system, record.rater, record.question
                self.labels[key] = record.value

    @property
    def only_system(self) -> str:
        """Where one system alone answers; else ""."""
        return next(iter(self.answering)) if len(self.answering) == 1 else ""
