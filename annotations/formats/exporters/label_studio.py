"""Tasks of Label Studio and its labelling configurations
(https://labelstud.io/guide/task_format, https://labelstud.io/tags): responses in their context,
whole conversations, pairs, each a project of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from annotations.formats.exporters.annotation_items import (
    OUTCOMES,
    Item,
    ItemKind,
    Judgement,
    Question,
    plain_number,
    write_items,
)
from annotations.formats.exporters.base import Exporter, MetricScoresRecord
from annotations.formats.records import Record

MOST_STARS = 10
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_JUDGED: dict[ItemKind, str] = {
    "responses": "response",
    "conversations": "conversation",
    "pairs": "response_a",
}
"""The part of the page that answers are about."""


def write(records: Iterable[Record], _scores: Iterable[MetricScoresRecord], folder: Path) -> None:
    """Write ``responses.json``, ``conversations.json`` and ``pairs.json``, each with the labelling
    configuration ``….xml`` of its project.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.
        _scores: not used: who rates must not see what metrics say.
        folder: existing, empty folder.
    """

    def write_kind(kind: ItemKind, questions: list[Question], items: Iterator[Item]) -> None:
        by_name = {question.name: question for question in questions}
        has_persona = False
        with (folder / f"{kind}.json").open("w", encoding="utf-8", newline="\n") as file:
            file.write("[")
            for number, item in enumerate(items, 1):
                has_persona = has_persona or bool(item.persona)
                task = _task(number, kind, item, by_name)
                file.write("\n" if number == 1 else ",\n")
                file.write(json.dumps(task, ensure_ascii=False, allow_nan=False))
            file.write("\n]\n")
        configuration = labelling_configuration(kind, questions, has_persona)
        (folder / f"{kind}.xml").write_text(configuration, encoding="utf-8", newline="\n")

    write_items(records, folder, write_kind)


def labelling_configuration(
    kind: ItemKind, questions: Sequence[Question], has_persona: bool
) -> str:
    """The page that raters see.

    Args:
        kind: of the items.
        questions: what is asked of them.
        has_persona: show personas and knowledge, too.

    Returns:
        XML with one object for each text of an item and one control for each question.
    """
    view = ElementTree.Element("View")
    if has_persona:
        ElementTree.SubElement(view, "Text", name="persona", value="$persona")
    conversation = {"layout": "dialogue", "nameKey": "speaker", "textKey": "text"}
    name = "conversation" if kind == "conversations" else "context"
    ElementTree.SubElement(view, "Paragraphs", conversation, name=name, value="$context")
    for part in {"responses": ["response"], "pairs": ["response_a", "response_b"]}.get(kind, []):
        ElementTree.SubElement(view, "Header", value=part.replace("_", " ").capitalize())
        ElementTree.SubElement(view, "Text", name=part, value=f"${part}")
    for question in questions:
        _add_control(view, question, _JUDGED[kind])
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _add_control(view: ElementTree.Element, question: Question, judged: str) -> None:
    heading = "comment" if question.use == "comment" else ""
    title = _NO_XML.sub(" ", f"{question.of} {heading}".strip())
    ElementTree.SubElement(view, "Header", value=title)
    attributes = {"name": question.name, "toName": judged}
    control = _control_of(question)
    if control == "rating":
        ElementTree.SubElement(view, "Rating", attributes, maxRating=str(int(question.high or 0)))
    elif control == "number":
        ends = {"min": question.low, "max": question.high}
        known = {name: f"{end:g}" for name, end in ends.items() if end is not None}
        ElementTree.SubElement(view, "Number", attributes | known)
    elif control == "choices":
        choice = "multiple" if question.has_several else "single-radio"
        choices = ElementTree.SubElement(view, "Choices", attributes, choice=choice)
        for option in OUTCOMES if question.use == "preference" else question.options:
            ElementTree.SubElement(choices, "Choice", value=_NO_XML.sub(" ", option))
    else:
        ElementTree.SubElement(view, "TextArea", attributes, editable="true", rows="3")


def _control_of(question: Question) -> str:
    """Stars begin at 1 in Label Studio; other scales are numbers."""
    if question.use == "score":
        scale = question.scale(1, MOST_STARS)
        return "rating" if scale and scale.start == 1 else "number"
    if question.use == "preference" or (question.use == "label" and question.is_choice):
        return "choices"
    return "textarea"


def _task(
    number: int, kind: ItemKind, item: Item, questions: dict[str, Question]
) -> dict[str, Any]:
    names = ["response"] if len(item.responses) == 1 else ["response_a", "response_b"]
    data = {
        "dialogue_id": item.origin["dialogue"],
        "turn": item.origin.get("turn"),
        "persona": item.persona,
        "context": item.context,
        **dict(zip(names, item.responses, strict=False)),
        "dialeval": item.origin,
    }
    by_rater: dict[str, list[Judgement]] = {}
    for judgement in item.judgements:
        by_rater.setdefault(judgement.rater, []).append(judgement)
    annotations = [
        {
            "result": [
                _result(place, one, questions[one.question], _JUDGED[kind])
                for place, one in enumerate(given, 1)
            ],
            "was_cancelled": False,
            "ground_truth": False,
        }
        for given in by_rater.values()
    ]
    return {"id": number, "data": data, "annotations": annotations, "predictions": []}


def _result(place: int, judgement: Judgement, question: Question, judged: str) -> dict[str, Any]:
    control, value = _control_of(question), judgement.value
    key = {"textarea": "text"}.get(control, control)
    if control in ("choices", "textarea"):
        value = value if isinstance(value, list) else [value]
    else:
        value = plain_number(value)
    return {
        "id": f"r{place}",
        "from_name": question.name,
        "to_name": judged,
        "type": control,
        "origin": "manual",
        "value": {key: value},
        # Label Studio keeps it; a rater's name as completed_by would have to be one of its users
        "meta": {"rater": judgement.rater, **judgement.origin},
    }


EXPORTER = Exporter(
    name="label-studio",
    summary="tasks and labelling configurations of Label Studio",
    write=write,
)
