"""ShareGPT and what took its layout (Vicuna, LLaMA-Factory): ``conversations`` of ``from`` and
``value``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    SYSTEM,
    complain_of_empty,
    logged_conversation,
    name_or,
    parsed_json,
    rest_of,
    role_named,
    tool_call,
)
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import ASSISTANT, Message
from common.text import MAX_NAME, MAX_TEXT

_FUNCTION_CALL = "function_call"


def records_of_row(row: JsonObject, number: int) -> Iterator[Placed]:
    """Read one conversation.

    Args:
        row: an object with ``conversations``, perhaps ``system``, ``tools`` and ``model``.
        number: of the record, from 1; the dialogue's id, because ids of these files occur twice.

    Returns:
        Iterator over the dialogue and its responses, of the system ``model`` or ``assistant``;
        nothing for a record without messages, which is reported.
    """
    if row.value.get("conversations") == []:
        complain_of_empty(row.problems, row.where, "conversations")
        return
    objects = row.children("conversations")
    messages = None if objects is None else all_or_none([_message(one) for one in objects])
    system = name_or(row, "model", ASSISTANT)
    prompt = row.text("system", MAX_TEXT, True) if row.value.get("system") is not None else ""
    if messages is None or system is None or prompt is None:
        return
    if prompt:
        messages = (Message(SYSTEM, prompt), *messages)
    yield from logged_conversation(
        str(number),
        messages,
        system,
        row.where,
        field="conversations",
        metadata=rest_of(row, ("conversations", "model", "system")),
    )


def _message(turn: JsonObject) -> Message | None:
    speaker = turn.text("from", MAX_NAME)
    text = turn.text("value", MAX_TEXT, may_be_empty=True)
    if speaker is None or text is None:
        return None
    metadata = rest_of(turn, ("from", "value"))
    if speaker == _FUNCTION_CALL:
        call = parsed_json(text)
        if not isinstance(call, dict):
            call = {"arguments": text}
        part = tool_call(call.get("name"), call.get("arguments"))
        return Message(ASSISTANT, "", parts=(part,), metadata=metadata)
    return Message(role_named(speaker), text, metadata=metadata)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for number, row in numbered_objects(path, problems):
        yield from records_of_row(row, number)


def _detect(sample: FileSample) -> float:
    """Where the first record is cut, the name of its list is all that is known."""
    if sample.kind == "table":
        return 0.0
    messages = sample.record.get("conversations", [{"from": ""}])
    first = messages[0] if isinstance(messages, list) and messages else {}
    is_named_so = "conversations" in sample.keys and isinstance(first, dict)
    return 0.8 if is_named_so and not first.keys() & {"role", "content"} else 0.0


_DESCRIPTION = """\
A JSON array or JSON lines: one conversation a record under `conversations`, each message with
`from` (`human`, `gpt`, `system`, `function_call`, `observation`) and `value`. A column `system` is
the first message. Each text of `gpt` is a response of the system `model`, else `assistant`. `id`,
`tools` and all other fields are metadata; the number of the record, from 1, is the dialogue's id,
because ids may occur twice."""
_EXAMPLE = (
    '[{"id": "a", "conversations": [{"from": "human", "value": "Is the oven hot?"},\n'
    '  {"from": "gpt", "value": "Not yet."}]}]\n'
)

IMPORTER = Importer(
    name="sharegpt",
    summary="ShareGPT, Vicuna, LLaMA-Factory: conversations of from and value",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
