"""Chats as plain text: lines that begin with who speaks, WhatsApp's exports, the Ubuntu corpus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import SYSTEM, logged_conversation
from annotations.formats.importers.data_files import data_members
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_source import decode_line, file_lines
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import ASSISTANTS, USERS, message_of
from annotations.formats.records import ASSISTANT, Message

_ENDINGS = (".txt", ".tsv", ".text", ".log")
_MAX_FILES = 10_000
_TIME = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\.?)?"
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
_STAMPED = re.compile(
    rf"[\u200e\u200f]*(?:\[(?P<in>(?:{_DATE},? )?{_TIME})\]|(?P<at>{_DATE},? {_TIME}) [-\u2013])"
    r" (?:(?P<name>[^:]{1,60}): )?(?P<text>.*)"
)
"""WhatsApp's two ways to begin a message; without a name it is a note of the program."""
_TABBED = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\dT[\d:.]{5,15}Z?)\t(?P<name>[^\t]*)\t(?P<to>[^\t]*)\t(?P<text>.*)"
)
"""A message of the Ubuntu corpus (Lowe et al. 2015, SIGDIAL)."""
_LABELLED = re.compile(
    r"[*#]{0,3} ?(?P<name>[^\W\d_][^:\uff1a\t*]{0,39})\*{0,2}"
    r"(?::(?=\*{0,2}(?:[ \t]|\Z))|\uff1a)\*{0,2}[ \t]*(?P<text>.*)"
)
"""With the wide colon of Chinese and Japanese, which no blank follows."""
_BREAK = re.compile(r"[ \t]*([-=*_#~])(?:[ \t]*\1){2,}[ \t]*")
"""A line between two conversations."""
_STAMPED_CONFIDENCE = 0.85
_USERS = USERS | {
    *("you", "me", "q", "question", "nutzer", "benutzer", "usuario", "utilisateur"),
    *("用户", "用戶", "ユーザー", "사용자"),
}
_ASSISTANTS = ASSISTANTS | {
    *("a", "answer", "assistent", "asistente", "助手", "アシスタント", "어시스턴트"),
}
_NAMED_ASSISTANTS = frozenset(["chatgpt", "claude", "gemini", "copilot", "deepseek", "grok"])
_MOST_SPEAKERS = 12
_MOST_LABELS = 1_000
_MOST_WORDS = 4


@dataclass
class _Chat:
    """The conversation that the reader is in.

    Attributes:
        is_tight: two of its messages follow each other without a blank line.
    """

    where: int
    messages: list[Message] = field(default_factory=list)
    is_tight: bool = False


def _label(line: str) -> str:
    found = _LABELLED.fullmatch(line.lstrip(" \t"))
    name = found["name"].strip().removesuffix(" said") if found else ""
    return name if len(name.split()) <= _MOST_WORDS else ""


def _speakers(labels: Counter[str]) -> dict[str, str]:
    """Role of each label that is a speaker: words for user and assistant, where both are there;
    the user and one other; else all that occur twice. What else begins with a word and a colon
    is part of a message."""
    users = [one for one in labels if one.casefold() in _USERS]
    answering = [one for one in labels if one.casefold() in _ASSISTANTS | _NAMED_ASSISTANTS]
    others = [one for one in answering if one.casefold() != SYSTEM]
    if users and answering:
        # Beside an assistant the system is its prompt; alone it is who answers
        prompt = {one: SYSTEM for one in answering if others and one not in others}
        return dict.fromkeys(users, "user") | dict.fromkeys(answering, ASSISTANT) | prompt
    repeated = [one for one, count in labels.items() if count > 1]
    named = repeated if len(repeated) > 1 else list(labels)
    if users and len(rest := [one for one in named if one not in users]) == 1:
        return {**dict.fromkeys(users, "user"), rest[0]: ASSISTANT}
    return dict.fromkeys(named, "")


def _lines(file: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    for where, raw in file_lines(file, problems, "a text file"):
        text, fault = decode_line(raw)
        if fault:
            problems.add(where, "", fault)
        else:
            yield where, text.rstrip("\r\n")


def _chats(file: Path, problems: Problems) -> Iterator[tuple[int, str, tuple[Message, ...]]]:
    """Line, system and messages of each conversation."""
    first = next((line for _, line in _lines(file, Problems(file.name)) if line.strip()), "")
    if form := next((one for one in (_TABBED, _STAMPED) if one.fullmatch(first)), None):
        yield from _stamped(file, form, problems)
        return
    labels: Counter[str] = Counter()
    for _, line in _lines(file, Problems(file.name)):
        if (name := _label(line)) and (name in labels or len(labels) < _MOST_LABELS):
            labels[name] += 1
    speakers = _speakers(labels)
    answering = {one for one, role in speakers.items() if role == ASSISTANT}
    unknown = {one for one in answering if one.casefold() not in _ASSISTANTS}
    system = unknown.pop() if len(answering) == len(unknown) == 1 else ASSISTANT
    for chat in _labelled(file, speakers, problems):
        messages = tuple(replace(one, text=one.text.strip()) for one in chat.messages)
        yield chat.where, system, messages


def _stamped(
    file: Path, form: re.Pattern[str], problems: Problems
) -> Iterator[tuple[int, str, tuple[Message, ...]]]:
    messages: list[Message] = []
    for where, line in _lines(file, problems):
        found = form.fullmatch(line)
        if found is None and messages:
            messages[-1] = replace(messages[-1], text=f"{messages[-1].text}\n{line}")
        elif found is None or found["name"] is None:
            if line.strip():
                problems.skip(where, "", "is a note of the program: nobody says it")
        elif form is _TABBED:
            about = {"to": found["to"]} if found["to"] else {}
            message = replace(spoken(found["name"].strip(), found["text"], about), time=found["at"])
            messages.append(message)
        else:
            about = {"time": found["in"] or found["at"]}
            messages.append(spoken(found["name"].strip(), found["text"], about))
    if messages:
        yield 1, ASSISTANT, tuple(replace(one, text=one.text.strip()) for one in messages)


def _labelled(file: Path, speakers: dict[str, str], problems: Problems) -> Iterator[_Chat]:
    chat: _Chat | None = None
    first, before = "", 0
    for where, line in _lines(file, problems):
        # Blank lines are passed over, and counted
        is_after_blank, before = where > before + 1, where
        if _BREAK.fullmatch(line):
            if chat is not None:
                yield chat
                chat = None
            continue
        name = _label(line)
        found = _LABELLED.fullmatch(line.lstrip(" \t")) if name in speakers else None
        if found is None and chat is None:
            problems.add(where, "", "does not begin with who speaks, as in NAME: text")
        elif found is None and chat is not None:
            last = chat.messages[-1]
            gap = "\n\n" if is_after_blank else "\n"
            chat.messages[-1] = replace(last, text=f"{last.text}{gap}{line}")
        elif found is not None:
            if chat is not None and chat.is_tight and is_after_blank and name == first:
                yield chat
                chat = None
            if chat is None:
                chat, first = _Chat(where), name
            elif not is_after_blank:
                chat.is_tight = True
            chat.messages.append(_message(name, speakers[name], found["text"]))
    if chat is not None:
        yield chat


def _message(name: str, role: str, text: str) -> Message:
    if not role:
        return spoken(name, text)
    return Message(SYSTEM, text) if role == SYSTEM else replace(message_of(name, text), role=role)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    files = [path]
    if path.is_dir():
        found = (one for one in path.rglob("*") if one.suffix.lower() in _ENDINGS)
        files = sorted(one for one in found if one.is_file() and not one.is_symlink())[:_MAX_FILES]
    number = 0
    for file in files:
        own = problems_of(problems, path, file)
        for line, system, messages in _chats(file, own):
            number += 1
            where = line if file == path else f"{own.file}:{line}"
            if any(one.role == ASSISTANT for one in messages):
                yield from logged_conversation(str(number), messages, system, where)
            else:
                about = {} if file == path else {"file": own.file}
                yield from people_talking(str(number), messages, where, metadata=about)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        files = [one for one in sample.members if one.lower().endswith(_ENDINGS)]
        certain = _detect(sample.member(files[0])) if files else 0.0
        # WhatsApp packs a chat with its pictures
        is_all = len(files) == len(sample.members) or certain == _STAMPED_CONFIDENCE
        return certain if is_all and not data_members(set(sample.members) - set(files)) else 0.0
    # A date in brackets looks like a JSON array of numbers
    is_date = sample.kind == "json array" and not sample.keys
    if not is_date and sample.kind not in ("text", "table"):
        return 0.0
    lines = [line.rstrip("\r") for line in sample.text.split("\n")[:200] if line.strip()]
    if any(one.fullmatch(line) for one in (_TABBED, _STAMPED) for line in lines[:1]):
        return _STAMPED_CONFIDENCE
    labels = Counter(filter(None, map(_label, lines)))
    if not lines or not _label(lines[0]) or not 1 < len(labels) <= _MOST_SPEAKERS * 4:
        return 0.0
    roles = _speakers(labels)
    if ASSISTANT in roles.values():
        return 0.6
    is_talk = len(roles) <= _MOST_SPEAKERS and sum(labels[one] for one in roles) >= len(lines) / 2
    return 0.3 if is_talk and max(labels.values()) > 1 else 0.0


_DESCRIPTION = """\
A text file, or a folder of them. **Lines `NAME: text`**: a line without a speaker continues the
message before it; a line of `---`, `===` or `###` ends a conversation, and so does a blank line
before the first speaker where messages follow each other without blank lines. What `Assistant`,
`Bot`, `AI` and the like say to a `User` or `Human` are responses of `assistant`; the only other
speaker beside a user is a system of that name. **WhatsApp's exports** (`12/01/24, 10:00 - Ann: hi`,
`[12.01.24, 10:00:01] Ann: hi`) and **the Ubuntu corpus** (time, from, to, text between tabs) are a
conversation a file, of people. WhatsApp's own notes are left out and reported."""
_EXAMPLE = "User: Is the oven hot?\nAssistant: Not yet.\n"

IMPORTER = Importer(
    name="chat-text",
    summary="chats as plain text: lines NAME: text, WhatsApp, Ubuntu corpus",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
