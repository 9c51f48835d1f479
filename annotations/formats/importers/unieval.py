"""Meta-evaluation files as UniEval (Zhong et al. 2022, EMNLP) and G-Eval read them: one system's
output a record, with people's mean scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import rest_of
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.evaluations import (
    Evaluations,
    add_score,
    present,
    text_of,
    texts_of,
)
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import conversation, prompted
from annotations.formats.records import ASSISTANT
from common.text import MAX_TEXT

_KEYS = ("source", "system_output", "scores")
_KNOWN = (*_KEYS, "doc_id", "id", "system_id", "reference", "references", "context")


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(data_size(path), problems)
    evaluations = Evaluations()
    for _, row in numbered_objects(path, problems):
        source, output = (
            row.text("source", MAX_TEXT, True),
            row.text("system_output", MAX_TEXT, True),
        )
        scores = row.child("scores")
        if source is None or output is None or scores is None:
            continue
        facts = text_of(row.value.get("context")).strip()
        # Of a dialogue the source is the history, of a summary the document
        before = (conversation if facts else prompted)(source.strip()) if source.strip() else ()
        system = clean_name(row.value.get("system_id")) or ASSISTANT
        name = clean_name(row.value.get("doc_id", row.value.get("id")))
        dialogue = evaluations.dialogue(name, before, system, row.where)
        dialogue.knowledge = texts_of(facts)
        dialogue.metadata |= present(rest_of(row, _KNOWN))
        references = row.value.get("references", row.value.get("reference"))
        dialogue.add_turn(0, None, texts_of(references))
        dialogue.add_response(0, system, output.strip(), row.where, field="system_output")
        for aspect, value in scores.value.items():
            add_score(dialogue, system, aspect, value, row.where)
    yield from evaluations.records()


def _detect(sample: FileSample) -> float:
    return 0.9 if sample.kind != "table" and sample.keys >= set(_KEYS) else 0.0


_DESCRIPTION = """\
A JSON array or JSON lines: a `system_output` a record to a `source`, which is the history of a
dialogue where there is a `context` of facts, else a document. Records with one `doc_id` and source
are a dialogue; `system_id` names the system, else it is `assistant`; `reference` is a reference,
`context` knowledge. Each of the `scores` is one of the rater `dataset`. All other fields are
metadata."""
_EXAMPLE = (
    '[{"doc_id": "d1", "system_id": "baker", "source": "Is the oven hot?\\n", "context": "It heats '
    'slowly.", "reference": "No.", "system_output": "Not yet.", "scores": {"coherence": 2.67, '
    '"overall": 4}}]\n'
)

IMPORTER = Importer(
    name="unieval",
    summary="meta-evaluation files of UniEval and G-Eval: outputs with mean scores",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
