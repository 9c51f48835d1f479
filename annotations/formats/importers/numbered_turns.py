"""Conversations in a row, with a column an utterance: ``user_1``, ``bot_1``, ``user_2``, …."""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import is_answer, logged_conversation
from annotations.formats.importers.collected import DATASET, clean_name
from annotations.formats.importers.column_mapping import NAMES, Use, is_no_score, plain_name
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import ASSISTANTS, USERS
from annotations.formats.importers.table_source import is_missing, number_in, read_rows
from annotations.formats.records import ASSISTANT, Message, RatingRecord

_NUMBERED = re.compile(r"(?P<stem>[^\W\d_][^\d]{0,39}?)[ _.#-]?(?P<number>\d{1,4})", re.UNICODE)
_USERS = USERS | {"question", "q", "query", "usermessage", "userutterance", "prompt", "instruction"}
_ASSISTANTS = ASSISTANTS | {
    *("answer", "reply", "response", "botmessage", "botresponse", "systemresponse"),
    *("assistantmessage", "assistantresponse", "botutterance", "systemutterance", "modelresponse"),
}
_ANYBODY = frozenset(["turn", "utterance", "message", "utt", "msg", "line"])


@dataclass(frozen=True, slots=True)
class UtteranceColumns:
    """Headings of the utterances in their order, each with its role ("" for none) and number; of
    the scores, each with its aspect and the number of the utterance, or None for all."""

    utterances: tuple[tuple[str, str, int], ...]
    scores: tuple[tuple[str, str, int | None], ...]
    conversation: str
    system: str
    rater: str

    @classmethod
    def of(cls, keys: Names[str]) -> UtteranceColumns | None:
        """None where the columns are no utterances of a conversation."""
        found: dict[str, list[tuple[int, int, str]]] = {}
        for place, key in enumerate(keys):
            if one := _NUMBERED.fullmatch(key.strip()):
                stem = plain_name(one["stem"])
                found.setdefault(stem, []).append((int(one["number"]), place, key))
        roles = {
            **{stem: "user" for stem in found if stem in _USERS},
            **{stem: ASSISTANT for stem in found if stem in _ASSISTANTS},
        }
        if set(roles.values()) != {"user", ASSISTANT} or len(roles) != 2:
            roles = {stem: "" for stem in found if stem in _ANYBODY and len(found[stem]) > 1}
            if len(roles) != 1:
                return None
        elif not any(len(found[stem]) > 1 for stem in roles):
            return None
        places = sorted((*one, roles[stem]) for stem in roles for one in found[stem])
        utterances = tuple((key, role, number) for number, _, key, role in places)
        others = {key: None for key in keys if key not in {one for one, _, _ in utterances}}
        plain = {plain_name(key): key for key in reversed(list(others))}
        uses: tuple[Use, ...] = ("conversation", "system", "rater")
        one_of = [next((plain[one] for one in NAMES[use] if one in plain), "") for use in uses]
        scores: list[tuple[str, str, int | None]] = []
        for key in others:
            numbered = _NUMBERED.fullmatch(key.strip())
            if key in one_of or is_no_score(key):
                continue
            if numbered and int(numbered["number"]) in {number for _, _, number in utterances}:
                scores.append((key, numbered["stem"].strip(" _.#-"), int(numbered["number"])))
            else:
                scores.append((key, key, None))
        return cls(utterances, tuple(scores), *one_of)


@dataclass(slots=True)
class _Conversation:
    where: Where
    messages: tuple[Message, ...]
    system: str
    metadata: dict[str, Any]
    ratings: list[Placed]


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(data_size(path), problems)
    found: dict[str, _Conversation] = {}
    names: dict[object, str] = {}
    columns: UtteranceColumns | None = None
    for number, (line, row) in enumerate(read_rows(path, problems), 1):
        columns = columns or UtteranceColumns.of(row)
        if columns is None:
            problems.stop(line, "", "has no columns of utterances, as in user_1, bot_1, user_2")
        utterances = [one for one in columns.utterances if not is_missing(row.get(one[0], ""))]
        messages = tuple(
            Message(role, row[key].strip()) if role else spoken("", row[key].strip())
            for key, role, _ in utterances
        )
        if not messages:
            problems.skip(line, "", "says nothing: all its utterances are empty")
            continue
        rater = clean_name(row.get(columns.rater))
        system = clean_name(row.get(columns.system)) or ASSISTANT
        by_id = clean_name(row.get(columns.conversation))
        words = tuple((one.role, one.text) for one in messages)
        key = by_id or ((words, system) if rater else number)
        name = names.setdefault(key, by_id or str(len(names) + 1))
        used = {
            columns.conversation,
            columns.system,
            columns.rater,
            *(key for key, _, _ in utterances),
        }
        ratings, judged = _ratings(row, columns, name, utterances, rater or DATASET, system, line)
        rest = {key: text for key, text in row.items() if key not in used | judged}
        rest = {key: text for key, text in rest.items() if not is_missing(text)}
        one = found.setdefault(name, _Conversation(line, messages, system, rest, []))
        if (one.messages, one.system) != (messages, system):
            message = f"is that of another conversation, at {one.where}"
            problems.add(line, columns.conversation, message)
        elif one.where != line and not rater:
            message = f"is that of the row at {one.where}; a column `rater` would say who judged"
            problems.add(line, columns.conversation, message)
        one.ratings += ratings
    for name, one in found.items():
        if any(map(is_answer, one.messages)):
            yield from logged_conversation(
                name, one.messages, one.system, one.where, metadata=one.metadata
            )
        else:
            yield from people_talking(name, one.messages, one.where, metadata=one.metadata)
        yield from one.ratings


def _ratings(
    row: Mapping[str, str],
    columns: UtteranceColumns,
    name: str,
    utterances: Sequence[tuple[str, str, int]],
    rater: str,
    system: str,
    line: Where,
) -> tuple[list[Placed], set[str]]:
    """The scores of a row, and the columns that they stand in."""
    answers = [number for _, role, number in utterances if role == ASSISTANT]
    turns = {number: turn for turn, number in enumerate(answers)}
    ratings: list[Placed] = []
    judged = set()
    for key, aspect, number in columns.scores:
        score = number_in(row.get(key, ""))
        if score is not None and answers and (number is None or number in turns):
            turn = None if number is None else turns[number]
            ratings.append((RatingRecord(name, turn, system, rater, aspect, score), line, key))
            judged.add(key)
    return ratings, judged


def _detect(sample: FileSample) -> float:
    if not sample.is_of_rows or not sample.rows:
        return 0.0
    columns = UtteranceColumns.of(list(sample.rows[0]))
    if columns is None or not all(
        isinstance(row.get(key), str | None)
        for row in sample.rows
        for key, _, _ in columns.utterances
    ):
        return 0.0
    return 0.65 if columns.utterances[0][1] else 0.45


_DESCRIPTION = """\
CSV, XLSX, Parquet, a JSON array or JSON lines: a conversation a row, with a column an utterance,
numbered: `user_1`, `bot_1`, `user_2`, `bot_2`, … (or `Human 1` and `AI 1`, `question_1` and
`answer_1`, …): the latter are responses of the system `model`, else `assistant`. `turn_1`,
`turn_2`, … are what people say. An empty cell is passed over. Columns of numbers are scores of the
rater `annotator`, else `dataset`: of one response where they have its number (`quality_1`), else of
the conversation. All other columns are metadata."""
_EXAMPLE = """\
user_1,bot_1,user_2,bot_2,quality
Is the oven hot?,Not yet.,And now?,Now it is.,4
"""

IMPORTER = Importer(
    name="numbered-turns",
    summary="a conversation a row, with numbered columns of utterances (CSV, XLSX, Parquet, JSON)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
