"""Conversations with a message a row: tables and JSON rows of speaker and text."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    is_answer,
    logged_conversation,
    read_message,
    role_named,
)
from annotations.formats.importers.collected import DATASET, clean_name, score_of
from annotations.formats.importers.column_mapping import NAMES, is_no_score, plain_name
from annotations.formats.importers.crossed import refuse_large, split_metadata
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.repeated_messages import (
    MessageRow,
    UnclearRepeatError,
    raters_by_order,
    rows_by_message,
)
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import message_of
from annotations.formats.importers.table_source import (
    holds_json,
    is_missing,
    number_in,
    read_rows,
)
from annotations.formats.records import ASSISTANT, LabelRecord, Message, RatingRecord

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
_TURNS = (
    *NAMES["turn"],
    *("utteranceid", "utteranceindex", "utteranceidx", "utterancenumber", "messageid", "msgid"),
    *("messageindex", "messageidx", "messagenumber", "position", "step", "sequence", "seq"),
)
_LABELS = frozenset(["label", "labels", "category", "annotation"])


@dataclass(frozen=True, slots=True)
class _Columns:
    """Headings; "" for those not there."""

    role: str
    text: str
    conversation: str
    system: str
    turn: str
    rater: str

    @classmethod
    def of(cls, keys: Names[str]) -> _Columns:
        plain = {plain_name(key): key for key in reversed(list(keys))}
        known = (_ROLES, _TEXTS, _CONVERSATIONS, NAMES["system"], _TURNS, NAMES["rater"])
        return cls(*(next((plain[name] for name in one if name in plain), "") for one in known))


@dataclass(slots=True)
class _Row:
    """A message, or what one rater says of a message that other rows repeat."""

    where: Where
    message: Message
    turn: str
    rater: str
    rest: dict[str, Any]

    def message_row(self) -> MessageRow:
        message = self.message
        return MessageRow((message.role, message.name, message.text), self.turn, self.rater)


def _rows(path: Path, problems: Problems) -> Iterator[JsonObject]:
    if holds_json(path):
        for _, row in numbered_objects(path, problems):
            yield row
        return
    for line, cells in read_rows(path, problems):
        yield JsonObject(dict(cells), line, "", problems)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(data_size(path), problems)
    found: dict[str, list[_Row]] = {}
    columns: _Columns | None = None
    for row in _rows(path, problems):
        columns = columns or _Columns.of(row.value)
        name = clean_name(row.value.get(columns.conversation)) or "1"
        message = _message(row, columns)
        if message is not None:
            used = {columns.role, columns.text, columns.conversation, columns.system, columns.rater}
            rest = {key: one for key, one in row.value.items() if key not in used}
            if system := clean_name(row.value.get(columns.system)):
                rest["system"] = system
            turn, rater = (clean_name(row.value.get(one)) for one in (columns.turn, columns.rater))
            found.setdefault(name, []).append(_Row(row.where, message, turn, rater, rest))
    if columns is None:
        return
    scores = _scores(found, columns)
    conversations: dict[str, list[list[_Row]]] = {}
    for name, rows in found.items():
        try:
            grouped = rows_by_message([row.message_row() for row in rows])
        except UnclearRepeatError as error:
            problems.add(rows[error.position].where, columns.text, str(error))
        else:
            conversations[name] = [[rows[at] for at in one] for one in grouped]
    has_raters = any(row.rater for rows in found.values() for row in rows)
    labels = {
        key
        for messages in conversations.values()
        for one in messages
        for key in one[0].rest
        if key not in scores and key not in (columns.turn, "system") and not is_no_score(key)
        if len({str(row.rest[key]) for row in one if _is_there(row.rest.get(key))}) > 1
        or (has_raters and plain_name(key) in _LABELS)
    }
    for name, messages in conversations.items():
        yield from _records_of(name, messages, scores, sorted(labels))


def _scores(found: Mapping[str, list[_Row]], columns: _Columns) -> dict[str, bool]:
    """The columns of scores, and whether each judges conversations; where the file does not say
    who judged, a table that repeats its messages has raters by their order."""
    rows = [row for of in found.values() for row in of]
    keys = list(dict.fromkeys(key for row in rows for key in row.rest))
    scores = {
        key
        for key in keys
        if key not in (columns.turn, "system")
        and not is_no_score(key)
        and (values := [row.rest[key] for row in rows if _is_there(row.rest.get(key))])
        and all(_score(one) is not None for one in values)
    }
    if not any(row.rater for row in rows):
        numbered = raters_by_order([[row.message_row() for row in of] for of in found.values()])
        for of, raters in zip(
            found.values(), numbered if scores and numbered else (), strict=False
        ):
            for row, rater in zip(of, raters, strict=True):
                row.rater = rater
    if not any(row.rater for row in rows):
        scores = {key for key in scores if plain_name(key) in NAMES["score"]}
    return {key: _is_of_whole(key, found) for key in keys if key in scores}


def _is_of_whole(key: str, found: Mapping[str, list[_Row]]) -> bool:
    """Whether a column says the same of all messages of each conversation, not of answers
    alone."""
    groups: dict[tuple[str, str], set[float | None]] = {}
    is_of_others = False
    for name, rows in found.items():
        for row in rows:
            score = _score(row.rest.get(key))
            groups.setdefault((name, row.rater), set()).add(score)
            is_of_others |= score is not None and not is_answer(row.message)
    return is_of_others and all(len(scores) == 1 for scores in groups.values())


def _is_there(value: Any) -> bool:
    return not (value is None or (isinstance(value, str) and is_missing(value)))


def _score(value: Any) -> float | None:
    return number_in(value) if isinstance(value, str) else score_of(value)


def _records_of(
    name: str, messages: list[list[_Row]], scores: Mapping[str, bool], labels: Names[str]
) -> Iterator[Placed]:
    rows = [_metadata_of(one, (*scores, *labels)) for one in messages]
    systems = {one["system"]: None for one in rows if one.get("system")}
    # Which of several systems answered is said of each message
    known = ("system",) if len(systems) < 2 else ()
    common, others = split_metadata(
        [{key: one for key, one in rest.items() if key not in known} for rest in rows]
    )
    spoken = tuple(
        replace(one[0].message, metadata=_present(own))
        for one, own in zip(messages, others, strict=True)
    )
    system = next(iter(systems), ASSISTANT)
    where = messages[0][0].where
    yield from logged_conversation(name, spoken, system, where, metadata=_present(common))
    answers = [place for place, message in enumerate(spoken) if is_answer(message)]
    turns = {place: number for number, place in enumerate(answers)}
    for key in (*scores, *labels):
        judged: set[str] = set()
        for place, one in enumerate(messages):
            turn = turns.get(place)
            # A label of what others say is of the message alone
            by = "" if turn is None else system
            for row in one:
                rater, score = row.rater or DATASET, _score(row.rest.get(key))
                if key in labels:
                    if _is_there(row.rest.get(key)):
                        text = str(row.rest[key]).strip()
                        at = place if turn is None else None
                        yield LabelRecord(name, turn, by, rater, key, text, at), row.where, key
                elif score is None:
                    continue
                elif scores[key]:
                    if turns and rater not in judged:
                        judged.add(rater)
                        record = RatingRecord(name, None, system, rater, key, score)
                        yield record, row.where, key
                elif turn is not None:
                    yield RatingRecord(name, turn, system, rater, key, score), row.where, key
                else:
                    about = f"{key} (message)"
                    label = LabelRecord(name, None, "", rater, about, f"{score:g}", place)
                    yield label, row.where, key


def _metadata_of(rows: list[_Row], judgements: Names[str]) -> dict[str, Any]:
    """What the rows of a message say beside it: once, where they agree, else by rater."""
    found: dict[str, Any] = {}
    for key in dict.fromkeys(key for row in rows for key in row.rest if key not in judgements):
        values = {row.rater: row.rest[key] for row in rows if _is_there(row.rest.get(key))}
        distinct = list(values.values())
        is_shared = all(one == distinct[0] for one in distinct)
        found[key] = (distinct or [""])[0] if is_shared else values
    return found


def _present(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if value not in ("", None)}


def _message(row: JsonObject, columns: _Columns) -> Message | None:
    speaker = clean_name(row.value.get(columns.role))
    if not speaker:
        row.complain(columns.role or "role", "is empty: who speaks is not said")
        return None
    fields = {"role": speaker, "content": row.value.get(columns.text)}
    message = read_message(replace(row, value=fields))
    if message is None or plain_name(columns.role) == "role":
        return message
    named = message_of(speaker, message.text)
    known = role_named(speaker)
    return replace(message, role=named.role if known == speaker else known, name=named.name)


def _detect(sample: FileSample) -> float:
    if not sample.is_of_rows:
        return 0.0
    columns = _Columns.of(sample.keys)
    others = {plain_name(key) for key in sample.keys}
    # A tree of messages is no conversation
    if not columns.role or not columns.text or others & {"response", "parentid"}:
        return 0.0
    if "label" in others and not columns.conversation:
        return 0.0
    return 0.5 if columns.conversation else 0.3


_DESCRIPTION = """\
CSV, XLSX, Parquet, a JSON array or JSON lines: one message a row, with who speaks (`role`,
`speaker`, `sender`, …), the text (`content`, `text`, `message`, `utterance`, …) and, where there
are several, the conversation (`conversation_id`, `dialog_id`, …). Rows of one conversation are its
messages, in the order of the file. What the assistant (`assistant`, `bot`, `system`, …) says are
responses of the system `model`, else `assistant`. A message that is repeated for each `annotator`
is one, and the columns of numbers are that rater's scores: of the conversation where all its rows
agree, else of the response (a label, of what others say); texts in which raters differ are labels.
Messages that are repeated without a
rater have the raters `rater 1`, `rater 2`, … by their order; without any repeat only `score` and
`rating` are scores, of the rater `dataset`. All other columns are metadata: of the conversation
where all its rows agree, else of the message."""
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
