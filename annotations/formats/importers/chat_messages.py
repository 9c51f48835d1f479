"""Reads messages as programs that talk to language models write them, and conversations that one
system took part in.

Roles of several layouts become those of ``records.Message``: ``human`` is ``user``, ``gpt`` is
``assistant``, ``function`` and ``observation`` are ``tool``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from annotations.formats.importers.base import Placed
from annotations.formats.importers.fields import JsonObject, all_or_none, kind_of
from annotations.formats.importers.json_source import (
    NotJsonError,
    object_without_duplicates,
    refuse_constant,
)
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.python_values import python_list
from annotations.formats.importers.speakers import message_of
from annotations.formats.importers.wrapped_records import ROLE_KEYS, TEXT_KEYS
from annotations.formats.records import (
    ASSISTANT,
    DialogueRecord,
    Message,
    ResponseRecord,
    TurnRecord,
)
from common.text import MAX_NAME

USER = "user"
SYSTEM = "system"
TOOL = "tool"
TOOL_CALL = "tool_call"
UNKNOWN_SPEAKER = "speaker"
"""The role of messages of which a file does not say who speaks."""
_ROLES = {
    "human": USER,
    "prompter": USER,
    "gpt": ASSISTANT,
    "ai": ASSISTANT,
    "chatgpt": ASSISTANT,
    "bard": ASSISTANT,
    "bing": ASSISTANT,
    "bot": ASSISTANT,
    "chatbot": ASSISTANT,
    "model": ASSISTANT,
    "function": TOOL,
    "observation": TOOL,
    "tool_response": TOOL,
}
_SYSTEM_FIELDS = ("system", "system_prompt", "systemInstruction", "system_instruction")
_TEXT_PARTS = ("text", "input_text", "output_text")
_STYLED = {"type", "text", "href", "user_id", "document_id", "language"}
_MESSAGE_KEYS = ("role", "content", "parts", "name", "tool_calls", "function_call", "refusal")


def role_named(written: str) -> str:
    """The role that a source's word for it stands for.

    Args:
        written: as the file has it.

    Returns:
        The role in the words of ``records.Message``; any other word as it is.
    """
    plain = written.strip().lower()
    if plain in ("system", "developer", USER, ASSISTANT, TOOL):
        return plain
    return _ROLES.get(plain, written)


def read_messages(row: JsonObject, key: str) -> tuple[Message, ...] | None:
    """Read a list of chat messages.

    Args:
        row: the object that has it.
        key: name of the field.

    Returns:
        The messages in order, as ``read_message`` makes them; None where the list is missing or
        any message is bad.
    """
    values = row.value.get(key)
    if isinstance(values, list) and all(map(_is_plain, values)):
        return tuple(Message(value["role"], value["content"]) for value in values)
    if isinstance(values, str):
        row = replace(row, value={**row.value, key: parsed_json(values)})
    objects = row.children(key)
    if objects is None:
        return None
    return all_or_none(
        [read_message(replace(one, value=_with_role_and_content(one.value))) for one in objects]
    )


def _with_role_and_content(message: dict[str, Any]) -> dict[str, Any]:
    """A message whose speaker and text may have other names, with OpenAI's names for them."""
    if "role" in message and ("content" in message or not message.keys() & set(TEXT_KEYS)):
        return message
    found = dict(message)
    path = found.get("id")
    if isinstance(inner := found.get("kwargs"), dict) and isinstance(path, list) and path:
        # LangChain's constructor: its class is the last part of the id
        kind = str(path[-1]).removesuffix("Chunk").removesuffix("Message").lower()
        role = inner.get("role", inner.get("type", kind))
        return {**inner, "role": role, "content": inner.get("content")}
    if isinstance(inner := found.get("data"), dict) and "content" in inner:
        found = {**found, **inner}  # LangChain
        del found["data"]
    role_key = next((key for key in ROLE_KEYS if isinstance(found.get(key), str | dict)), "")
    role = found.pop(role_key, None)
    if isinstance(role, dict):
        role = role.get("role", role.get("name"))
    if role_key == "speaker" and isinstance(role, str):
        # There the system is who answers, and no prompt.
        role = message_of(role, "").role
    text_key = next((key for key in TEXT_KEYS if isinstance(found.get(key), str | list | dict)), "")
    if text_key == "tool_calls":
        return {**found, "role": role}
    text = found.pop(text_key, None)
    if isinstance(text, list) and isinstance(found.get("text"), str):
        # Claude's export has a text twice
        del found["text"]
    return {**found, "role": role, "content": text} if role_key else found


def system_prompt(row: JsonObject) -> tuple[str, Message | None]:
    """The system prompt that a record has beside its messages.

    Args:
        row: the record.

    Returns:
        (name of the field, the message); ("", None) where there is none.
    """
    for key in _SYSTEM_FIELDS:
        value = row.value.get(key)
        value = value.get("parts") if isinstance(value, dict) else value
        if value and isinstance(value, str | list):
            inner = {"role": SYSTEM, "content": value}
            message = read_message(replace(row, value=inner, path=row.field(key)))
            return (key, message) if message and message.text.strip() else ("", None)
    return "", None


_PLAIN_KEYS = {"role", "content"}
_PLAIN_ROLES = frozenset({SYSTEM, "developer", USER, ASSISTANT, TOOL})


def _is_plain(message: Any) -> bool:
    """Of a million messages most are: read as they are, they take a tenth of the time."""
    return (
        message.__class__ is dict
        and message.keys() == _PLAIN_KEYS
        and message["content"].__class__ is str
        and message["role"].__class__ is str
        and message["role"] in _PLAIN_ROLES
    )


def read_message(message: JsonObject) -> Message | None:
    """Read one chat message in OpenAI's layout and its kin.

    Args:
        message: an object with ``role`` and ``content`` (a text, null, or a list of parts; or
            ``parts`` in its place), perhaps ``name``, ``tool_calls``, ``function_call`` and
            ``refusal``.

    Returns:
        The message. Texts among its parts are its text, joined by line breaks; all other parts,
        and tool calls, are kept as parts. Where there is no text, a refusal is it. What else the
        object holds is metadata. None, with a problem noted, where a field is bad.
    """
    role = message.text("role", MAX_NAME)
    body = _content(message)
    calls = _tool_calls(message)
    name = _optional_text(message, "name")
    refusal = _optional_text(message, "refusal")
    if role is None or body is None or calls is None or name is None or refusal is None:
        return None
    text, parts = body
    metadata = rest_of(message, _MESSAGE_KEYS)
    if refusal:
        metadata["refusal"] = refusal if text else True
    time = metadata.get("timestamp")
    if isinstance(time, str) and is_time(time):
        del metadata["timestamp"]
    else:
        time = ""
    return Message(
        role_named(role), text or refusal, name, parts + calls, time=time, metadata=metadata
    )


def rest_of(row: JsonObject, known: Sequence[str]) -> dict[str, Any]:
    """What an object holds beside the fields that its format gives a meaning.

    Args:
        row: the object.
        known: the fields that are read.

    Returns:
        All others, for the metadata of a record. A field ``metadata`` that is an object is merged
        into them.
    """
    rest = {key: value for key, value in row.value.items() if key not in known}
    inner = rest.get("metadata")
    if isinstance(inner, dict) and not inner.keys() & rest.keys():
        del rest["metadata"]
        rest |= inner
    return rest


def is_time(written: str) -> bool:
    """Whether a text is a time in ISO 8601."""
    if len(written) > 40 or not written.isascii():
        return False
    try:
        datetime.fromisoformat(written)
    except ValueError:
        return False
    return True


def tool_call(name: Any, arguments: Any, call_id: Any = None) -> dict[str, Any]:
    """A tool call as a part of a message.

    Args:
        name: of the tool.
        arguments: an object, or a text that holds one as JSON, as OpenAI writes it.
        call_id: what the tool's answer refers to; None for none.

    Returns:
        The part, with the arguments parsed where they are JSON, else as they stand.
    """
    part = {"type": TOOL_CALL, "name": name, "arguments": parsed_json(arguments)}
    return part if call_id is None else {**part, "id": call_id}


def parsed_json(value: Any) -> Any:
    """What a text holds as JSON or as a list that Python printed, else the value itself.

    Args:
        value: any parsed JSON value.

    Returns:
        The object or list that the text holds; ``value`` for anything else.
    """
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(
            value, object_pairs_hook=object_without_duplicates, parse_constant=refuse_constant
        )
    except (ValueError, NotJsonError, RecursionError):
        listed = python_list(value)
        return value if listed is None else listed


def is_answer(message: Message) -> bool:
    """Whether a message is a response: an assistant's, unless it only calls a tool."""
    if message.role != ASSISTANT:
        return False
    calls = any(part.get("type") == TOOL_CALL for part in message.parts)
    return bool(message.text) or not calls


def logged_conversation(
    dialogue_id: str,
    messages: tuple[Message, ...],
    system: str,
    where: Where,
    *,
    field: str = "messages",
    metadata: Mapping[str, Any] | None = None,
) -> Iterator[Placed]:
    """The records of a conversation that one system took part in.

    Args:
        dialogue_id: id of the record.
        messages: all of it.
        system: whose messages the assistant's are.
        where: place of the conversation in its file.
        field: the list of messages, as problems name it.
        metadata: of the dialogue.

    Returns:
        Iterator over the dialogue and its responses, one for each message that ``is_answer``; they
        are its turns, numbered from 0.
    """
    answers = [index for index, message in enumerate(messages) if is_answer(message)]
    turns = tuple(TurnRecord(number, after=index) for number, index in enumerate(answers))
    yield (
        DialogueRecord(
            dialogue_id, (), (), turns, messages, interactive=True, metadata=metadata or {}
        ),
        where,
        "",
    )
    for number, index in enumerate(answers):
        response = ResponseRecord(dialogue_id, number, system, messages[index].text)
        yield response, where, f"{field}[{index}]"


def name_or(row: JsonObject, key: str, default: str) -> str | None:
    """Read a name that a record may lack.

    Args:
        row: the object that may have it.
        key: name of the field.
        default: where it is missing, null or empty.

    Returns:
        The name; None, with a problem noted, where it is no name.
    """
    return default if row.value.get(key) in (None, "") else row.name(key)


class DistinctIds:
    """Ids of the dialogues of one file. One that occurs again gets its count behind it."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def distinct(self, written: str) -> str:
        """The id, or ``ID #2`` where it stands for a second dialogue."""
        count = self._counts[written] = self._counts.get(written, 0) + 1
        return written if count == 1 else f"{written} #{count}"


def _content(message: JsonObject) -> tuple[str, tuple[dict[str, Any], ...]] | None:
    """The text of a message, and its parts that are no text."""
    key = "content" if message.has("content") or not message.has("parts") else "parts"
    value = message.value.get(key)
    if isinstance(value, dict):
        value = value.get("parts", value.get("text", value))
    if value is None or isinstance(value, str):
        return value or "", ()
    if not isinstance(value, list):
        message.complain(key, f"must be a string or a list of parts, not {kind_of(value)}")
        return None
    if any(isinstance(one, str) for one in value) and (pieces := _styled(value)):
        return pieces, ()
    texts, parts = [], []
    for index, part in enumerate(value):
        if isinstance(part, str):
            texts.append(part)
            continue
        if isinstance(part, dict) and "type" not in part:
            part = _typed(part)
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            message.complain(f"{key}[{index}]", "must be a part: an object with a type")
            return None
        text = part.get("text", part.get("content"))
        if part["type"] in _TEXT_PARTS and isinstance(text, str):
            texts.append(text)
        elif part["type"] == "refusal" and isinstance(part.get("refusal"), str):
            texts.append(part["refusal"])
        elif part["type"] == "tool_use":
            parts.append(tool_call(part.get("name"), part.get("input"), part.get("id")))
        elif part["type"] == "tool_call_response" and isinstance(part.get("response"), str):
            texts.append(part["response"])
            parts.append({key: value for key, value in part.items() if key != "response"})
        else:
            parts.append(part)
    return "\n".join(texts), tuple(parts)


def _styled(parts: list[Any]) -> str:
    """The text that a chat program cut where its style changes (Telegram); "" for other lists."""
    if not any(isinstance(one, dict) for one in parts):
        return ""
    texts: list[Any] = [one.get("text") if isinstance(one, dict) else one for one in parts]
    are_styles = all(not isinstance(one, dict) or one.keys() <= _STYLED for one in parts)
    return "".join(texts) if are_styles and all(isinstance(one, str) for one in texts) else ""


def _typed(part: dict[str, Any]) -> dict[str, Any]:
    """A part of Gemini's interface, whose only key is its type."""
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    if isinstance(call := part.get("functionCall"), dict):
        return tool_call(call.get("name"), call.get("args"), call.get("id"))
    kind, value = next(iter(part.items()), ("", None))
    return {"type": kind, **value} if isinstance(value, dict) else part


def _tool_calls(message: JsonObject) -> tuple[dict[str, Any], ...] | None:
    calls: list[dict[str, Any] | None] = []
    if message.value.get("tool_calls") is not None:
        objects = message.children("tool_calls")
        if objects is None:
            return None
        calls += [_tool_call(one) for one in objects]
    if message.value.get("function_call") is not None:
        child = message.child("function_call")
        calls.append(
            None
            if child is None
            else tool_call(child.value.get("name"), child.value.get("arguments"))
        )
    return all_or_none(calls)


def _tool_call(call: JsonObject) -> dict[str, Any] | None:
    named = call.value.get("function")
    is_name = isinstance(named, str)  # Inspect's
    function = call.child("function") if call.has("function") and not is_name else call
    if function is None:
        return None
    name = named if is_name else function.value.get("name")
    arguments = function.value.get("arguments", function.value.get("args"))
    return tool_call(name, arguments, call.value.get("id"))


def _optional_text(message: JsonObject, key: str) -> str | None:
    """A text that may be missing or null: then ""."""
    value = message.value.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    message.complain(key, f"must be a string, not {kind_of(value)}")
    return None


def complain_of_empty(problems: Problems, where: Where, field: str = "messages") -> None:
    """Report a record without messages: it is no conversation, and no fault."""
    problems.skip(where, field, "is empty: no conversation")
