"""Records that do not stand at the top of a JSON file: in a list of an object (``{"data": […]}``,
``{"train": […], "test": […]}``), or under their ids."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from annotations.formats.importers.python_values import python_list

BEGINNING = 256 * 1024
"""Bytes of a file by which its layout is known."""
FIRST_RECORDS = 5
SPLITS = frozenset(["train", "validation", "valid", "val", "dev", "test"])
LISTS = SPLITS | {
    *("data", "conversations", "dialogues", "dialogs", "chats", "threads", "records", "rows"),
    *("examples", "items", "instances", "samples", "results", "logs", "entries"),
}
"""Names of lists of records."""
ROLE_KEYS = ("role", "from", "speaker", "sender", "author", "type")
TEXT_KEYS = ("content", "parts", "value", "text", "utterance", "message", "data", "tool_calls")
CHAT_KEYS = (
    *("messages", "conversation", "conversations", "chat_messages", "contents", "dialogue"),
    *("dialog", "turns", "chat", "history", "utterances", "log", "items"),
)
"""Names of the list of messages of one conversation."""
_FIELDS = {
    *(*LISTS, *CHAT_KEYS, "prompt", "completion", "chosen", "rejected", "input", "output", "tools"),
    *("response", "responses", "preferred_output", "non_preferred_output", "functions", "data"),
    *("conversation_a", "conversation_b", "annotations", "predictions", "result", "contents"),
}
"""Names of lists of messages that are no ids."""
TRANSCRIPT_KEYS = ("transcript", "conversation", "dialogue", "dialog", "text")
"""Names of a conversation in one text (``speakers.transcript``)."""
BY_COLUMN = re.compile(r'\s*\{\s*"[^"]{1,200}"\s*:\s*\{\s*"0"\s*:')
"""How a table begins that pandas writes column by column: ``{"prompt": {"0": …, "1": …}, …}``."""
SPLIT = re.compile(r'\s*\{\s*"columns"\s*:\s*\[')
"""How a table begins that names its columns once (pandas, ``orient="split"``)."""
ROW = "row"
"""A record within one of the Hub's viewer: ``{"row_idx": 0, "row": {…}}``."""
Layout = Literal["", "list", "ids", "split"]
_GAP = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*:\s*")


def is_message(value: Any) -> bool:
    """Whether a parsed value says who speaks and what.

    Args:
        value: any parsed JSON value.

    Returns:
        True for an object with one of ``ROLE_KEYS`` and one of ``TEXT_KEYS``.
    """
    return (
        isinstance(value, Mapping)
        and any(key in value for key in ROLE_KEYS)
        and any(key in value for key in TEXT_KEYS)
    )


def chat_key(record: Mapping[str, Any]) -> str:
    """The field of a record that is a list of messages.

    Args:
        record: a parsed object.

    Returns:
        The first of ``CHAT_KEYS`` under which there is one, perhaps as JSON, or as Python prints
        it, in a text; "" for none.
    """
    for key in CHAT_KEYS:
        value = record.get(key)
        if isinstance(value, str) and value.lstrip().startswith("[{"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                value = python_list(value)
        if isinstance(value, list) and value and is_message(value[0]):
            return key
    return ""


def is_chat_under_id(key: str, value: Any) -> bool:
    """Whether a member of an object is an id with a list of messages.

    Args:
        key: of the member.
        value: parsed.

    Returns:
        True for such a list under a key that is no field of a record.
    """
    is_chat = isinstance(value, list) and bool(value) and all(map(is_message, value))
    return is_chat and key not in _FIELDS


def is_log(value: Any) -> bool:
    """Whether a parsed value has a ``log`` of texts whose speakers take turns (MultiWOZ).

    Args:
        value: any parsed JSON value.

    Returns:
        True where each first item of the list has ``text`` and ``metadata``, and no speaker.
    """
    log = value.get("log") if isinstance(value, Mapping) else None
    first = log[0] if isinstance(log, list) and log else None
    return (
        isinstance(first, dict) and first.keys() >= {"text", "metadata"} and not is_message(first)
    )


def array_values(text: str) -> tuple[Any, ...]:
    """The first values of a JSON array that may be cut anywhere.

    Args:
        text: begins with the bracket.

    Returns:
        At most ``FIRST_RECORDS`` whole values.
    """
    values: list[Any] = []
    decoder, place = json.JSONDecoder(), 1
    try:
        while len(values) < FIRST_RECORDS:
            place = _after(_GAP, text, place)
            if text[place : place + 1] in ("", "]"):
                break
            value, place = decoder.raw_decode(text, place)
            values.append(value)
    except (ValueError, RecursionError):
        pass
    return tuple(values)


def wrapped_records(text: str) -> tuple[Any, ...]:
    """The first records that stand within the one object that a file holds.

    Args:
        text: beginning of a file, which may be cut anywhere.

    Returns:
        At most ``FIRST_RECORDS`` of them; none where the object is a record itself, or where each
        line is one.
    """
    return records_and_layout(text)[0]


def records_and_layout(text: str) -> tuple[tuple[Any, ...], Layout]:
    """The first records within one object, as in ``wrapped_records``, and how they stand in it."""
    if not text.startswith("{") or _is_of_lines(text):
        return (), ""
    if SPLIT.match(text):
        return _rows_of_split(text), "split"
    decoder, place = json.JSONDecoder(), 1
    by_id: list[Any] = []
    is_record = False
    try:
        while len(by_id) < FIRST_RECORDS:
            place = _after(_GAP, text, place)
            if text[place : place + 1] != '"':
                break
            key, place = decoder.raw_decode(text, place)
            place = _after(_COLON, text, place)
            if key in LISTS and text[place : place + 1] == "[":
                records = array_values(text[place:])
                if records and all(map(_is_record, records)):
                    return tuple(map(within_row, records)), "list"
            value, place = decoder.raw_decode(text, place)
            is_indexed = key == str(len(by_id)) and isinstance(value, dict)
            if isinstance(value, dict) and (is_indexed or chat_key(value) or is_log(value)):
                by_id.append({"id": key, **value} if is_indexed else {**value, "id": key})
            elif not is_record and is_chat_under_id(key, value):
                by_id.append({"id": key, "messages": value})
            elif by_id:
                return (), ""
            else:
                is_record = True
    except (ValueError, RecursionError):
        pass
    return tuple(by_id), "ids"


def _rows_of_split(text: str) -> tuple[Any, ...]:
    """The first rows of a table that names its columns once."""
    decoder = json.JSONDecoder()
    found: dict[str, Any] = {}
    place = 1
    try:
        while "columns" not in found or "data" not in found:
            place = _after(_GAP, text, place)
            key, place = decoder.raw_decode(text, place)
            place = _after(_COLON, text, place)
            if key == "data":
                found[key] = array_values(text[place:])
                break
            found[key], place = decoder.raw_decode(text, place)
    except (ValueError, RecursionError):
        pass
    columns, rows = found.get("columns"), found.get("data")
    if not isinstance(columns, list) or not rows:
        return ()
    names = list(map(str, columns))
    whole = [row for row in rows if isinstance(row, list) and len(row) == len(names)]
    return tuple(dict(zip(names, row, strict=True)) for row in whole)


def within_row(record: Any) -> Any:
    """The record that the Hub's viewer wraps, or the value itself."""
    is_wrapped = isinstance(record, dict) and {"row_idx", ROW} <= record.keys()
    return record[ROW] if is_wrapped and isinstance(record[ROW], dict) else record


def _is_record(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and is_message(value[0])
    return isinstance(value, dict) and bool(value) and not is_message(value)


def _is_of_lines(text: str) -> bool:
    line, _, rest = text.partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place
