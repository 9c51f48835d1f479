"""Chat logs and fine-tuning files with ``messages`` (OpenAI, Hugging Face): one conversation a
record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    SYSTEM,
    USER,
    DistinctIds,
    complain_of_empty,
    logged_conversation,
    name_or,
    read_messages,
    rest_of,
    system_prompt,
)
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import transcript
from annotations.formats.importers.table_source import numbered_rows
from annotations.formats.importers.wrapped_records import (
    CHAT_KEYS,
    TRANSCRIPT_KEYS,
    chat_key,
    is_message,
)
from annotations.formats.records import ASSISTANT, Message

_IDS = ("id", "conversation_id", "conv_id", "dialogue_id", "dialog_id")
_MODELS = ("model", "model_name")


def records_of_row(row: JsonObject, dialogue_id: str, known: tuple[str, ...]) -> Iterator[Placed]:
    """Read one conversation.

    Args:
        row: an object with ``messages``, or a list of messages under another name
            (``chat_key``), and perhaps ``model`` and a system prompt.
        dialogue_id: of the dialogue.
        known: other fields that are not to be metadata.

    Returns:
        Iterator over the dialogue and its responses, of the system ``model`` or ``assistant``;
        nothing for a record without messages, which is reported.
    """
    key = "messages" if row.has("messages") else chat_key(row.value) or _empty_list(row)
    if row.value.get(key) == []:
        complain_of_empty(row.problems, row.where, key)
        return
    messages: tuple[Message, ...] | None
    if not row.has(key) and (spoken := _spoken(row.value)):
        key, messages = spoken
    else:
        messages = read_messages(row, key)
    model_key = next((one for one in _MODELS if row.value.get(one)), _MODELS[0])
    system = name_or(row, model_key, ASSISTANT)
    if messages is None or system is None:
        return
    prompt_key = ""
    if messages and messages[0].role != SYSTEM:
        prompt_key, prompt = system_prompt(row)
        messages = (prompt, *messages) if prompt else messages
    metadata = rest_of(row, (key, model_key, prompt_key, *known))
    user_texts = [message.text for message in messages if message.role == USER]
    if user_texts and metadata.get("prompt") == user_texts[0]:
        del metadata["prompt"]
    yield from logged_conversation(
        dialogue_id, messages, system, row.where, field=key, metadata=metadata
    )


def _spoken(record: Mapping[str, Any]) -> tuple[str, tuple[Message, ...]] | None:
    """Name and messages of the field that is a transcript, or a list of what the user and the
    assistant say in turn (UltraChat)."""
    texts = record.get("data")
    if isinstance(texts, list) and len(texts) > 1 and all(isinstance(one, str) for one in texts):
        roles = cycle((USER, ASSISTANT))
        return "data", tuple(Message(next(roles), one) for one in texts)
    for key in TRANSCRIPT_KEYS:
        value = record.get(key)
        if isinstance(value, str) and (messages := transcript(value)):
            return key, messages
    return None


def _empty_list(row: JsonObject) -> str:
    return next((key for key in CHAT_KEYS if row.value.get(key) == []), "messages")


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    ids = DistinctIds()
    id_key = ""
    for number, row in numbered_rows(path, problems):
        if number == 1:
            id_key = next((key for key in _IDS if row.value.get(key) is not None), "")
        dialogue_id = name_or(row, id_key, str(number))
        if dialogue_id is not None:
            yield from records_of_row(row, ids.distinct(dialogue_id), (id_key,))


def _detect(sample: FileSample) -> float:
    if sample.kind == "table":
        has_rows = len(sample.cells) > 1
        cells = dict(zip(*sample.cells[:2], strict=False)) if has_rows else {}
        if chat_key(cells):
            return 0.6
        # Less than a table, which may have judgements
        return 0.3 if _spoken(cells) else 0.0
    first = sample.records[0] if sample.records else None
    if isinstance(first, list):
        return 0.6 if first and is_message(first[0]) else 0.0
    if "messages" in sample.keys or chat_key(sample.record):
        return 0.6
    is_judged = sample.keys & {"chosen", "rejected", "response"}
    return 0.45 if not is_judged and _spoken(sample.record) else 0.0


_DESCRIPTION = """\
A JSON array or JSON lines, or a table with JSON in its cells: one conversation a record, its
messages under `messages`, each with `role` and `content` as OpenAI's chat interface has them. The
list may have another name
(`conversation`, `turns`, `contents`, …), and so may a message's speaker (`from`, `speaker`,
`sender`, …) and text (`value`, `text`, `parts`, …); records may stand in a list of an object, such
as `data`, or under their ids; a `transcript` or `text` is one of `Human:` and `Assistant:`, or in
the template of a model (ChatML, Llama's `[INST]`, Gemma, Zephyr, Vicuna, Alpaca, …). A
`system` prompt beside the messages is the first one. All roles are kept; a tool call is a part of
its message, and so is an image, which is not fetched. Each text of the assistant is a response of
the system `model`, else `assistant`; a message that only calls a tool is none. A refusal is a
response. `tools` and all other fields are metadata. Where the first record has an `id` or
`conversation_id`, these are the dialogues', else the numbers of the records, from 1. A record
without messages is left out and reported."""
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
    takes_pieces=True,
)
