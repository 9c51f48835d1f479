"""SummEval (Fabbri et al. 2021, TACL): summaries of articles with scores of experts and of a
crowd."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import rest_of
from annotations.formats.importers.crossed import CrossedDialogue, Grouped, refuse_large
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import position_rater, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.records import Message, RatingRecord
from common.text import MAX_TEXT

SOURCE = "source"
"""The role of the article."""
ASPECTS = ("coherence", "consistency", "fluency", "relevance")
_RATERS = {"expert_annotations": "expert", "turker_annotations": "turker"}


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(path.stat().st_size if path.is_file() else 0, problems)
    articles = Grouped()
    for _, row in numbered_objects(path, problems):
        _add_summary(row, articles)
    yield from articles.records()


def _add_summary(row: JsonObject, articles: Grouped) -> None:
    article, system = row.name("id"), row.name("model_id")
    summary = row.text("decoded", MAX_TEXT, may_be_empty=True)
    has_text = row.value.get("text") is not None
    text = row.text("text", MAX_TEXT, may_be_empty=True) if has_text else ""
    has_references = row.value.get("references") is not None
    references = row.texts("references", MAX_TEXT, True) if has_references else ()
    if article is None or system is None or summary is None or text is None or references is None:
        return
    messages = (Message(SOURCE, text),) if text else ()
    dialogue = articles.of(article, system, row.where, messages, article)
    used = ("id", "model_id", "decoded", "text", "references", "filepath", *_RATERS)
    if row.value.get("filepath") is not None:
        dialogue.metadata["filepath"] = row.value["filepath"]
    known = tuple(one for one in references if one.strip())
    dialogue.add_turn(0, references=known)
    dialogue.add_response(
        0, system, summary, row.where, field="decoded", metadata=rest_of(row, used)
    )
    for key, of in _RATERS.items():
        if row.value.get(key) is not None:
            _add_scores(row, key, of, dialogue, system)


def _add_scores(row: JsonObject, key: str, of: str, dialogue: CrossedDialogue, system: str) -> None:
    for index, one in enumerate(row.children(key) or ()):
        for aspect, value in one.value.items():
            score = one.number(aspect) if value is not None else None
            if score is None:
                continue
            rating = RatingRecord(dialogue.id, 0, system, position_rater(index, of), aspect, score)
            dialogue.judgements.append((rating, row.where, one.field(aspect)))


_DESCRIPTION = """\
JSON lines: a summary (`decoded`) of the article `text` by the system `model_id`. Summaries with one
`id` are one dialogue: its message is the article, of the role `source`, where the file has it;
`references` are the turn's. Experts and the crowd are raters of two kinds, `expert 1`, … and
`turker 1`, …, places in a list and so anonymous. Scale 1 to 5."""
_EXAMPLE = (
    '{"id": "a1", "decoded": "The oven is cold.", "text": "The oven was not lit today.", '
    '"references": ["No fire."], "model_id": "M1", "expert_annotations": [{"coherence": 5}], '
    '"turker_annotations": []}\n'
)

IMPORTER = Importer(
    name="summeval",
    summary="SummEval: summaries with scores of experts and of a crowd (JSON lines)",
    stream=with_head(_body, scales=dict.fromkeys(ASPECTS, (1.0, 5.0)), main_aspect="relevance"),
    detect=has_keys("decoded", "expert_annotations"),
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
