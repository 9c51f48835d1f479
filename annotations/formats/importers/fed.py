"""FED (Mehri & Eskenazi 2020, SIGDIAL): conversations with two systems and a person, scores of some
of their turns and of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import logged_conversation, rest_of
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.dstc9 import ROLES
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.position_scores import listed_scores
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.importers.spoken_lines import spoken_lines
from annotations.formats.records import ASSISTANT, Message
from common.text import MAX_TEXT

MAIN_ASPECT = "Overall"
_TWO = (
    "Interesting",
    "Engaging",
    "Specific",
    "Relevant",
    "Correct",
    "Semantically appropriate",
    "Fluent",
    "Coherent",
    "Error recovery",
    "Diverse",
    "Depth",
    "Likeable",
    "Understanding",
    "Flexible",
    "Informative",
    "Inquisitive",
)
SCALES = {
    **dict.fromkeys(_TWO, (0.0, 2.0)),
    "Understandable": (0.0, 1.0),
    "Consistent": (0.0, 1.0),
    MAIN_ASPECT: (0.0, 4.0),
}
_FIELDS = ("context", "response", "system", "annotations")


@dataclass
class _Conversation:
    messages: tuple[Message, ...]
    row: JsonObject
    whole: JsonObject | None = None
    turns: dict[int, JsonObject] = field(default_factory=dict)
    """Scores by the place of the response among the messages."""


class _Conversations:
    """Of one system each. A rated turn belongs to the conversation that begins as its context."""

    def __init__(self) -> None:
        self.all: list[_Conversation] = []
        self._by_beginning: dict[tuple[str, int], list[_Conversation]] = {}

    def add(self, system: str, conversation: _Conversation) -> None:
        self.all.append(conversation)
        key = hash(system)
        for message in conversation.messages:
            key = hash((key, message.role, message.text))
            self._by_beginning.setdefault((system, key), []).append(conversation)

    def beginning_as(self, system: str, messages: tuple[Message, ...]) -> list[_Conversation]:
        key = hash(system)
        for message in messages:
            key = hash((key, message.role, message.text))
        return self._by_beginning.get((system, key), [])


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(path.stat().st_size if path.is_file() else 0, problems)
    conversations = _Conversations()
    turns: list[tuple[str, tuple[Message, ...], JsonObject]] = []
    for _, row in numbered_objects(path, problems):
        system, messages = row.name("system"), _lines(row, "context")
        answer = _lines(row, "response") if row.has("response") else ()
        annotations = row.child("annotations")
        if system is None or messages is None or answer is None or annotations is None:
            continue
        if row.has("response"):
            turns.append((system, (*messages, *answer), row))
        else:
            conversation = _Conversation(messages, row, annotations)
            conversations.add(system, conversation)
    for system, messages, row in turns:
        _place(system, messages, row, conversations)
    for number, conversation in enumerate(conversations.all, 1):
        yield from _records(str(number), conversation)


def _lines(row: JsonObject, key: str) -> tuple[Message, ...] | None:
    text = row.text(key, MAX_TEXT)
    return None if text is None else spoken_lines(row, key, text.strip(), ROLES)


def _place(
    system: str, messages: tuple[Message, ...], row: JsonObject, conversations: _Conversations
) -> None:
    """Give a rated turn to its conversation, which may end just before it, or make one of it."""
    place = len(messages) - 1
    for conversation in conversations.beginning_as(system, messages):
        if place not in conversation.turns:
            conversation.turns[place] = row
            return
    for conversation in conversations.beginning_as(system, messages[:-1]):
        if len(conversation.messages) == place:
            conversation.messages = messages
            conversation.turns[place] = row
            return
    conversations.add(system, _Conversation(messages, row, turns={place: row}))


def _records(dialogue_id: str, conversation: _Conversation) -> Iterator[Placed]:
    row, messages = conversation.row, conversation.messages
    system = str(row.value["system"])
    yield from logged_conversation(
        dialogue_id,
        messages,
        system,
        row.where,
        field="context",
        metadata=rest_of(row, _FIELDS),
    )
    places = [index for index, message in enumerate(messages) if message.role == ASSISTANT]
    for place, rated in sorted(conversation.turns.items()):
        annotations = rated.child("annotations")
        if place not in places:
            rated.complain("response", "must begin with System:")
        elif annotations is not None:
            yield from listed_scores(annotations, dialogue_id, places.index(place), system)
    if conversation.whole is not None and places:
        yield from listed_scores(conversation.whole, dialogue_id, None, system)


_DESCRIPTION = """\
A JSON array. An element with `context`, `system` and `annotations` is a conversation with its
scores; one with `response`, too, is a rated turn of the conversation that begins as its context
(it may end just before the response). Lines begin with `User: ` or `System: `; each of the
system's is a response, and dialogues are numbered from 1. Raters are places in the lists, and
anonymous. Scales are the questionnaire's: 0 to 2, but `Understandable` and `Consistent` 0 to 1,
`Overall` 0 to 4. `N/A` with a reason is a free text. The system `Human` is a person."""
_EXAMPLE = (
    '[{"context": "User: Is the oven hot?", "response": "System: Not yet.", "system": "Baker", '
    '"annotations": {"Relevant": [2, 1], "Overall": [4, 3]}},\n'
    ' {"context": "User: Is the oven hot?\\nSystem: Not yet.\\nUser: Oh.", "system": "Baker", '
    '"annotations": {"Overall": [3, 3]}}]\n'
)

IMPORTER = Importer(
    name="fed",
    summary="FED: conversations with scores of turns and of the whole (JSON array)",
    stream=with_head(
        _body, scales=SCALES, main_aspect=MAIN_ASPECT, system_kinds={"Human": "human"}
    ),
    detect=has_keys("context", "system", "annotations", kinds=("json array",)),
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
