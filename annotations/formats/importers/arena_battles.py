"""Battles of two chat models with one winner, as in LMSYS's human preferences (55k, Kaggle)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import DATASET, Collection, clean_name
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import has_keys
from annotations.formats.importers.table_source import open_table
from annotations.formats.records import Message, PreferenceRecord

_COLUMNS = ("id", "model_a", "model_b", "prompt", "response_a", "response_b")
_WINNERS: Mapping[str, Literal["a", "b", "tie", "both_bad"]] = {
    "winner_model_a": "a",
    "winner_model_b": "b",
    "winner_tie": "tie",
    "winner_tie_both_bad": "both_bad",
}


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read battles.

    Args:
        path: table with ``id``, two models, and JSON lists of prompts and responses, one a turn.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records: a dialogue a row, whose messages are the user's; a response of each
        model a turn, empty where it is null; one preference on the whole conversation by
        ``dataset``.

    Raises:
        ImportFailed: as in ``open_table``.
    """
    table = open_table(path, problems)
    collection = Collection(problems)
    for line, cells in table.rows:
        row = dict(zip(table.heading, cells, strict=True))
        texts = {name: _texts(row, name, line, problems) for name in _COLUMNS[3:]}
        name, a, b = (clean_name(row.get(column)) for column in _COLUMNS[:3])
        if None in texts.values():
            continue
        if not (name and a and b):
            problems.add(line, "", "must have an id and two models")
            continue
        one = collection.conversation(name, line)
        sample_b = int(a == b)
        prompts = tuple(Message("user", text) for text in texts["prompt"] or ())
        for number in range(len(prompts)):
            one.turn(number, line, prompts[: number + 1])
        for system, sample, answers in (
            (a, 0, texts["response_a"] or ()),
            (b, sample_b, texts["response_b"] or ()),
        ):
            if len(answers) > len(prompts):
                problems.add(line, "", f"has {len(answers)} responses to {len(prompts)} prompts")
                continue
            for number, text in enumerate(answers):
                one.response(number, system, text, line, sample)
        known = {*_COLUMNS, *_WINNERS}
        one.metadata.update({key: text for key, text in row.items() if key not in known and text})
        winners = [
            w
            for column, w in _WINNERS.items()
            if row.get(column, "").strip().casefold() in ("1", "1.0", "true")
        ]
        if len(winners) == 1:
            preference = PreferenceRecord(name, None, a, b, winners[0], DATASET, sample_b=sample_b)
            one.prefer(preference, line)
        else:
            problems.skip(line, "", "has no winner, or several")
    yield from collection.records()


def _texts(
    row: Mapping[str, str], name: str, line: Where, problems: Problems
) -> tuple[str, ...] | None:
    """A JSON list of texts, null as an empty one; a plain text is the only one of its list."""
    written = row.get(name)
    if written is None:
        problems.add(line, name, "is missing")
        return None
    if not written.lstrip().startswith("["):
        return (written,)
    try:
        values = json.loads(written, strict=False)
    except (ValueError, RecursionError):
        problems.add(line, name, "must be a JSON list of texts")
        return None
    if not isinstance(values, list) or not all(isinstance(one, str | None) for one in values):
        problems.add(line, name, "must be a JSON list of texts")
        return None
    return tuple(one or "" for one in values)


_DESCRIPTION = """\
One battle a row: `id`, `model_a`, `model_b`, JSON lists `prompt`, `response_a`, `response_b` with
one text a turn, and 1 or true under the winner."""
_EXAMPLE = """\
id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie
7,north-1,south-2,"[""Is it raining?""]","[""Not yet.""]","[""Rain.""]",1,0,0
"""

IMPORTER = Importer(
    name="arena-battles",
    summary="battles of two models with one winner (LMSYS human preferences, CSV or Parquet)",
    stream=stream,
    detect=has_keys("model_a", "model_b", "response_a", "winner_model_a"),
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
