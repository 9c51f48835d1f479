"""DailyDialog as the Hub has it: ``dialog``, ``act`` and ``emotion``, lists of one length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import parsed_json, rest_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.table_source import numbered_rows
from common.text import MAX_TEXT

_LISTS = ("dialog", "dialogue", "utterances", "turns", "conversation")
_PER_MESSAGE = ("act", "emotion")


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for number, row in numbered_rows(path, problems):
        # A table has lists in its cells, as Python or NumPy prints them
        cells = {name: parsed_json(row.value[name]) for name in row.value}
        row = replace(row, value=cells)
        key = next((one for one in _LISTS if row.has(one)), _LISTS[0])
        texts = row.texts(key, MAX_TEXT, may_be_empty=True)
        lists = {one: row.items(one) for one in _PER_MESSAGE if row.value.get(one) is not None}
        if texts is None or None in lists.values():
            continue
        for name, values in lists.items():
            if values is not None and len(values) != len(texts):
                row.complain(name, f"has {len(values)} values for {len(texts)} utterances")
        messages = tuple(
            spoken("", text.strip(), {name: one[index] for name, one in lists.items() if one})
            for index, text in enumerate(texts)
            if all(one is None or len(one) == len(texts) for one in lists.values())
        )
        metadata = rest_of(row, (key, *_PER_MESSAGE))
        yield from people_talking(str(number), messages, row.where, metadata=metadata)


def _detect(sample: FileSample) -> float:
    first = sample.rows[0] if sample.rows else {}
    lists = [parsed_json(first[key]) for key in _LISTS if key in first]
    is_text = len(lists) == 1 and isinstance(lists[0], list) and lists[0][1:]
    if not is_text or not all(isinstance(one, str) for one in lists[0]):
        return 0.0
    if sample.keys & {"response", "chosen", "prompt", "question", "model", "candidates"}:
        return 0.0
    return 0.9 if sample.keys & set(_PER_MESSAGE) else 0.4


_DESCRIPTION = """\
A JSON array, JSON lines or a table with printed lists in its cells (`['Hot?' 'No.']`): `dialog` (or
`dialogue`, `utterances`, `turns`, `conversation`), a list of texts by two people in turn. Blanks
round them are taken away; `act` and `emotion`, one value a text, are metadata of its message. The
number of the record, from 1, is the dialogue's id. For training take the release itself
(`dailydialog`)."""
_EXAMPLE = '{"dialog": ["Is the oven hot ? ", " Not yet . "], "act": [2, 1], "emotion": [0, 0]}\n'

IMPORTER = Importer(
    name="dailydialog-hub",
    summary="DailyDialog as the Hub has it: dialog, act, emotion",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
