"""MultiWOZ (Budzianowski et al. 2018, EMNLP): ``data.json`` with a ``log`` a dialogue, or rows of
the Hugging Face Hub whose turns stand side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    USER,
    complain_of_empty,
    logged_conversation,
    rest_of,
)
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import message_of
from annotations.formats.importers.wrapped_records import is_log
from annotations.formats.records import ASSISTANT, Message
from common.text import MAX_TEXT

_ROLES = (USER, ASSISTANT)
_DATA = "data.json"


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    if path.is_dir():
        found = sorted(path.rglob(_DATA))
        if not found:
            problems.stop("", "", f"holds no file {_DATA}")
        path, problems = found[0], replace(problems, file=_DATA)
    for number, row in numbered_objects(path, problems):
        turns = _turns(row)
        if turns is None:
            continue
        messages = all_or_none([_message(one, place) for place, one in enumerate(turns)])
        key = "log" if row.has("log") else "turns"
        if messages == ():
            complain_of_empty(problems, row.where, key)
        elif messages is not None:
            name = row.value.get("id", row.value.get("dialogue_id"))
            metadata = rest_of(row, ("id", "dialogue_id", key))
            yield from logged_conversation(
                name if isinstance(name, str) and name else str(number),
                messages,
                ASSISTANT,
                row.where,
                field=key,
                metadata=metadata,
            )


def _turns(row: JsonObject) -> tuple[JsonObject, ...] | None:
    columns = row.value.get("turns")
    if not isinstance(columns, dict):
        return row.children("log")
    lists = {key: values for key, values in columns.items() if isinstance(values, list)}
    length = max(map(len, lists.values()), default=0)
    return tuple(
        replace(
            row,
            value={key: values[place] for key, values in lists.items() if place < len(values)},
            path=f"turns[{place}]",
        )
        for place in range(length)
    )


def _message(turn: JsonObject, place: int) -> Message | None:
    key = "utterance" if turn.has("utterance") else "text"
    text = turn.text(key, MAX_TEXT, may_be_empty=True)
    if text is None:
        return None
    speaker: Any = turn.value.get("speaker", place % 2)
    rest = {
        name: value
        for name, value in turn.value.items()
        if name not in (key, "speaker") and value not in (None, "", [], {})
    }
    # The system's state, which the file calls metadata, is kept under that name
    if isinstance(speaker, str):
        return message_of(speaker, text, metadata=rest)
    if speaker not in (0, 1):
        turn.complain("speaker", "must be 0 (user), 1 (system) or a name")
        return None
    return Message(_ROLES[speaker], text, metadata=rest)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        names = [one for one in sample.members if one.split("/")[-1] == _DATA]
        return _detect(sample.member(names[0])) if len(names) == 1 else 0.0
    turns = sample.record.get("turns")
    is_of_columns = isinstance(turns, dict) and turns.keys() >= {"speaker", "utterance"}
    return 0.9 if is_log(sample.record) or is_of_columns else 0.0


_DESCRIPTION = """\
`data.json` (alone, or in its folder or zip file): under each id a dialogue with a `log` of texts,
the user's and the system's in turn; or rows with `turns` of lists side by side (`speaker`, 0 the
user and 1 the system, `utterance`). What the system says are responses of `assistant`. Acts, states
and goals are metadata. Files with a list of turns are `messages`."""
_EXAMPLE = (
    '{"A1.json": {"goal": {}, "log": [{"text": "Is the oven hot?", "metadata": {}},\n'
    '  {"text": "Not yet.", "metadata": {"oven": {"state": "cold"}}}]}}\n'
)

IMPORTER = Importer(
    name="multiwoz",
    summary="MultiWOZ: data.json with a log a dialogue, or turns as lists side by side",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
