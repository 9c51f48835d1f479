"""Chat logs and fine-tuning files with ``messages`` (OpenAI, Hugging Face): one conversation a
record."""

from __future__ import annotations

import json
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
    parsed_json,
    read_messages,
    rest_of,
    system_prompt,
)
from annotations.formats.importers.collected import DATASET, clean_name, score_of
from annotations.formats.importers.column_mapping import NAMES, is_no_score, plain_name
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import ASSISTANTS, USERS, transcript
from annotations.formats.importers.table_source import number_in, numbered_rows
from annotations.formats.importers.wrapped_records import (
    CHAT_KEYS,
    TRANSCRIPT_KEYS,
    chat_key,
    is_message,
)
from annotations.formats.records import (
    ASSISTANT,
    LabelRecord,
    Message,
    RatingRecord,
    ResponseRecord,
)

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
    for key in CHAT_KEYS:
        if messages := _exchanges(record.get(key)):
            return key, messages
    texts = record.get("data")
    if isinstance(texts, list) and len(texts) > 1 and all(isinstance(one, str) for one in texts):
        roles = cycle((USER, ASSISTANT))
        return "data", tuple(Message(next(roles), one) for one in texts)
    for key in TRANSCRIPT_KEYS:
        value = record.get(key)
        if isinstance(value, str) and (messages := transcript(value)):
            return key, messages
    return None


def _exchanges(values: Any) -> tuple[Message, ...]:
    """Messages of a list whose items have what both say: ``{"user": …, "bot": …}``; none for any
    other value."""
    if not isinstance(values, list) or not all(isinstance(one, dict) for one in values):
        return ()
    messages = []
    for one in values:
        texts = [(key, text) for key, text in one.items() if isinstance(text, str)]
        questions = [text for key, text in texts if key.lower() in USERS]
        replies = [text for key, text in texts if key.lower() in ASSISTANTS and key != SYSTEM]
        if len(questions) != 1 or len(replies) != 1:
            return ()
        messages += [Message(USER, questions[0]), Message(ASSISTANT, replies[0])]
    return tuple(messages)


def _empty_list(row: JsonObject) -> str:
    return next((key for key in CHAT_KEYS if row.value.get(key) == []), "messages")


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    ids = DistinctIds()
    id_key = ""
    for number, row in numbered_rows(path, problems):
        if number == 1:
            id_key = next((key for key in _IDS if row.value.get(key) is not None), "")
            plain = {plain_name(key): key for key in reversed(list(row.value))}
            rater_key = next((plain[one] for one in NAMES["rater"] if one in plain), "")
            if rater_key and chat_key(row.value):
                yield from _repeated_by_raters(path, id_key, rater_key, problems)
                return
        dialogue_id = name_or(row, id_key, str(number))
        if dialogue_id is not None:
            yield from records_of_row(row, ids.distinct(dialogue_id), (id_key,))


def _repeated_by_raters(
    path: Path, id_key: str, rater_key: str, problems: Problems
) -> Iterator[Placed]:
    """Conversations of a file that may repeat each one for every rater who judged it."""
    refuse_large(data_size(path), problems)
    found: dict[str, list[JsonObject]] = {}
    for _, row in numbered_rows(path, problems):
        key = chat_key(row.value) or "messages"
        words = json.dumps(parsed_json(row.value.get(key)), sort_keys=True)
        found.setdefault(clean_name(row.value.get(id_key)) or words, []).append(row)
    for number, (name, rows) in enumerate(found.items(), 1):
        first, *others = rows
        key = chat_key(first.value) or "messages"
        judged = {
            one
            for row in rows
            for one, value in row.value.items()
            if one not in (key, id_key, rater_key) and not is_no_score(one)
            if _score(value) is not None or (others and value != first.value.get(one))
            if not one.endswith("_at")
        }
        dialogue_id = name if first.value.get(id_key) else str(number)
        placed = list(records_of_row(first, dialogue_id, (id_key, rater_key, *judged)))
        yield from placed
        systems = [one.system for one, _, _ in placed if isinstance(one, ResponseRecord)]
        if not systems:
            continue
        for row in rows:
            if parsed_json(row.value.get(key)) != parsed_json(first.value.get(key)):
                fault = f"are other messages than at {first.where}, under the same id"
                row.complain(key, f"{fault}; give each conversation its own")
                continue
            rater = clean_name(row.value.get(rater_key)) or DATASET
            for one in sorted(judged & row.value.keys()):
                score = _score(row.value[one])
                judgement: RatingRecord | LabelRecord | None = None
                if score is not None:
                    judgement = RatingRecord(dialogue_id, None, systems[0], rater, one, score)
                elif isinstance(row.value[one], str) and row.value[one].strip():
                    text = row.value[one].strip()
                    judgement = LabelRecord(dialogue_id, None, systems[0], rater, one, text)
                if judgement is not None:
                    yield judgement, row.where, row.field(one)


def _score(value: Any) -> float | None:
    return number_in(value) if isinstance(value, str) else score_of(value)


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
`conversation_id`, these are the dialogues', else the numbers of the records, from 1. A conversation
that is repeated for each `annotator` is one, with that rater's numbers as scores, and texts in
which raters differ as labels. A record without messages is left out and reported."""
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
