"""Exports of Slack: a folder a channel, a file a day."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import logged_conversation
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import ImportFailed, Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import ASSISTANT, Message

_DAY = re.compile(r"(?:.*/)?(?P<channel>[^/]+)/(?P<day>\d{4}-\d\d-\d\d)\.json")
_MENTION = re.compile(r"<@([A-Z0-9]{1,20})(?:\|[^<>]{0,80})?>")
_LINK = re.compile(r"<([^<>|@]{1,2000})(?:\|([^<>]{0,300}))?>")
_MESSAGE_KINDS = (None, "bot_message", "thread_broadcast", "file_share", "me_message")
"""Kinds of messages that somebody writes; the others are notes of the program."""


def _names(path: Path) -> dict[str, str]:
    """Names of the members by their ids."""
    found: dict[str, str] = {}
    for file in files_of(path, "users.json"):
        try:
            for _, user in json_rows(file, Problems(file.name)):
                if isinstance(user, dict):
                    profile = user.get("profile")
                    shown = profile.get("display_name") if isinstance(profile, dict) else ""
                    name = shown or user.get("real_name") or user.get("name")
                    found[clean_name(user.get("id"))] = clean_name(name)
        except ImportFailed:  # names are a help; ids tell people apart, too
            continue
    return found


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    names = _names(path)
    found: dict[str, list[tuple[str, Where, Message]]] = {}
    threads = set()
    for file in files_of(path, ".json"):
        is_alone = file == path
        day = _DAY.fullmatch(file.relative_to(path.parent).as_posix())
        if day is None and not is_alone:
            continue
        in_channel = day["channel"] if day and not is_alone else "channel"
        own = problems_of(problems, path, file)
        for where, value in json_rows(file, own):
            place = where if is_alone else f"{own.file}:{where}"
            message = _message(value, names, place, problems)
            if message is None:
                continue
            time = clean_name(value.get("ts"))
            thread = clean_name(value.get("thread_ts"))
            key = f"{in_channel} {thread or time}"
            if thread and thread != time:
                threads.add(key)
            found.setdefault(key, []).append((time, place, message))
    conversations: dict[str, list[tuple[str, Where, Message]]] = {}
    for key, messages in found.items():
        # A message that nobody answered in a thread belongs to its channel's day
        channel, _, time = key.rpartition(" ")
        name = key if key in threads else f"{channel} {messages[0][2].time[:10] or time}"
        conversations.setdefault(name, []).extend(messages)
    for name, messages in conversations.items():
        spoken = tuple(message for _, _, message in sorted(messages, key=lambda one: one[0]))
        yield from _records_of(name, spoken, messages[0][1])


def _records_of(name: str, messages: tuple[Message, ...], where: Where) -> Iterator[Placed]:
    bots = {message.name for message in messages if message.role == ASSISTANT}
    if len(bots) == 1:
        yield from logged_conversation(name, messages, bots.pop(), where)
        return
    # Several bots are participants like others
    people = tuple(
        spoken(one.name, one.text, one.metadata) if one.role == ASSISTANT else one
        for one in messages
    )
    yield from people_talking(name, people, where)


def _message(
    value: Any, names: Mapping[str, str], place: Where, problems: Problems
) -> Message | None:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        problems.add(place, "text", "is missing: this is no message of Slack")
        return None
    subtype = value.get("subtype")
    if subtype not in _MESSAGE_KINDS:
        problems.skip(place, "subtype", f"is {str(subtype)[:50]}: nobody says it")
        return None
    text = _MENTION.sub(lambda one: "@" + (names.get(one[1]) or one[1]), value["text"])
    text = html.unescape(_LINK.sub(lambda one: one[2] or one[1], text))
    member = clean_name(value.get("user"))
    is_bot = bool(value.get("bot_id")) or subtype == "bot_message"
    by_profile = value.get("bot_profile")
    bot = value.get("username") or (by_profile.get("name") if isinstance(by_profile, dict) else "")
    name = clean_name(bot if is_bot and bot else "") or names.get(member) or member
    name = name or clean_name(value.get("bot_id")) or ("bot" if is_bot else "somebody")
    rest = {"thread": value["thread_ts"]} if value.get("thread_ts") else {}
    if isinstance(files := value.get("files"), list) and files:
        titles = [one.get("title") or one.get("name") for one in files if isinstance(one, dict)]
        rest["files"] = [str(one) for one in titles if one]
    return Message(
        ASSISTANT if is_bot else "user", text, name, time=_time(value.get("ts")), metadata=rest
    )


def _time(written: Any) -> str:
    try:
        return datetime.fromtimestamp(int(float(written)), UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return ""


def _detect(sample: FileSample) -> float:
    if sample.kind != "folder":
        is_day = sample.record.keys() >= {"type", "ts", "text"} and "user" in sample.record
        return 0.8 if is_day and sample.kind == "json array" else 0.0
    days = [name for name in sample.members if _DAY.fullmatch(name)]
    if not days:
        return 0.0
    first = sample.member(days[0]).record
    return 0.95 if first.keys() >= {"type", "ts", "text"} else 0.0


_DESCRIPTION = """\
The folder (or zip file) that Slack exports, or some channels of it: `CHANNEL/2024-01-01.json`, and
`users.json` with the names. A thread is a conversation, and so are the other messages of a channel
on a day. What a bot says are its responses, where it is the only one. Joins, topics and other notes
are left out and reported; files are named, not fetched."""
_EXAMPLE = (
    '[{"type": "message", "user": "U1", "text": "Is the oven hot?", "ts": "1704103201.000100"},\n'
    ' {"type": "message", "subtype": "bot_message", "username": "oven", "bot_id": "B1", "text": '
    '"Not yet.", "ts": "1704103202.000200"}]\n'
)

IMPORTER = Importer(
    name="slack",
    summary="exports of Slack (folder or zip file)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
