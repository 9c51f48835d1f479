"""DSTC10 track 5 (Zhang et al. 2021): rated responses in their context, and rated conversations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    DistinctIds,
    logged_conversation,
    rest_of,
    role_named,
)
from annotations.formats.importers.crossed import Grouped, refuse_large
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.people import spoken
from annotations.formats.importers.position_scores import listed_scores
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message
from common.text import MAX_NAME, MAX_TEXT

_KNOWLEDGE = ("facts", "fact", "knowledge")


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(path.stat().st_size if path.is_file() else 0, problems)
    responses, ids = Grouped(), DistinctIds()
    for _, row in numbered_objects(path, problems):
        if row.has("dialogue"):
            yield from _conversation(row, ids)
        else:
            _add_response(row, responses)
    yield from responses.records()


def _conversation(row: JsonObject, ids: DistinctIds) -> Iterator[Placed]:
    dialogue_id, system = row.name("dialogue_id"), row.name("model")
    utterances = row.children("dialogue")
    messages = None if utterances is None else all_or_none([_message(one) for one in utterances])
    annotations = row.child("annotations")
    if dialogue_id is None or system is None or messages is None or annotations is None:
        return
    dialogue_id = ids.distinct(dialogue_id)
    metadata = rest_of(row, ("dialogue_id", "model", "dialogue", "annotations"))
    yield from logged_conversation(
        dialogue_id, messages, system, row.where, field="dialogue", metadata=metadata
    )
    yield from listed_scores(annotations, dialogue_id, None, system)


def _message(utterance: JsonObject) -> Message | None:
    speaker = utterance.text("speaker", MAX_NAME)
    text = utterance.text("text", MAX_TEXT, may_be_empty=True)
    if speaker is None or text is None:
        return None
    return Message(role_named(speaker), text, metadata=rest_of(utterance, ("speaker", "text")))


def _add_response(row: JsonObject, responses: Grouped) -> None:
    system = row.name("model")
    context = _texts(row, "context")
    text = row.text("response", MAX_TEXT, may_be_empty=True)
    references = _texts(row, "reference")
    facts = [_texts(row, key) for key in _KNOWLEDGE]
    annotations = row.child("annotations")
    if system is None or context is None or text is None or references is None:
        return
    if annotations is None or None in facts:
        return
    lines = [line for one in context for line in one.rstrip("\n").split("\n")]
    messages = tuple(spoken("", line) for line in lines)
    dialogue = responses.of(tuple(lines), system, row.where, messages)
    known = dict.fromkeys(dialogue.knowledge) | {
        fact: None for one in facts for fact in one or () if fact.strip()
    }
    dialogue.knowledge = tuple(known)
    dialogue.add_turn(0, references=tuple(one for one in references if one.strip()))
    used = ("model", "context", "response", "reference", "annotations", *_KNOWLEDGE)
    metadata = rest_of(row, used)
    dialogue.add_response(0, system, text, row.where, field="response", metadata=metadata)
    dialogue.judgements += listed_scores(annotations, dialogue.id, 0, system)


def _texts(row: JsonObject, key: str) -> tuple[str, ...] | None:
    """A text or a list of texts, which may be missing."""
    value = row.value.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    return row.texts(key, MAX_TEXT, may_be_empty=True)


def _detect(sample: FileSample) -> float:
    is_rated = sample.keys >= {"dialogue_id", "model", "annotations"}
    return 0.9 if is_rated and sample.keys & {"dialogue", "response"} else 0.0


_DESCRIPTION = """\
A JSON array or JSON lines with `model` and `annotations`, lists of scores by aspect. With
`context`, `response` and `reference`: records with one context are one dialogue, numbered from 1;
the lines of the context are messages of which nobody says who speaks; `facts` is knowledge. With
`dialogue` (`speaker`, `text`): each is the conversation of a system, which the scores are about,
named by `dialogue_id`. Raters are places in a list and anonymous; an empty place is reported.
Scales are open: the file tells none."""
_EXAMPLE = (
    '[{"dialogue_id": "b1", "model": "baker-1", "context": "is the oven hot ?", "response": '
    '"not yet .", "reference": ["no ."], "annotations": {"overall": [4, 5]}}]\n'
)

IMPORTER = Importer(
    name="dstc10",
    summary="DSTC10 track 5: rated responses or conversations (JSON array)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
