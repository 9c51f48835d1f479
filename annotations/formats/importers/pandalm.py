"""What PandaLM (Wang et al. 2024, ICLR) was trained on: a prompt with two responses, and a judge's
evaluation of them, each as one text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import USER, rest_of
from annotations.formats.importers.collected import DATASET, OVERALL, Collection
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message, PreferenceRecord
from common.text import MAX_TEXT

_GIVEN, _JUDGED = "input_sequence", "output_sequence"
_HEADINGS = ("Instruction", "Input", "Response 1", "Response 2", "Evaluation")
_SYSTEMS = ("response 1", "response 2")
_VERDICTS: dict[str, Literal["a", "b", "tie"]] = {"1": "a", "2": "b", "tie": "tie"}


def _parts(text: str, headings: tuple[str, ...]) -> dict[str, str]:
    """What stands below each ``### HEADING:``, and before the first of them; "" for one that is not
    there."""
    found = dict.fromkeys(("", *headings), "")
    last = ""
    for heading in headings:
        before, mark, rest = text.partition(f"### {heading}:")
        if mark:
            found[last], last, text = before.strip(), heading, rest
    found[last] = text.strip()
    return found


def _stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    refuse_large(data_size(path), problems)
    collection = Collection(problems)
    for number, row in numbered_objects(path, problems):
        given, judged = row.text(_GIVEN, 3 * MAX_TEXT), row.text(_JUDGED, 3 * MAX_TEXT)
        if given is not None and judged is not None:
            verdict = _parts(judged, ("Reason", "Reference"))
            _add(row, _parts(given, _HEADINGS), verdict, str(number), collection)
    yield from collection.records()


def _add(
    row: JsonObject,
    given: dict[str, str],
    judged: dict[str, str],
    dialogue_id: str,
    collection: Collection,
) -> None:
    instruction, *responses = (given[one] for one in ("Instruction", *_HEADINGS[2:4]))
    preferred = _VERDICTS.get(judged[""].casefold())
    if not instruction or not all(responses):
        row.complain(_GIVEN, "has no instruction or no two responses, each below its heading")
    elif preferred is None:
        row.complain(_JUDGED, f"must begin with 1, 2 or Tie, not {judged[''][:30]!r}")
    else:
        one = collection.conversation(dialogue_id, row.where)
        one.metadata |= rest_of(row, (_GIVEN, _JUDGED))
        prompt = "\n".join(filter(None, (instruction, given["Input"])))
        one.turn(0, row.where, (Message(USER, prompt),), judged["Reference"])
        for system, text in zip(_SYSTEMS, responses, strict=True):
            one.response(0, system, text, row.where)
        vote = PreferenceRecord(
            one.id, 0, *_SYSTEMS, preferred, DATASET, OVERALL, comment=judged["Reason"]
        )
        one.prefer(vote, row.where)


def _detect(sample: FileSample) -> float:
    is_judged = "### Response 2:" in str(sample.record.get(_GIVEN))
    return 0.9 if is_judged and sample.keys >= {_GIVEN, _JUDGED} else 0.0


_DESCRIPTION = """\
A JSON array or JSON lines with an `input_sequence`, in which `### Instruction:`, `### Input:`,
`### Response 1:` and `### Response 2:` head what they name, and an `output_sequence` that begins
with `1`, `2` or `Tie`, then `### Reason:` and `### Reference:`. A record is a dialogue: the
instruction with its input is what the user says, `response 1` and `response 2` are systems, since
the file does not name them; the verdict is a preference of the rater `dataset` with the reason as
its comment, the reference one of the turn."""
_EXAMPLE = (
    '[{"input_sequence": "Below are two responses.\\n\\n### Instruction:\\nIs the oven hot?\\n\\n'
    '### Response 1:\\nNot yet.\\n\\n### Response 2:\\nHot!\\n\\n### Evaluation:\\n", '
    '"output_sequence": "1\\n\\n### Reason: It is cold.\\n\\n### Reference: No.\\n"}]\n'
)

IMPORTER = Importer(
    name="pandalm",
    summary="PandaLM's training files: two responses and a verdict in texts",
    stream=_stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
