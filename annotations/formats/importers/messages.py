"""Chat logs and fine-tuning files with ``messages`` (OpenAI, Hugging Face): one conversation a
record."""

from __future__ import annotations

from collections.abc import Iterator
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
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import ASSISTANT


def records_of_row(row: JsonObject, dialogue_id: str, known: tuple[str, ...]) -> Iterator[Placed]:
    """Read one conversation.

    Args:
        row: an object with ``messages`` and perhaps ``model``.
        dialogue_id: of the dialogue.
        known: other fields that are not to be metadata.

    Returns:
        Iterator over the dialogue and its responses, of the system ``model`` or ``assistant``;
        nothing for a record without messages, which is reported.
    """
    if row.value.get("messages") == []:
        complain_of_empty(row.problems, row.where)
        return
    messages = read_messages(row, "messages")
    system = name_or(row, "model", ASSISTANT)
    if messages is None or system is None:
        return
    metadata = rest_of(row, ("messages", "model", *known))
    user_texts = [message.text for message in messages if message.role == "user"]
    if user_texts and metadata.get("prompt") == user_texts[0]:
        del metadata["prompt"]
    yield from logged_conversation(dialogue_id, messages, system, row.where, metadata=metadata)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    ids = DistinctIds()
    have_ids = False
    for number, row in numbered_objects(path, problems):
        if number == 1:
            have_ids = row.value.get("id") is not None
        dialogue_id = name_or(row, "id", str(number)) if have_ids else str(number)
        if dialogue_id is not None:
            known = ("id",) if have_ids else ()
            yield from records_of_row(row, ids.distinct(dialogue_id), known)


def _detect(sample: FileSample) -> float:
    first = sample.record.get("messages")
    return 0.6 if isinstance(first, list) or "messages" in sample.keys else 0.0


_DESCRIPTION = """\
A JSON array or JSON lines: one conversation a record, its messages under `messages`, each with
`role` and `content` as OpenAI's chat interface has them. All roles are kept; a tool call is a part
of its message, and so is an image, which is not fetched. Each text of the assistant is a response
of the system `model`, else `assistant`; a message that only calls a tool is none. A refusal is a
response. `tools` and all other fields are metadata. Where the first record has an `id`, ids are the
dialogues', else the numbers of the records, from 1. A record without messages is
left out and reported."""
_EXAMPLE = (
    '{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is the'
    ' oven hot?"}, {"role": "assistant", "content": "Not yet."}], "model": "baker-1"}\n'
)

IMPORTER = Importer(
    name="messages",
    summary="chat logs and fine-tuning files with messages (OpenAI, Hugging Face)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
