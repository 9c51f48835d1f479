"""xDial-Eval (Zhang et al. 2023): responses or dialogues in several languages side by side, with
the mean rating of people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import (
    ASSISTANT,
    DATASET,
    Collection,
    Conversation,
    add_log,
)
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import alternating
from annotations.formats.importers.table_source import is_missing, number_in, read_rows
from annotations.formats.records import Message

RATINGS = "ratings"
_COLUMN = re.compile(r"(\w{1,64})_(ctx|res|dial)")
_FIRST_CHOICE = "english"
_CODES = {
    "english": "en",
    "chinese": "zh",
    "spanish": "es",
    "german": "de",
    "french": "fr",
    "japanese": "ja",
    "korean": "ko",
    "hindi": "hi",
    "arabic": "ar",
    "russian": "ru",
}


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read xDial-Eval.

    Args:
        path: table with ``LANGUAGE_ctx`` and ``LANGUAGE_res``, or ``LANGUAGE_dial``, and
            ``ratings``.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records in English, or in the first language without it; the others are
        metadata. Rows with equal contexts are one dialogue. The file names no system: each row is
        one, ``row 0`` on. A list of ratings is by "rater 1", "rater 2", ….

    Raises:
        ImportFailed: as in ``read_rows``.
    """
    collection = Collection(problems)
    language = ""
    by_context: dict[str, str] = {}
    for index, (line, row) in enumerate(read_rows(path, problems)):
        languages = [found[1] for name in row if (found := _COLUMN.fullmatch(name))]
        if not languages or RATINGS not in row:
            problems.stop(
                line, "", "needs LANGUAGE_ctx and LANGUAGE_res, or LANGUAGE_dial, and ratings"
            )
        language = language or (_FIRST_CHOICE if _FIRST_CHOICE in languages else languages[0])
        others = {
            name: text
            for name, text in row.items()
            if name != RATINGS and not name.startswith(f"{language}_") and text
        }
        dialogue = row.get(f"{language}_dial")
        if dialogue is not None:
            one = collection.conversation(str(index + 1), line)
            lines = _lines(dialogue)
            # The last one is the system's.
            before = alternating(lines[:-1])
            one.messages = (*before, *(Message(ASSISTANT, text) for text in lines[-1:]))
            one.metadata.update(others)
            add_log(one, ASSISTANT, line)
            _rate(one, None, ASSISTANT, row, line, collection, problems)
            continue
        context = row.get(f"{language}_ctx", "")
        name = by_context.setdefault(context, str(len(by_context) + 1))
        one = collection.conversation(name, line)
        one.turn(0, line, alternating(_lines(context)))
        system = f"row {index}"
        text = row.get(f"{language}_res", "").strip()
        one.response(0, system, text, line, metadata=others)
        _rate(one, 0, system, row, line, collection, problems)
    yield from _in_language(collection, language)


def _in_language(collection: Collection, language: str) -> Iterator[Placed]:
    from dataclasses import replace

    collection.corpus = replace(collection.corpus, language=_CODES.get(language, ""))
    yield from collection.records()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _rate(
    one: Conversation,
    number: int | None,
    system: str,
    row: Mapping[str, str],
    line: Where,
    collection: Collection,
    problems: Problems,
) -> None:
    written = row[RATINGS].strip()
    if is_missing(written):
        return
    try:
        values = json.loads(written, parse_int=float)
    except (ValueError, RecursionError):
        values = None
    if isinstance(values, list) and all(isinstance(value, float) for value in values):
        for place, value in enumerate(values, 1):
            rater = f"rater {place}"
            collection.rater_kinds[rater] = "anonymous"
            one.rate(number, system, rater, RATINGS, value, line)
        return
    score = number_in(written)
    if score is None:
        problems.skip(line, RATINGS, f"is no number: {written[:50]!r}")
    else:
        one.rate(number, system, DATASET, RATINGS, score, line)


def _detect(sample: FileSample) -> float:
    kinds = [found[2] for name in sample.keys if (found := _COLUMN.fullmatch(name))]
    fits = RATINGS in sample.keys and ("dial" in kinds or {"ctx", "res"} <= set(kinds))
    return 0.9 if fits else 0.0


_DESCRIPTION = """\
`english_ctx`, `english_res`, `ratings` (or `english_dial`, `ratings`), and the same in other
languages."""
_EXAMPLE = """\
english_ctx,english_res,ratings
Is it raining?,Not yet.,4.5
"""

IMPORTER = Importer(
    name="xdial",
    summary="xDial-Eval: responses or dialogues with mean ratings, several languages side by side",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
