"""ConTurE (Ghazarian et al. 2022, NAACL): DSTC9's conversations with a score for each turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    USER,
    DistinctIds,
    logged_conversation,
    rest_of,
)
from annotations.formats.importers.dstc9 import CHATBOT, MAIN_ASPECT, SCALES
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import position_rater, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.records import ASSISTANT, Message, RatingRecord
from common.text import MAX_TEXT

MAJORITY = "majority"
"""The rater of the turns: what most of several people said."""
IMPRESSION = "overall impression"


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    ids = DistinctIds()
    for _, row in numbered_objects(path, problems):
        dialogue_id = row.name("dialog_id")
        turns = row.children("turns")
        if dialogue_id is None or turns is None:
            continue
        dialogue_id = ids.distinct(dialogue_id)
        messages = _messages(turns)
        if messages is None:
            continue
        metadata = rest_of(row, ("dialog_id", "turns", "dialog_ratings"))
        yield from logged_conversation(
            dialogue_id, messages, CHATBOT, row.where, field="turns", metadata=metadata
        )
        yield from _scores(row, dialogue_id, turns)


def _messages(turns: tuple[JsonObject, ...]) -> tuple[Message, ...] | None:
    messages = []
    for turn in turns:
        texts = turn.text("user", MAX_TEXT, True), turn.text("chatbot", MAX_TEXT, True)
        if texts[0] is None or texts[1] is None:
            return None
        rest = rest_of(turn, ("user", "chatbot", IMPRESSION))
        messages.append(Message(USER, _after(texts[0], "User:")))
        messages.append(Message(ASSISTANT, _after(texts[1], "Chatbot:"), metadata=rest))
    return tuple(messages)


def _after(text: str, prefix: str) -> str:
    return text.removeprefix(prefix).removeprefix(" ") if text.startswith(prefix) else text


def _scores(row: JsonObject, dialogue_id: str, turns: tuple[JsonObject, ...]) -> Iterator[Placed]:
    for number, turn in enumerate(turns):
        has_score = turn.value.get(IMPRESSION) is not None
        score = turn.number(IMPRESSION) if has_score else None
        if score is not None:
            rating = RatingRecord(dialogue_id, number, CHATBOT, MAJORITY, IMPRESSION, score)
            yield rating, row.where, turn.field(IMPRESSION)
    has_ratings = bool(turns) and row.value.get("dialog_ratings") is not None
    for index, one in enumerate((row.children("dialog_ratings") if has_ratings else ()) or ()):
        for aspect, value in one.value.items():
            score = one.number(aspect) if value is not None else None
            if score is not None:
                rater = position_rater(index)
                rating = RatingRecord(dialogue_id, None, CHATBOT, rater, aspect, score)
                yield rating, row.where, one.field(aspect)


_DESCRIPTION = """\
A JSON array of conversations with `dialog_id`, `turns` (`user`, `chatbot`, `overall impression`)
and `dialog_ratings`. `User: ` and `Chatbot: ` are taken away once, at the beginning of a text. The
responses are of the system `chatbot`: the file names none. `overall impression`, 0 to 2, is a
majority of people, the rater `majority`; the scores of the conversation are by `rater 1`, `rater
2`, …, who are anonymous, on the scales of `dstc9`."""
_EXAMPLE = (
    '[{"dialog_id": 0, "turns": [{"user": "User: Is the oven hot?", "chatbot": "Chatbot: Not '
    'yet.", "overall impression": 2}], "dialog_ratings": [{"consistent": 1, "human (overall)": '
    "4}]}]\n"
)

IMPORTER = Importer(
    name="conture",
    summary="ConTurE: conversations with scores of turns and of the whole (JSON array)",
    stream=with_head(
        _body,
        scales={**SCALES, IMPRESSION: (0.0, 2.0)},
        main_aspect=MAIN_ASPECT,
        rater_kinds={MAJORITY: "aggregate"},
    ),
    detect=has_keys("dialog_id", "turns", "dialog_ratings"),
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
