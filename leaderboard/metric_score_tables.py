"""Scores of metrics from a table, added to a corpus version as metrics computed elsewhere: the
version's records stay as they are, and each metric's signature has the digest of the file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from annotations import audit
from annotations.corpora.actions import refuse_large
from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import TurnOrder, answered_turns, turn_order
from annotations.formats.importers.added_rows import AddedRow, added_table
from annotations.formats.importers.checks import LARGEST_SCORE
from annotations.formats.importers.column_mapping import TableMapping
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.unpacking import unpacked
from annotations.models import CorpusVersion, System
from leaderboard.actions import (
    LONGEST_NAME,
    METRIC_NAME,
    Described,
    NameTaken,
    store_submitted_metric,
)
from leaderboard.models import SubmittedMetric
from workers.metrics.registry import all_metrics


@dataclass
class TableScores:
    """One metric's scores in a table.

    Attributes:
        name: of the metric.
        level: what it scores: turns, dialogues or systems.
        scores: by the system's key, in the order of the version's turns or dialogues; None where
            the table has none.
        given: how many scores there are.
    """

    name: str
    level: str
    scores: dict[int, list[float | None]] = field(default_factory=dict)
    given: int = 0


@dataclass(frozen=True, slots=True)
class AddedMetric:
    """``created`` False: the same file has added it before."""

    metric: SubmittedMetric
    created: bool


def read_metric_scores(
    version: CorpusVersion, path: Path, mapping: TableMapping | None = None
) -> list[TableScores]:
    """Read a table of metrics' scores and check it against a version.

    A column of scores is a metric, named by its aspect; in a table with a column of aspects each
    aspect is one. A row with a turn scores a response, one with a conversation alone the system's
    part of it (of a single turn: the response), one with a system alone the system.

    Raises:
        ImportFailed: up to 100 problems, each with its line.
    """
    refuse_large(path)
    problems = Problems(path.name)
    with unpacked(path, problems) as plain:
        table = added_table(plain, problems, mapping)
        reader = _Reader(version, problems, table.names_turns)
        for row in table.rows:
            reader.take(row)
    found = list(reader.metrics.values())
    if not found and not problems.found:
        problems.add("", "", "holds no score")
    problems.raise_if_any()
    return found


def add_metric_scores(
    version: CorpusVersion,
    path: Path,
    owner: Any,
    mapping: TableMapping | None = None,
    higher_is_better: bool = True,
) -> list[AddedMetric]:
    """Store what ``read_metric_scores`` reads: all metrics of the table, or none.

    One that the same file has added before is left as it is.

    Raises:
        ImportFailed: as in ``read_metric_scores``; where a name is another metric's.
    """
    found = read_metric_scores(version, path, mapping)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    outcomes = []
    with transaction.atomic():
        for one in found:
            known = version.submitted_metrics.filter(
                name=one.name, sha256=sha256, withdrawn_at__isnull=True
            ).first()
            if known is not None:
                outcomes.append(AddedMetric(known, created=False))
                continue
            described = Described(one.name, one.level, higher_is_better)
            try:
                metric = store_submitted_metric(version, owner, described, sha256, one.scores)
            except NameTaken:
                problems = Problems(path.name)
                message = "is the name of other scores of this corpus; withdraw them, or rename"
                problems.stop("", one.name, message)
            audit.record(
                owner,
                "metric.added",
                one.name,
                corpus=version.corpus.slug,
                corpus_version=version.label,
                level=one.level,
                sha256=sha256,
            )
            outcomes.append(AddedMetric(metric, created=True))
    return outcomes


class _Reader:
    def __init__(self, version: CorpusVersion, problems: Problems, names_turns: bool) -> None:
        self.problems = problems
        self.names_turns = names_turns
        self.metrics: dict[str, TableScores] = {}
        systems = select_systems(version)
        self.systems = {system.name: system for system in systems}
        self.order = turn_order(version)
        self.dialogues = {name: place for place, name in enumerate(self.order.dialogue_ids)}
        self.turns = _turns_by_dialogue(self.order)
        self.answered = dict(zip(self.systems, answered_turns(systems, self.order), strict=True))
        self.built_in = {name.casefold() for name in all_metrics()}

    def take(self, row: AddedRow) -> None:
        if not row.judgements:
            return
        if row.system not in self.systems:
            names = ", ".join(list(self.systems)[:10])
            self._complain(row, "system", f"there is no system {row.system!r}; systems: {names}")
            return
        place = self._place(row, self.systems[row.system])
        if place is None:
            return
        for one in row.judgements:
            if one.score is None:
                self._complain(row, "score", f"must be a number, not {one.text[:50]!r}")
            elif abs(one.score) > LARGEST_SCORE:
                self._complain(row, "score", "is too large: at most 1e100 in size")
            else:
                self._store(row, one.aspect, *place, one.score)

    def _place(self, row: AddedRow, system: System) -> tuple[str, int] | None:
        """(level, index) of what the row scores; None where there is none, which is noted."""
        if not row.conversation:
            return "system", 0
        dialogue = self.dialogues.get(row.conversation)
        if dialogue is None:
            self._complain(
                row, "conversation", f"the corpus has no conversation {row.conversation!r}"
            )
            return None
        turns = self.turns[dialogue]
        turn = row.turn
        if turn is None and not self.names_turns and len(turns) == 1:
            (turn,) = turns
        answered = self.answered[system.name]
        where = f"conversation {row.conversation!r}"
        if turn is None:
            if any(answered[index] for index in turns.values()):
                return "dialogue", dialogue
            self._complain(row, "system", f"{system.name!r} has no response in {where}")
        elif turn not in turns:
            self._complain(row, "turn", f"{where} has no turn {turn}")
        elif not answered[turns[turn]]:
            self._complain(
                row, "turn", f"{system.name!r} has no response at turn {turn} of {where}"
            )
        else:
            return "turn", turns[turn]
        return None

    def _store(self, row: AddedRow, name: str, level: str, index: int, score: float) -> None:
        metric = self.metrics.get(name)
        if metric is None:
            if fault := self._name_fault(name):
                self._complain(row, "aspect", fault)
                return
            metric = self.metrics[name] = TableScores(name, level)
        if metric.level != level:
            message = f"scores a {level}, and the rows of {name} before it score {metric.level}s"
            self._complain(row, name, message)
            return
        places = {"turn": len(self.order.turn_pks), "dialogue": len(self.dialogues), "system": 1}
        scores = metric.scores.setdefault(self.systems[row.system].pk, [None] * places[level])
        if scores[index] is not None:
            self._complain(row, name, "is a second score of the same place")
            return
        scores[index] = score + 0.0  # minus zero is zero
        metric.given += 1

    def _name_fault(self, name: str) -> str:
        if not name:
            return "is not named: which metric is it? Give the column of scores an aspect"
        if not METRIC_NAME.fullmatch(name) or len(name) > LONGEST_NAME:
            return (
                f"{name[:50]!r} cannot be a metric's name: letters, figures, _ . and - only, at "
                f"most {LONGEST_NAME}. Give the column another aspect"
            )
        if name.casefold() in self.built_in:
            return f"{name} is a built-in metric. Give the column another aspect"
        return ""

    def _complain(self, row: AddedRow, field: str, message: str) -> None:
        self.problems.add(row.line, field, message)


def _turns_by_dialogue(order: TurnOrder) -> Sequence[dict[int, int]]:
    """Of each dialogue, by number of the turn, its index among all."""
    found: list[dict[int, int]] = [{} for _ in order.dialogue_ids]
    for index, (dialogue, number) in enumerate(zip(order.dialogue, order.numbers, strict=True)):
        found[dialogue][int(number)] = index
    return found
