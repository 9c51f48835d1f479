"""OpenAI's preference fine-tuning files: ``input``, ``preferred_output``,
``non_preferred_output``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import read_messages, rest_of
from annotations.formats.importers.crossed import CrossedDialogue
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.preferences import CHOSEN, REJECTED, add_pair
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys

FIELDS = ("preferred_output", "non_preferred_output")


def records_of_row(row: JsonObject, number: int) -> Iterator[Placed]:
    """Read one preference.

    Args:
        row: an object with ``input.messages``, ``preferred_output`` and ``non_preferred_output``.
        number: of the record, from 1; the dialogue's id.

    Returns:
        Iterator over the dialogue, two responses and the preference.
    """
    before = row.child("input")
    context = read_messages(before, "messages") if before else None
    chosen, rejected = (read_messages(row, key) for key in FIELDS)
    if before is None or context is None or chosen is None or rejected is None:
        return
    if not chosen or not rejected:
        row.complain(FIELDS[bool(chosen)], "is empty: no answer")
        return
    metadata = {**rest_of(before, ("messages",)), **rest_of(row, ("input", *FIELDS))}
    dialogue = CrossedDialogue(str(number), row.where, context, metadata)
    add_pair(dialogue, chosen, rejected, (CHOSEN, REJECTED), row.where, FIELDS)
    yield from dialogue.records()


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for number, row in numbered_objects(path, problems):
        yield from records_of_row(row, number)


_DESCRIPTION = """\
JSON lines: `input.messages`, and the messages of `preferred_output` and `non_preferred_output`.
Each record is a dialogue with two responses, of the systems `chosen` and `rejected`, and one
preference by the rater `dataset`. `tools` is metadata."""
_EXAMPLE = (
    '{"input": {"messages": [{"role": "user", "content": "Is the oven hot?"}]}, "preferred_output":'
    ' [{"role": "assistant", "content": "Not yet."}], "non_preferred_output": [{"role": '
    '"assistant", "content": "Ovens are hot."}]}\n'
)

IMPORTER = Importer(
    name="openai-preferences",
    summary="OpenAI's preference fine-tuning files",
    stream=with_head(_body),
    detect=has_keys("input", *FIELDS),
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
