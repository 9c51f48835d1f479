"""Datasets of Argilla 2 as its ``Dataset.from_disk`` takes them: settings and records of responses
in their context, whole conversations, pairs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from annotations.formats.exporters.annotation_items import (
    OUTCOMES,
    Item,
    ItemKind,
    Question,
    plain_number,
    write_items,
)
from annotations.formats.exporters.base import Exporter, MetricScoresRecord
from annotations.formats.records import Record

MOST = 10
"""The highest rating that Argilla takes; the lowest is 0."""
_RATERS = uuid.UUID("7c2f7c5e-5d0c-5b6a-9d61-0f1d3a9f2b11")
"""Namespace of the ids that stand for raters."""


def write(records: Iterable[Record], _scores: Iterable[MetricScoresRecord], folder: Path) -> None:
    """Write the folders ``responses``, ``conversations`` and ``pairs``, each a dataset of Argilla:
    ``.argilla/settings.json``, ``.argilla/dataset.json`` and ``records.json``.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.
        _scores: not used: who rates must not see what metrics say.
        folder: existing, empty folder.
    """

    def write_kind(kind: ItemKind, questions: list[Question], items: Iterator[Item]) -> None:
        target = folder / kind / ".argilla"
        target.mkdir(parents=True)
        _write_json(target / "settings.json", settings_of(kind, questions))
        _write_json(target / "dataset.json", {"name": kind, "allow_extra_metadata": True})
        by_name = {question.name: question for question in questions}
        path = folder / kind / "records.json"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write("[")
            for number, item in enumerate(items, 1):
                file.write("\n" if number == 1 else ",\n")
                record = _record(number, item, by_name)
                file.write(json.dumps(record, ensure_ascii=False, allow_nan=False))
            file.write("\n]\n")

    write_items(records, folder, write_kind)


def settings_of(kind: ItemKind, questions: Sequence[Question]) -> dict[str, Any]:
    """The fields and questions of a dataset.

    Args:
        kind: of the items.
        questions: what is asked of them.

    Returns:
        What ``argilla.Settings.from_json`` reads. The first question must be answered.
    """
    texts = {"responses": ("response",), "pairs": ("response_a", "response_b")}.get(kind, ())
    text, chat = ({"type": one, "use_markdown": True} for one in ("text", "chat"))
    names = (("persona", text), ("context", chat), *((name, text) for name in texts))
    needed = texts or ("context",)
    return {
        "guidelines": None,
        "fields": [
            {
                "name": name,
                "title": name.replace("_", " ").capitalize(),
                "required": name in needed,
                "type": settings["type"],
                "settings": settings,
            }
            for name, settings in names
        ],
        "questions": [
            _question(question, is_needed=not place) for place, question in enumerate(questions)
        ],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }


def _question(question: Question, is_needed: bool) -> dict[str, Any]:
    kind = _type_of(question)
    settings: dict[str, Any] = {"type": kind}
    options: Iterable[Any] = question.scale(0, MOST) or ()
    if kind == "rating":
        settings["options"] = [{"value": value} for value in options]
    elif kind == "text":
        settings["use_markdown"] = False
    else:
        options = OUTCOMES if question.use == "preference" else question.options
        settings["options"] = [{"value": one, "text": one} for one in options]
    comment = "Comment" if question.use == "comment" else ""
    return {
        "name": question.name,
        "title": f"{comment} {question.of}".strip(),
        "description": None,
        "required": is_needed,
        "type": kind,
        "settings": settings,
    }


def _type_of(question: Question) -> str:
    """A scale that Argilla has not is a text with a number."""
    if question.use == "score":
        return "rating" if question.scale(0, MOST) else "text"
    is_choice = question.is_choice and len(question.options) > 1
    if question.use == "preference":
        return "label_selection"
    if question.use == "label" and is_choice:
        return "multi_label_selection" if question.has_several else "label_selection"
    return "text"


def _record(number: int, item: Item, questions: dict[str, Question]) -> dict[str, Any]:
    names = ["response"] if len(item.responses) == 1 else ["response_a", "response_b"]
    responses: dict[str, list[dict[str, Any]]] = {}
    judgements: dict[str, dict[str, Any]] = {}
    for one in item.judgements:
        user = str(uuid.uuid5(_RATERS, one.rater))
        kind, value = _type_of(questions[one.question]), one.value
        if isinstance(value, float):
            value = plain_number(value) if kind == "rating" else f"{plain_number(value)}"
        elif kind == "multi_label_selection" and isinstance(value, str):
            value = [value]
        elif kind == "text" and isinstance(value, list):
            value = json.dumps(value, ensure_ascii=False)
        responses.setdefault(one.question, []).append(
            {"value": value, "user_id": user, "status": "submitted"}
        )
        judgements.setdefault(one.question, {})[user] = {"rater": one.rater, **one.origin}
    origin = {**item.origin, "judgements": judgements}
    chat = [{"role": one["speaker"], "content": one["text"]} for one in item.context]
    return {
        "id": str(number),
        "fields": {
            "persona": item.persona or None,
            "context": chat or None,
            **dict(zip(names, item.responses, strict=False)),
        },
        "metadata": {
            "dialogue_id": item.origin["dialogue"],
            # Argilla's metadata are plain values
            "dialeval": json.dumps(origin, ensure_ascii=False),
        },
        "suggestions": {},
        "responses": responses,
        "vectors": {},
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


EXPORTER = Exporter(
    name="argilla",
    summary="datasets of Argilla 2: settings and records, a folder for each kind of item",
    write=write,
)
