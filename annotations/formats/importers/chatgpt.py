"""Data exports of ChatGPT: ``conversations.json``, a tree of messages a conversation, perhaps with
the thumbs of ``message_feedback.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    SYSTEM,
    TOOL,
    USER,
    DistinctIds,
    complain_of_empty,
    is_answer,
    parsed_json,
    rest_of,
    tool_call,
)
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import (
    ASSISTANT,
    DialogueRecord,
    Message,
    RatingRecord,
    ResponseRecord,
    TurnRecord,
)

MAX_CONVERSATION = 16 * 1024 * 1024
"""Characters of a conversation with all its branches and what tools answered."""
_CONVERSATIONS, _FEEDBACK = "conversations", "message_feedback.json"
_THUMBS = {"thumbsup": 1.0, "thumbsdown": 0.0}
_HIDDEN = "is_visually_hidden_from_conversation"
_USED = ("id", "conversation_id", "mapping", "current_node", "create_time", "update_time")
_MODEL = "model_slug"


@dataclass(frozen=True, slots=True)
class _Node:
    """A message of the tree.

    Attributes:
        id: of the node.
        message: what is said.
        model: who answers; "" where it is not said.
    """

    id: str
    message: Message
    model: str


class _Tree:
    """The messages of one conversation: answers that were generated again, and messages that were
    edited, are branches."""

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self.nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
        self.children: dict[str, list[str]] = {}
        for key, node in self.nodes.items():
            parent = node.get("parent")
            if isinstance(parent, str):
                self.children.setdefault(parent, []).append(key)

    def leaf(self) -> str:
        """The node that was written last, of those that nothing follows."""
        leaves = [key for key in self.nodes if key not in self.children]
        return max(leaves, key=self._time, default="")

    def path(self, leaf: str) -> list[str]:
        """From the root to a node."""
        found: dict[str, None] = {}
        key: Any = leaf
        while isinstance(key, str) and key in self.nodes and key not in found:
            found[key] = None
            key = self.nodes[key].get("parent")
        return list(found)[::-1]

    def message(self, key: str) -> Mapping[str, Any]:
        found = self.nodes[key].get("message")
        return found if isinstance(found, dict) else {}

    def role(self, key: str) -> str:
        author = self.message(key).get("author")
        role = author.get("role") if isinstance(author, dict) else None
        return role if isinstance(role, str) else ""

    def other_answers(self, path: list[str]) -> dict[str, list[list[str]]]:
        """By a node of the path, the paths of answers that were generated in its place."""
        found: dict[str, list[list[str]]] = {}
        for parent, key in pairwise(path):
            others = [one for one in self.children.get(parent, ()) if one != key]
            if others and self.role(key) != USER:
                found[key] = [self._answer(one) for one in others if self.role(one) != USER]
        return found

    def _answer(self, key: str) -> list[str]:
        path = {key: None}
        while nexts := [one for one in self.children.get(key, ()) if self.role(one) != USER]:
            key = nexts[-1]
            if key in path:
                break
            path[key] = None
        return list(path)

    def _time(self, key: str) -> float:
        time = self.message(key).get("create_time")
        return float(time) if isinstance(time, int | float) and abs(time) < 1e15 else 0.0


def _spoken(tree: _Tree, path: list[str]) -> list[_Node]:
    """The messages along a path. What nobody sees is none; reasoning is a part of the answer."""
    found: list[_Node] = []
    thoughts: tuple[dict[str, Any], ...] = ()
    for key in path:
        written = tree.message(key)
        content = written.get("content")
        metadata = written.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        kind = content.get("content_type") if isinstance(content, dict) else None
        if not isinstance(content, dict) or metadata.get(_HIDDEN) or not tree.role(key):
            continue
        if kind in ("thoughts", "reasoning_recap"):
            rest = {one: value for one, value in content.items() if one != "content_type"}
            thoughts = (*thoughts, {"type": kind, **rest})
            continue
        text, parts = _content(content)
        recipient = written.get("recipient")
        role = tree.role(key)
        if role == ASSISTANT and isinstance(recipient, str) and recipient not in ("", "all"):
            text, parts = "", (*parts, tool_call(recipient, parsed_json(text)))
        if role == SYSTEM and not text.strip() and not parts:
            continue
        if role == ASSISTANT:
            parts, thoughts = thoughts + parts, ()
        rest = {one: value for one, value in metadata.items() if value not in (None, "", [], {})}
        name = written["author"].get("name") if role == TOOL else ""
        message = Message(
            role,
            text,
            name if isinstance(name, str) else "",
            parts,
            time=_iso(written.get("create_time")),
            metadata=rest,
        )
        found.append(_Node(key, message, clean_name(metadata.get(_MODEL))))
    return found


def _content(content: Mapping[str, Any]) -> tuple[str, tuple[dict[str, Any], ...]]:
    """Text and parts of a message's content."""
    values = content.get("parts")
    if not isinstance(values, list):
        keys = ("text", "result", "user_instructions", "model_set_context")
        text = next((content[key] for key in keys if isinstance(content.get(key), str)), "")
        return text, ()
    texts = []
    parts = []
    for value in values:
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict) and isinstance(value.get("text"), str):
            texts.append(value["text"])
        elif isinstance(value, dict):
            rest = {key: one for key, one in value.items() if key != "content_type"}
            parts.append({"type": str(value.get("content_type", "part")), **rest})
    return "\n".join(text for text in texts if text), tuple(parts)


def _iso(time: Any) -> str:
    """A time in seconds as ISO 8601; "" where it is none."""
    if isinstance(time, bool) or not isinstance(time, int | float):
        return ""
    try:
        return datetime.fromtimestamp(time, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _records_of_row(
    row: JsonObject, dialogue_id: str, thumbs: Mapping[str, tuple[float, str]]
) -> Iterator[Placed]:
    mapping = row.child("mapping")
    if mapping is None:
        return
    tree = _Tree(mapping.value)
    current = row.value.get("current_node")
    path = tree.path(current if isinstance(current, str) and current in tree.nodes else tree.leaf())
    nodes = _spoken(tree, path)
    if not nodes:
        complain_of_empty(row.problems, row.where, "mapping")
        return
    default = clean_name(row.value.get("default_model_slug")) or ASSISTANT
    answers = [place for place, node in enumerate(nodes) if is_answer(node.message)]
    systems = [nodes[place].model or default for place in answers]
    others = _further_samples(tree, path, nodes, answers, default)
    metadata = {
        **rest_of(row, _USED),
        **{key: _iso(row.value.get(key)) for key in ("create_time", "update_time")},
    }
    own = systems + [node.model or default for _, node in others]
    yield (
        DialogueRecord(
            dialogue_id,
            (),
            (),
            tuple(TurnRecord(turn, after=place) for turn, place in enumerate(answers)),
            tuple(node.message for node in nodes),
            interactive=len(set(own)) == 1,
            metadata={key: value for key, value in metadata.items() if value not in (None, "", [])},
        ),
        row.where,
        "",
    )
    responses = [(turn, nodes[place]) for turn, place in enumerate(answers)] + others
    samples: dict[tuple[int, str], int] = {}
    rated: list[RatingRecord] = []
    for (turn, node), system in zip(responses, own, strict=True):
        sample = samples[turn, system] = samples.get((turn, system), -1) + 1
        text = node.message.text
        is_main = turn < len(answers) and nodes[answers[turn]] is node
        more = {} if is_main else node.message.metadata
        yield (
            ResponseRecord(dialogue_id, turn, system, text, sample, metadata=more),
            row.where,
            f"mapping.{node.id}"[:200],
        )
        if node.id in thumbs and sample == 0:
            score, comment = thumbs[node.id]
            rated.append(RatingRecord(dialogue_id, turn, system, USER, "thumbs", score, comment))
    for rating in rated:
        yield rating, row.where, f"mapping.{rating.turn}"
    edited = sum(
        tree.role(key) == USER and len(tree.children.get(parent, ())) > 1
        for parent, key in pairwise(path)
    )
    if edited:
        message = f"{edited} edited message" + ("s were" if edited > 1 else " was")
        row.problems.skip(row.where, "mapping", f"{message} answered before: not read")


def _further_samples(
    tree: _Tree, path: list[str], nodes: list[_Node], answers: list[int], default: str
) -> list[tuple[int, _Node]]:
    """Answers that were generated again, with the turn at which they stand."""
    found = []
    place_of = {node.id: place for place, node in enumerate(nodes)}
    for key, paths in tree.other_answers(path).items():
        # The answer ends where the user speaks next
        rest = path[path.index(key) :]
        end = next((one for one, node in enumerate(rest) if tree.role(node) == USER), len(rest))
        places = [place_of[one] for one in rest[:end] if one in place_of]
        turns = [turn for turn, place in enumerate(answers) if place in places]
        for other in paths:
            spoken = [node for node in _spoken(tree, other) if is_answer(node.message)]
            if turns and spoken:
                found.append((turns[-1], replace(spoken[-1], model=spoken[-1].model or default)))
    return found


def _thumbs(path: Path, problems: Problems) -> dict[str, tuple[float, str]]:
    """Score and comment by a message's id."""
    found: dict[str, tuple[float, str]] = {}
    for file in files_of(path, _FEEDBACK) if path.is_dir() else ():
        for where, value in json_rows(file, problems_of(problems, path, file)):
            if not isinstance(value, dict):
                continue
            key = value.get("message_id", value.get("id"))
            word = str(value.get("rating")).replace("_", "").casefold()
            if not isinstance(key, str) or word not in _THUMBS:
                problems.skip(f"{file.name}:{where}", "rating", "is no thumb of a message")
                continue
            content = parsed_json(value.get("content"))
            comment = content.get("text") if isinstance(content, dict) else ""
            found[key] = (_THUMBS[word], comment if isinstance(comment, str) else "")
    return found


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    thumbs = _thumbs(path, problems)
    files = [one for one in files_of(path, ".json") if one.name.startswith(_CONVERSATIONS)]
    if not files and path.is_dir():
        problems.stop("", "", "holds no file conversations.json")
    ids = DistinctIds()
    number = 0
    for file in files or [path]:
        own = problems_of(problems, path, file)
        for where, value in json_rows(file, own, MAX_CONVERSATION):
            number += 1
            row = JsonObject.of(value, where, own)
            if row is not None:
                name = clean_name(value.get("conversation_id") or value.get("id")) or str(number)
                yield from _records_of_row(row, ids.distinct(name), thumbs)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        names = [one for one in sample.members if one.split("/")[-1].startswith(_CONVERSATIONS)]
        return max((_detect(sample.member(one)) for one in names[:3]), default=0.0)
    return 0.95 if sample.keys >= {"mapping", "title"} or "current_node" in sample.keys else 0.0


_DESCRIPTION = """\
`conversations.json` of a data export of ChatGPT, or the export itself (folder or zip file). A
conversation is the path from the root of `mapping` to `current_node`, or to the newest message; an
answer that was generated again is a further sample, or another model's response; branches of edited
messages are not read, and reported. Each text of the assistant is a response of the system
`metadata.model_slug`, else `default_model_slug`; what it sends to a tool is a tool call, reasoning
is a part of the answer. Hidden messages are left out. Thumbs in `message_feedback.json` are scores
1 and 0 of `thumbs` by the rater `user`."""
_EXAMPLE = """\
[{"title": "Oven", "create_time": 1700000000, "conversation_id": "c1", "current_node": "b",
  "mapping": {
   "a": {"parent": null, "message": {"author": {"role": "user"},
     "content": {"content_type": "text", "parts": ["Is the oven hot?"]}}},
   "b": {"parent": "a", "message": {"author": {"role": "assistant"},
     "content": {"content_type": "text", "parts": ["Not yet."]},
     "metadata": {"model_slug": "baker-1"}}}}}]
"""

IMPORTER = Importer(
    name="chatgpt",
    summary="data exports of ChatGPT: conversations.json, alone or in its folder or zip file",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
