"""GRADE's human judgements (Huang et al. 2020, EMNLP): a JSON array with one rated response a row,
three corpora.

The rows of one dialogue are far apart in the file, so one corpus of it is held in memory, up to a
limit.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.conversations import alternating
from annotations.formats.importers.fields import JsonObject, kind_of
from annotations.formats.importers.json_source import array_elements
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from common.text import MAX_NAME, MAX_TEXT

ASPECT = "overall"
MAX_PARTS = 100
MAX_HELD_CHARACTERS = 64 * 1024 * 1024
"""Of the contexts, responses and scores of one corpus: about 100,000 rows."""
_SEPARATOR = "|||"
_EVALUATION_SUFFIX = "_eval"
_ROW_OVERHEAD = 200
_MAX_SCORES_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    id: str
    system: str
    context: str
    response: str
    scores: tuple[float, ...]


@dataclass(slots=True)
class _Dialogue:
    id: str
    where: str
    context: tuple[Utterance, ...]
    rows: list[_Row] = field(default_factory=list)


@dataclass
class _Corpus:
    """One corpus of the file. A context that one system answers twice is two dialogues: a dialogue
    is a context and how often the system has met it before."""

    dialogues: dict[tuple[str, int], _Dialogue] = field(default_factory=dict)
    systems: dict[str, None] = field(default_factory=dict)
    meetings: Counter[tuple[str, str]] = field(default_factory=Counter)
    most_raters: int = 0
    characters: int = 0

    def add(self, row: _Row, context: tuple[Utterance, ...]) -> None:
        key = (row.context, self.meetings[row.system, row.context])
        self.meetings[row.system, row.context] += 1
        self.dialogues.setdefault(key, _Dialogue(row.id, row.where, context)).rows.append(row)
        self.systems.setdefault(row.system)
        self.most_raters = max(self.most_raters, len(row.scores))
        self.characters += (
            len(row.context) + len(row.response) + 8 * len(row.scores) + _ROW_OVERHEAD
        )


def parts_of(path: Path, problems: Problems) -> tuple[str, ...]:
    """Names of the corpora in a file of GRADE's human judgements, in the order of their first row.

    Args:
        path: JSON array with one rated response per element.
        problems: collects faults, of every row of every corpus.

    Returns:
        Each row's ``Dataset``, once, in lower case and without the suffix ``_eval``.

    Raises:
        ImportFailed: any row has a fault, there is no row, or there are more than ``MAX_PARTS``
            corpora; and as in ``array_elements``.
    """
    parts: dict[str, None] = {}
    for where, element in array_elements(path, problems):
        row = JsonObject.of(element, where, problems)
        name = row.text("Dataset", MAX_NAME) if row else None
        if row is not None and name is not None:
            parts.setdefault(part_named(name))
            # Every row is read here, so that the faults of all corpora are told at once.
            _read_row(row, where)
        if len(parts) > MAX_PARTS:
            problems.stop(where, "Dataset", f"more than {MAX_PARTS} corpora in one file")
    problems.raise_if_any()
    if not parts:
        problems.stop("$", "", "holds no row")
    return tuple(parts)


def stream(path: Path, part: str, problems: Problems) -> Iterator[Placed]:
    """Read one corpus of GRADE's human judgements (Huang et al. 2020, EMNLP).

    Args:
        path: JSON array with one rated response per element.
        part: the corpus, as ``parts_of`` names it.
        problems: collects faults.

    Returns:
        Iterator over records, each with its JSON path and field; none comes before the whole file
        is read. A dialogue has one turn, 0, and the ``ID`` of the row that first named it. Ratings
        are of ``ASPECT``, from 1 to 5; raters are anonymous, by their position in a row's list of
        scores.

    Raises:
        ImportFailed: a row of the corpus has a fault, the file holds no such corpus, or it exceeds
            ``MAX_HELD_CHARACTERS``; and as in ``array_elements``.
    """
    corpus = _Corpus()
    for where, element in array_elements(path, problems):
        row = JsonObject.of(element, where, problems)
        name = row.text("Dataset", MAX_NAME) if row else None
        if row is None or name is None or part_named(name) != part:
            continue
        if read := _read_row(row, where):
            corpus.add(*read)
        if corpus.characters > MAX_HELD_CHARACTERS:
            problems.stop(
                where, "", f"the corpus is larger than {MAX_HELD_CHARACTERS:,} characters"
            )
    problems.raise_if_any()
    if not corpus.systems:
        problems.stop(
            "$", "", f"holds no corpus {part!r}; it holds {', '.join(parts_of(path, problems))}"
        )
    yield from _records(part, corpus)


def part_named(dataset: str) -> str:
    return dataset.strip().lower().removesuffix(_EVALUATION_SUFFIX)


def _read_row(row: JsonObject, where: str) -> tuple[_Row, tuple[Utterance, ...]] | None:
    """The row and its context as utterances."""
    row_id = row.name("ID")
    system = row.text("DialogModel", MAX_NAME)
    context = _context(row)
    response = row.text("Response", MAX_TEXT, may_be_empty=True)
    scores = scores_of(row)
    if row_id is None or system is None or context is None or response is None or scores is None:
        return None
    return _Row(where, row_id, system, row.value["Context"], response.strip(), scores), context


def _context(row: JsonObject) -> tuple[Utterance, ...] | None:
    text = row.text("Context", MAX_TEXT)
    if text is None:
        return None
    lines = [line.strip() for line in text.split(_SEPARATOR)]
    if "" in lines:
        row.complain(
            "Context",
            f"utterance {lines.index('') + 1} is empty: who speaks after it cannot be told",
        )
        return None
    return alternating(lines)


def scores_of(row: JsonObject) -> tuple[float, ...] | None:
    """The scores out of a string that holds a list of numbers."""
    text = row.text("HumanScores", _MAX_SCORES_TEXT)
    if text is None:
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        row.complain(
            "HumanScores", 'must be a string that holds a list of numbers, such as "[4, 3]"'
        )
        return None
    if not isinstance(values, list) or not values:
        found = "an empty list" if values == [] else kind_of(values)
        row.complain("HumanScores", f"must hold a list of numbers, not {found}")
        return None
    numbers = [row.as_number(value, f"HumanScores[{index}]") for index, value in enumerate(values)]
    scores = [number for number in numbers if number is not None]
    return tuple(scores) if len(scores) == len(numbers) else None


def _records(part: str, corpus: _Corpus) -> Iterator[Placed]:
    yield CorpusRecord(part=part, aspects=(ASPECT,), main_aspect=ASPECT, scale=(1.0, 5.0)), "$", ""
    for name in corpus.systems:
        yield SystemRecord(name), "$", ""
    for position in range(1, corpus.most_raters + 1):
        yield RaterRecord(_rater(position), "anonymous"), "$", ""
    for dialogue in corpus.dialogues.values():
        turn = TurnRecord(0, dialogue.context)
        yield DialogueRecord(dialogue.id, (), (), (turn,)), dialogue.where, "ID"
        for row in dialogue.rows:
            yield ResponseRecord(dialogue.id, 0, row.system, row.response), row.where, "Response"
            for index, score in enumerate(row.scores):
                rating = RatingRecord(dialogue.id, 0, row.system, _rater(index + 1), ASPECT, score)
                yield rating, row.where, f"HumanScores[{index}]"


def _rater(position: int) -> str:
    # The same position in two rows is not the same person: hence the rater kind "anonymous".
    return f"position {position}"


_DESCRIPTION = """\
A JSON array, one rated response a row. `Dataset` in lower case without `_eval` names the corpus
(the *part*); a file with three of them is three corpora. Utterances of the context are separated
by `|||`, the last one is A's. Responses to the same context belong to one dialogue, named by the
`ID` of its first row; where one system has the same context twice, those are two dialogues.
`HumanScores` is a string that holds a list. The raters are anonymous (`position 1`, `position 2`,
…): the same position in two rows is not the same person. Scale 1 to 5, aspect `overall`, no
references."""
_EXAMPLE = (
    '[{"ID": 0, "Dataset": "dailydialog_EVAL", "DialogModel": "ranker", "Context": "Is it'
    ' far ?|||Two stops by tram .",\n'
    '  "Response": "Then I will walk .", "HumanScores": "[4, 5, 3]"},\n'
    ' {"ID": 1, "Dataset": "dailydialog_EVAL", "DialogModel": "generator", "Context": "Is'
    ' it far ?|||Two stops by tram .",\n'
    '  "Response": "Yes .", "HumanScores": "[2, 3, 3, 1]"}]\n'
)

IMPORTER = Importer(
    name="grade",
    summary="GRADE human judgements: three corpora, one rated response a row (JSON array)",
    stream=stream,
    parts_of=parts_of,
    detect=has_keys("HumanScores", kinds=("json array",)),
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
