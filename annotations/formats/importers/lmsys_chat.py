"""LMSYS-Chat-1M (Zheng et al. 2024, ICLR): one conversation with one model a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    DistinctIds,
    complain_of_empty,
    logged_conversation,
    name_or,
    read_messages,
    rest_of,
)
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.records import ASSISTANT

_PER_MESSAGE = ("openai_moderation", "detoxify_moderation")


def records_of_row(row: JsonObject, id_key: str, ids: DistinctIds) -> Iterator[Placed]:
    """Read one conversation.

    Args:
        row: an object with ``conversation``, ``model`` and an id; perhaps lists with one item a
            message, ``openai_moderation`` and ``detoxify_moderation``.
        id_key: name of the field that is the dialogue's id.
        ids: of the dialogues before it.

    Returns:
        Iterator over the dialogue and its responses; nothing for a record without messages, which
        is reported.
    """
    if row.value.get("conversation") == []:
        complain_of_empty(row.problems, row.where, "conversation")
        return
    dialogue_id = row.name(id_key)
    messages = read_messages(row, "conversation")
    system = name_or(row, "model", ASSISTANT)
    if dialogue_id is None or messages is None or system is None:
        return
    metadata = rest_of(row, (id_key, "conversation", "model"))
    for key in _PER_MESSAGE:
        values = metadata.get(key)
        if isinstance(values, list) and len(values) == len(messages):
            del metadata[key]
            messages = tuple(
                replace(message, metadata={**message.metadata, key: value})
                for message, value in zip(messages, values, strict=True)
            )
    yield from logged_conversation(
        ids.distinct(dialogue_id),
        messages,
        system,
        row.where,
        field="conversation",
        metadata=metadata,
    )


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    ids = DistinctIds()
    for _, row in numbered_objects(path, problems):
        yield from records_of_row(row, "conversation_id", ids)


_DESCRIPTION = """\
A JSON array or JSON lines: one conversation a record, `conversation` a list of messages with `role`
and `content`. `conversation_id` is the dialogue's id, `model` the system of its responses. What
`openai_moderation` says of each message is the message's metadata; `language`, `redacted` and all
other fields are the dialogue's."""
_EXAMPLE = (
    '{"conversation_id": "c1", "model": "baker-1", "conversation": [{"role": "user", "content": '
    '"Is the oven hot?"}, {"role": "assistant", "content": "Not yet."}], "turn": 1, "language": '
    '"English"}\n'
)

IMPORTER = Importer(
    name="lmsys-chat",
    summary="LMSYS-Chat-1M: conversations, each with one model",
    stream=with_head(_body),
    detect=has_keys("conversation_id", "conversation", "model"),
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
