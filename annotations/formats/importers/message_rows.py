"""Conversations with a message a row: tables and JSON rows of speaker and text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    logged_conversation,
    read_message,
    role_named,
)
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.column_mapping import NAMES, plain_name
from annotations.formats.importers.crossed import refuse_large, split_metadata
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import message_of
from annotations.formats.importers.table_source import holds_json, read_rows
from annotations.formats.records import ASSISTANT, Message

_ROLES = (
    "role",
    "speaker",
    "sender",
    "author",
    "from",
    "speakerid",
    "speakername",
    "who",
    "speakeridx",
)
_TEXTS = ("content", "text", "message", "utterance", "value", "messagetext", "utterancetext")
_CONVERSATIONS = (*NAMES["conversation"][:-1], "messagetreeid", "dialoguenumber", "chat", "room")
_ROLE, _TEXT, _CONVERSATION, _SYSTEM = range(4)


def _columns(keys: Collection[str]) -> tuple[str, str, str, str]:
    """Names of the columns of speaker, text, conversation and system; "" for those not there."""
    plain = {plain_name(key): key for key in reversed(list(keys))}
    return tuple(  # type: ignore[return-value]
        next((plain[one] for one in known if one in plain), "")
        for known in (_ROLES, _TEXTS, _CONVERSATIONS, NAMES["system"])
    )


def _rows(path: Path, problems: Problems) -> Iterator[JsonObject]:
    if holds_json(path):
        for _, row in numbered_objects(path, problems):
            yield row
        return
    for line, cells in read_rows(path, problems):
        yield JsonObject(dict(cells), line, "", problems)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(data_size(path), problems)
    found: dict[str, list[tuple[Where, Message, Mapping[str, Any]]]] = {}
    columns: tuple[str, str, str, str] | None = None
    for row in _rows(path, problems):
        columns = columns or _columns(row.value)
        name = clean_name(row.value.get(columns[_CONVERSATION])) or "1"
        message = _message(row, columns)
        if message is not None:
            rest = {key: one for key, one in row.value.items() if key not in columns}
            found.setdefault(name, []).append(
                (row.where, message, {**rest, **_system(row, columns)})
            )
    for name, rows in found.items():
        systems = {one["system"]: None for _, _, one in rows if one.get("system")}
        # Which of several systems answered is said of each message
        known = ("system",) if len(systems) < 2 else ()
        common, others = split_metadata(
            [{key: one for key, one in rest.items() if key not in known} for _, _, rest in rows]
        )
        messages = tuple(
            replace(message, metadata=_present(own))
            for (_, message, _), own in zip(rows, others, strict=True)
        )
        system = next(iter(systems), ASSISTANT)
        yield from logged_conversation(
            name, messages, system, rows[0][0], metadata=_present(common)
        )


def _present(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if value not in ("", None)}


def _system(row: JsonObject, columns: tuple[str, str, str, str]) -> dict[str, str]:
    system = clean_name(row.value.get(columns[_SYSTEM]))
    return {"system": system} if system else {}


def _message(row: JsonObject, columns: tuple[str, str, str, str]) -> Message | None:
    speaker = clean_name(row.value.get(columns[_ROLE]))
    if not speaker:
        row.complain(columns[_ROLE] or "role", "is empty: who speaks is not said")
        return None
    fields = {"role": speaker, "content": row.value.get(columns[_TEXT])}
    message = read_message(replace(row, value=fields))
    if message is None or plain_name(columns[_ROLE]) == "role":
        return message
    named = message_of(speaker, message.text)
    known = role_named(speaker)
    return replace(message, role=named.role if known == speaker else known, name=named.name)


def _detect(sample: FileSample) -> float:
    if not sample.is_of_rows:
        return 0.0
    role, text, conversation, _ = _columns(sample.keys)
    others = {plain_name(key) for key in sample.keys}
    # A tree of messages is no conversation
    if not role or not text or others & {"response", "label", "parentid"}:
        return 0.0
    return 0.5 if conversation else 0.3


_DESCRIPTION = """\
CSV, XLSX, Parquet, a JSON array or JSON lines: one message a row, with who speaks (`role`,
`speaker`, `sender`, …), the text (`content`, `text`, `message`, `utterance`, …) and, where there
are several, the conversation (`conversation_id`, `dialog_id`, …). Rows of one conversation are its
messages, in the order of the file. What the assistant (`assistant`, `bot`, `system`, …) says are
responses of the system `model`, else `assistant`. All other columns are metadata: of the
conversation where all its rows agree, else of the message."""
_EXAMPLE = """\
conversation_id,speaker,text
cafe-1,user,Is the oven hot?
cafe-1,bot,Not yet.
"""

IMPORTER = Importer(
    name="message-rows",
    summary="one message a row: conversation, speaker and text (CSV, XLSX, Parquet, JSON)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
