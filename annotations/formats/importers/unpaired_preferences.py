"""Unpaired preference sets of Hugging Face (KTO): a completion a record, good or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import USER, name_or, rest_of
from annotations.formats.importers.crossed import CrossedDialogue
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import DATASET, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.preferences import messages_in_field
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.records import ASSISTANT, RatingRecord

COMPLETION, LABEL = "completion", "label"


def records_of_row(row: JsonObject, number: int) -> Iterator[Placed]:
    """Read one completion.

    Args:
        row: an object with ``prompt``, ``completion`` and ``label``, true or false.
        number: of the record, from 1; the dialogue's id.

    Returns:
        Iterator over the dialogue, its response, of the system ``model`` or ``completion``, and a
        score of the aspect ``label``, 1 or 0.
    """
    prompt = (
        messages_in_field(row, "prompt", USER)
        if row.value.get("prompt") not in (None, "", [])
        else ()
    )
    completion = messages_in_field(row, COMPLETION, ASSISTANT)
    label = row.flag(LABEL)
    system = name_or(row, "model", COMPLETION)
    if prompt is None or completion is None or label is None or system is None:
        return
    if not completion:
        row.complain(COMPLETION, "is empty: no answer")
        return
    metadata = rest_of(row, ("prompt", COMPLETION, LABEL, "model"))
    *lead, answer = completion
    dialogue = CrossedDialogue(str(number), row.where, (*prompt, *lead), metadata)
    dialogue.add_response(
        0,
        system,
        answer.text,
        row.where,
        field=COMPLETION,
        parts=answer.parts,
        metadata=answer.metadata,
    )
    rating = RatingRecord(dialogue.id, 0, system, DATASET, LABEL, float(label))
    dialogue.judgements.append((rating, row.where, LABEL))
    yield from dialogue.records()


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for number, row in numbered_objects(path, problems):
        yield from records_of_row(row, number)


_DESCRIPTION = """\
A JSON array or JSON lines: `prompt`, `completion` (texts or lists of messages) and `label`. Each
record is a dialogue with one response, of the system `model`, else `completion`. `label` is a score
of the aspect `label` by the rater `dataset`: true is 1, false 0."""
_EXAMPLE = '{"prompt": "Is the oven hot?", "completion": "Not yet.", "label": true}\n'

IMPORTER = Importer(
    name="unpaired-preferences",
    summary="unpaired preference sets of Hugging Face (KTO): completion and label",
    stream=with_head(_body, scales={LABEL: (0.0, 1.0)}),
    detect=has_keys("prompt", COMPLETION, LABEL),
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
