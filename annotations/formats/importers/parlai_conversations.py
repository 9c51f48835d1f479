"""ParlAI's conversations: JSON lines with ``dialog``, lists of acts, and a file of metadata beside
them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import rest_of
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, rows_of_files
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import ImportFailed, Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message
from common.text import MAX_TEXT


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    about = _metadata_beside(path)
    for number, row in enumerate(rows_of_files(path, ".jsonl", problems), 1):
        messages = _messages(row)
        has_context = row.value.get("context") not in (None, [])
        lines = row.children("context") if has_context else ()
        if messages is None or lines is None:
            continue
        knowledge = [line.text("text", MAX_TEXT) for line in lines]
        metadata = {**about, **rest_of(row, ("dialog", "context", "metadata_path"))}
        yield from people_talking(
            str(number),
            messages,
            row.where,
            knowledge=tuple(one for one in knowledge if one is not None),
            metadata=metadata,
        )


def _messages(row: JsonObject) -> tuple[Message, ...] | None:
    exchanges = row.items("dialog")
    if exchanges is None:
        return None
    messages = []
    for index, exchange in enumerate(exchanges):
        acts = exchange if isinstance(exchange, list) else [exchange]
        for position, value in enumerate(acts):
            path = f"{row.field('dialog')}[{index}][{position}]"
            act = JsonObject.of(value, row.where, row.problems, path)
            speaker = act.name("id") if act else None
            text = act.text("text", MAX_TEXT, may_be_empty=True) if act else None
            if act is not None and speaker is not None and text is not None:
                messages.append(spoken(speaker, text, rest_of(act, ("id", "text", "episode_done"))))
    return tuple(messages)


def _metadata_beside(path: Path) -> dict[str, Any]:
    """What the file NAME.metadata beside NAME.jsonl says; nothing where there is none that can be
    read."""
    files = files_of(path, ".metadata") if path.is_dir() else [path.with_suffix(".metadata")]
    for file in files:
        if file.is_file() and file != path:
            try:
                found = next(json_rows(file, Problems(file.name)), ("", None))[1]
            except ImportFailed:
                continue
            if isinstance(found, dict):
                return found
    return {}


def _detect(sample: FileSample) -> float:
    members = [sample.member(name) for name in sample.members if name.endswith(".jsonl")]
    for one in (sample, *members):
        exchanges = one.record.get("dialog")
        if isinstance(exchanges, list) and exchanges and isinstance(exchanges[0], list):
            return 0.9
    return 0.0


_DESCRIPTION = """\
JSON lines: `dialog` is a list of exchanges, each a list of acts with `id`, who speaks, and `text`.
`context` holds what the speakers were given, which is the dialogue's knowledge. The file of the
same name with the ending `.metadata`, beside it or in the same folder, is metadata of every
dialogue. Dialogues are numbered from 1. Which of the speakers are systems, the file does not say:
nothing is a response."""
_EXAMPLE = (
    '{"dialog": [[{"id": "ann", "text": "Is the oven hot?"}, {"id": "baker-1", "text": '
    '"Not yet."}]], "context": []}\n'
)

IMPORTER = Importer(
    name="parlai-conversations",
    summary="ParlAI's conversations: lists of acts (JSON lines)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
