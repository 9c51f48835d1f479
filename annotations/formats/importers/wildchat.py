"""WildChat (Zhao et al. 2024, ICLR): one conversation with one model a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import DistinctIds
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.lmsys_chat import records_of_row
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys

_ABOUT_PEOPLE = frozenset(("hashed_ip", "header", "country", "state"))


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    ids = DistinctIds()
    for _, row in numbered_objects(path, problems):
        messages = row.value.get("conversation")
        known = _without_people(row.value)
        if isinstance(messages, list):
            known["conversation"] = [
                _without_people(one) if isinstance(one, dict) else one for one in messages
            ]
        yield from records_of_row(replace(row, value=known), "conversation_hash", ids)


def _without_people(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in _ABOUT_PEOPLE}


_DESCRIPTION = """\
A JSON array or JSON lines: one conversation a record, as in `lmsys-chat`. `conversation_hash` is
the dialogue's id, `model` the system. What stands at a message (`language`, `toxic`,
`turn_identifier`, …) is its metadata, its `timestamp` its time. `hashed_ip`, `header`, `country`
and `state` tell about people and are not read."""
_EXAMPLE = (
    '{"conversation_hash": "c1", "model": "baker-1", "conversation": [{"role": "user", "content": '
    '"Is the oven hot?", "language": "English"}, {"role": "assistant", "content": "Not yet.", '
    '"timestamp": "2026-02-01T10:00:00Z"}], "turn": 1, "language": "English"}\n'
)

IMPORTER = Importer(
    name="wildchat",
    summary="WildChat: conversations, each with one model",
    stream=with_head(_body),
    detect=has_keys("conversation_hash", "conversation"),
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
