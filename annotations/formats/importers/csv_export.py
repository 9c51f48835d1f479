"""The tables that this project exports as ``csv``: dialogues, responses, ratings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import OVERALL
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import message_of
from annotations.formats.importers.table_source import number_in, read_rows
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    Message,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)

DIALOGUES, RESPONSES, RATINGS = "dialogues.csv", "responses.csv", "ratings.csv"
_COLUMNS = {
    DIALOGUES: ("dialogue_id", "turn", "persona", "partner_persona", "context", "references"),
    RESPONSES: ("dialogue_id", "turn", "system", "text"),
    RATINGS: ("dialogue_id", "turn", "system", "rater", "aspect", "score", "comment"),
}

Row = tuple[Where, dict[str, str]]


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read an export back.

    Args:
        path: folder with ``dialogues.csv``, ``responses.csv`` and ``ratings.csv``.
        _part: ignored, the folder holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records: what the tables hold. They have no scales, kinds of systems, labels,
        preferences or metadata; metric scores are not read.

    Raises:
        ImportFailed: as in ``read_rows``, and where a table or a column is missing.
    """
    by_dialogue: dict[str, dict[str, list[Row]]] = {}
    for table in (DIALOGUES, RESPONSES, RATINGS):
        if not (path / table).is_file():
            problems.stop(table, "", "is missing")
        for line, row in read_rows(path / table, problems_of(problems, path, path / table)):
            if missing := [name for name in _COLUMNS[table] if name not in row]:
                problems.stop(f"{table}:1", "", f"has no column {missing[0]}")
            known = by_dialogue.setdefault(row["dialogue_id"], {})
            known.setdefault(table, []).append((f"{table}:{line}", row))
    responses = [row for one in by_dialogue.values() for _, row in one.get(RESPONSES, ())]
    ratings = [row for one in by_dialogue.values() for _, row in one.get(RATINGS, ())]
    aspects = tuple(dict.fromkeys(row["aspect"] for row in ratings)) or (OVERALL,)
    main = OVERALL if OVERALL in aspects else aspects[0]
    scales = tuple((aspect, None, None) for aspect in aspects)
    yield CorpusRecord(aspects=aspects, main_aspect=main, scales=scales), "", ""
    for system in dict.fromkeys(row["system"] for row in responses):
        yield SystemRecord(system), "", ""
    for rater in dict.fromkeys(row["rater"] for row in ratings):
        yield RaterRecord(rater), "", ""
    for name, tables in by_dialogue.items():
        yield from _dialogue(name, tables, problems)


def _dialogue(name: str, tables: dict[str, list[Row]], problems: Problems) -> Iterator[Placed]:
    rows = tables.get(DIALOGUES, [])
    if not rows:
        place, _ = next(chain(*tables.values()))
        problems.add(place, "dialogue_id", f"{name!r} is not in {DIALOGUES}")
        return
    first, head = rows[0]
    contexts = [_context(row, line, problems) for line, row in rows]
    numbers = [_turn(row, line, problems) or 0 for line, row in rows]
    speakers = {message.speaker for context in contexts for message in context}
    references = [_texts(row, "references", line, problems) for line, row in rows]
    longest = max(contexts, key=len)
    is_pair = speakers <= {"A", "B"}
    if not is_pair and all(longest[: len(one)] == one for one in contexts):
        turns = tuple(
            TurnRecord(number, (), known, len(context))
            for number, context, known in zip(numbers, contexts, references, strict=True)
        )
        messages = longest
    else:
        turns = tuple(
            TurnRecord(number, tuple(Utterance(_pair(m), m.text) for m in context), known)
            for number, context, known in zip(numbers, contexts, references, strict=True)
        )
        messages = ()
    persona = _texts(head, "persona", first, problems)
    partner = _texts(head, "partner_persona", first, problems)
    yield DialogueRecord(name, persona, partner, turns, messages), first, ""
    for line, row in tables.get(RESPONSES, ()):
        number = _turn(row, line, problems) or 0
        yield ResponseRecord(name, number, row["system"], row["text"]), line, ""
    for line, row in tables.get(RATINGS, ()):
        score = number_in(row["score"], decimal_comma=False)
        if score is None:
            problems.add(line, "score", f"must be a number, not {row['score'][:50]!r}")
            continue
        written = (row["system"], row["rater"], row["aspect"], score, row["comment"])
        yield RatingRecord(name, _turn(row, line, problems), *written), line, ""


def _pair(message: Message) -> str:
    if message.speaker in ("A", "B"):
        return message.speaker
    return "B" if message.role == "assistant" else "A"


def _turn(row: dict[str, str], line: Where, problems: Problems) -> int | None:
    written = row["turn"].strip()
    if written and not (written.isascii() and written.isdigit() and len(written) < 10):
        problems.add(line, "turn", f"must be a whole number, not {written[:50]!r}")
        return None
    return int(written) if written else None


def _context(row: dict[str, str], line: Where, problems: Problems) -> tuple[Message, ...]:
    """Lines ``Speaker: text``."""
    parts = (text.partition(": ") for text in _texts(row, "context", line, problems))
    return tuple(
        Message(speaker, text) if speaker in ("A", "B") else message_of(speaker, text)
        for speaker, _, text in parts
    )


def _texts(row: dict[str, str], name: str, line: Where, problems: Problems) -> tuple[str, ...]:
    try:
        values = json.loads(row[name] or "[]")
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        problems.add(line, name, "must be a JSON list of texts")
        return ()
    return tuple(values)


def _detect(sample: FileSample) -> float:
    return 0.9 if {DIALOGUES, RESPONSES, RATINGS} <= set(sample.members) else 0.0


IMPORTER = Importer(
    name="csv",
    summary="the tables of the export csv, in one folder",
    stream=stream,
    detect=_detect,
    description="The folder that the export `csv` writes: `dialogues.csv`, `responses.csv` and "
    "`ratings.csv`, which may have been edited in a spreadsheet.",
)
