"""FaithDial (Dziri et al. 2022, TACL): Wizard of Wikipedia with hallucinations edited, and what
annotators say of the responses before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import rest_of
from annotations.formats.importers.collected import DATASET
from annotations.formats.importers.crossed import CrossedDialogue, Grouped
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import alternating
from annotations.formats.records import LabelRecord
from common.text import MAX_TEXT

EDITED, ORIGINAL = "FaithDial", "Wizard of Wikipedia"
_LABELS = ("BEGIN", "VRM")
_USED = ("history", "knowledge", "response", "original_response", "speaker", "dialog_idx")


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    grouped = Grouped()
    for number, row in numbered_objects(path, problems):
        if not row.has("utterances"):
            _add_response(row, grouped, 0, str(number))
            continue
        for turn, one in enumerate(row.children("utterances") or ()):
            _add_response(one, grouped, turn, f"{number}.{turn + 1}")
    yield from grouped.records()


def _add_response(row: JsonObject, grouped: Grouped, turn: int, name: str) -> None:
    history = row.texts("history", MAX_TEXT, may_be_empty=True)
    response = row.text("response", MAX_TEXT, may_be_empty=True)
    has_original = row.value.get("original_response") is not None
    original = row.text("original_response", MAX_TEXT, may_be_empty=True) if has_original else ""
    knowledge = row.text("knowledge", MAX_TEXT, may_be_empty=True)
    labels = {key: row.texts(key, MAX_TEXT) for key in _LABELS if row.value.get(key) is not None}
    if None in (history, response, original, knowledge) or None in labels.values():
        return
    dialogue = grouped.of(name, EDITED, row.where, alternating(list(history or ())), name)
    _describe(dialogue, row, knowledge or "", turn)
    # Without an edit nothing says which response the labels are about
    metadata = {} if has_original else {key: list(one or ()) for key, one in labels.items()}
    dialogue.add_response(
        0, EDITED, response or "", row.where, field=row.field("response"), metadata=metadata
    )
    if not has_original:
        return
    field = row.field("original_response")
    dialogue.add_response(0, ORIGINAL, original or "", row.where, field=field)
    for question, values in labels.items():
        if values:
            value = values[0] if len(values) == 1 else values
            label = LabelRecord(dialogue.id, 0, ORIGINAL, DATASET, question, value)
            dialogue.judgements.append((label, row.where, row.field(question)))


def _describe(dialogue: CrossedDialogue, row: JsonObject, knowledge: str, turn: int) -> None:
    dialogue.knowledge = (knowledge,) if knowledge.strip() else ()
    rest = rest_of(row, (*_USED, *_LABELS))
    of = row.value.get("dialog_idx")
    dialogue.metadata |= {**rest, "dialogue": of} if of is not None else {**rest, "turn": turn}


def _detect(sample: FileSample) -> float:
    utterances = sample.record.get("utterances")
    first = utterances[0] if isinstance(utterances, list) and utterances else sample.record
    known = {"history", "response", "original_response", "knowledge"}
    return 0.95 if isinstance(first, dict) and first.keys() >= known else 0.0


_DESCRIPTION = """\
A JSON array of dialogues with `utterances`, or one utterance a record, as the Hub has them. Each
`history` with its `knowledge` is a dialogue with two responses: `response`, of the system
`FaithDial`, and `original_response`, of `Wizard of Wikipedia`, which `BEGIN` and `VRM` label, by
the rater `dataset`. Where there is no original response they are metadata of the response."""
_EXAMPLE = (
    '[{"utterances": [{"history": ["Is the oven hot?"], "speaker": "Wizard", "knowledge": "It is '
    'off.", "original_response": "It is 200 degrees.", "response": "It is off.", "BEGIN": '
    '["Hallucination"], "VRM": ["Edification"]}]}]\n'
)

IMPORTER = Importer(
    name="faithdial",
    summary="FaithDial: edited and original responses with labels",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
