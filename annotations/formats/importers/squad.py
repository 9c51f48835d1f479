"""Questions about texts, with reference answers and without systems: SQuAD (Rajpurkar et al. 2016,
EMNLP), QuAC (Choi et al. 2018, EMNLP) and CoQA (Reddy et al. 2019, TACL)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import USER, DistinctIds, rest_of
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.evaluations import present, texts_of
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import json_rows, object_members
from annotations.formats.importers.json_source import open_file
from annotations.formats.importers.people import people_talking
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample, first_keys
from annotations.formats.importers.wrapped_records import BEGINNING
from annotations.formats.records import ASSISTANT, Message, TurnRecord
from common.text import MAX_TEXT

_OF_CONVERSATIONS = ("followup", "yesno")
"""Fields of QuAC's questions, of which those about one paragraph are asked in turn."""
Answered = tuple[str, tuple[str, ...]]
"""A question with its reference answers."""


def _rows(path: Path, problems: Problems) -> Iterator[tuple[Where, Any]]:
    """An article may be longer than what is looked at to find records within an object."""
    if path.is_file():
        with open_file(path, problems, taken="JSON") as file:
            start = file.read(BEGINNING).decode("utf-8", "replace").lstrip()
        if start.startswith("{") and "data" in first_keys(start):
            for where, key, value in object_members(path, problems):
                if key == "data" and where.endswith("]"):
                    yield where, value
            return
    yield from json_rows(path, problems)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    ids = DistinctIds()
    for number, (where, value) in enumerate(_rows(path, problems), 1):
        row = JsonObject.of(value, where, problems)
        if row is None:
            continue
        if row.has("paragraphs"):
            for paragraph in row.children("paragraphs") or ():
                yield from _of_paragraph(paragraph, clean_name(row.value.get("title")), ids)
        elif row.has("qas"):
            yield from _of_paragraph(row, clean_name(row.value.get("title")), ids)
        elif row.has("question"):
            yield from _of_question(row, row.value.get("context"), "", ids, str(number))
        else:
            yield from _of_conversation(row, ids, str(number))


def _of_paragraph(paragraph: JsonObject, title: str, ids: DistinctIds) -> Iterator[Placed]:
    questions = paragraph.children("qas")
    if questions is None:
        return
    context = paragraph.value.get("context")
    if not any(one.value.keys() & set(_OF_CONVERSATIONS) for one in questions):
        for place, one in enumerate(questions, 1):
            yield from _of_question(one, context, title, ids, str(place))
        return
    answered = [(_text(one.value.get("question")), _references(one)) for one in questions]
    metadata = present({**rest_of(paragraph, ("context", "qas", "id")), "title": title})
    name = clean_name(paragraph.value.get("id")) or clean_name(questions[0].value.get("id"))
    yield from _in_turn(ids.distinct(name or title), answered, context, metadata, paragraph)


def _of_question(
    one: JsonObject, context: Any, title: str, ids: DistinctIds, number: str
) -> Iterator[Placed]:
    question = one.text("question", MAX_TEXT)
    if question is None:
        return
    metadata = rest_of(one, ("id", "question", "answers", "answer", "context"))
    dialogue_id = clean_name(one.value.get("id")) or f"{title} {number}".strip()
    yield from people_talking(
        ids.distinct(dialogue_id),
        (Message(USER, question),),
        one.where,
        turns=(TurnRecord(0, references=_references(one), after=1),),
        knowledge=texts_of(context),
        metadata=present({"title": title, **metadata}),
    )


def _of_conversation(row: JsonObject, ids: DistinctIds, number: str) -> Iterator[Placed]:
    """CoQA's stories, and rows of the Hugging Face Hub, whose answers are lists side by side."""
    questions, answers = row.value.get("questions"), row.value.get("answers")
    more = row.value.get("additional_answers")
    if not isinstance(questions, list):
        row.complain("questions", "must be a list")
        return
    lists = [answers, row.value.get("orig_answers")]
    lists += list(more.values()) if isinstance(more, dict) else []
    answered = [
        (
            _text(question),
            tuple(dict.fromkeys(text for one in lists for text in _answers_at(one, place))),
        )
        for place, question in enumerate(questions)
    ]
    name = clean_name(row.value.get("id") or row.value.get("dialogue_id")) or number
    known = ("id", "dialogue_id", "questions", "answers", "orig_answers", "additional_answers")
    passage = "story" if row.has("story") else "context"
    metadata = present(rest_of(row, (*known, passage)))
    yield from _in_turn(ids.distinct(name), answered, row.value.get(passage), metadata, row)


def _in_turn(
    dialogue_id: str,
    answered: Sequence[Answered],
    context: Any,
    metadata: dict[str, Any],
    row: JsonObject,
) -> Iterator[Placed]:
    messages = tuple(
        message
        for question, references in answered
        for message in (
            Message(USER, question),
            Message(ASSISTANT, references[0] if references else ""),
        )
    )
    turns = tuple(
        TurnRecord(place, references=references, after=2 * place + 1)
        for place, (_, references) in enumerate(answered)
    )
    yield from people_talking(
        dialogue_id,
        messages,
        row.where,
        turns=turns,
        knowledge=texts_of(context),
        metadata=metadata,
    )


def _answers_at(answers: Any, place: int) -> tuple[str, ...]:
    """Of the question at this place: a list of answers, or an object of lists."""
    if isinstance(answers, dict):
        answers = answers.get("input_text", answers.get("texts"))
    one = answers[place] if isinstance(answers, list) and place < len(answers) else None
    return texts_of(_text(one) if isinstance(one, dict) else one)


def _references(question: JsonObject) -> tuple[str, ...]:
    answers = question.value.get("answers", question.value.get("answer"))
    if isinstance(answers, dict):
        answers = answers.get("text", answers.get("texts"))
    values = answers if isinstance(answers, list) else [answers]
    return texts_of([_text(one) if isinstance(one, dict) else one for one in values])


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("text", value.get("input_text"))
    return value if isinstance(value, str) else ""


def _detect(sample: FileSample) -> float:
    if sample.kind in ("table", "folder"):
        return 0.0
    first = sample.record
    if first.keys() >= {"context", "question", "answers"} and isinstance(first["answers"], dict):
        return 0.9
    answered = {"questions", "answers"}
    if sample.keys >= {"story", *answered} or sample.keys >= {"context", "orig_answers", *answered}:
        return 0.9
    start = sample.text[:BEGINNING]
    return 0.9 if '"qas"' in start and sample.keys & {"paragraphs", "qas", "data"} else 0.0


_DESCRIPTION = """\
The JSON of SQuAD (version 1 or 2): each question of a paragraph is a dialogue, the `context` is its
knowledge, the different `answers` are references; one that is impossible has none. Questions with
`followup` or `yesno` (QuAC), and CoQA's `questions` about a `story`, are asked in turn: one
dialogue a paragraph, each answer a turn with its references, `additional_answers` among them. Rows
of the Hugging Face Hub and JSON lines of the three are read, too. All other fields are metadata.
There are no systems."""
_EXAMPLE = (
    '{"version": "2.0", "data": [{"title": "Ovens", "paragraphs": [{"context": "The oven is hot at '
    'six.", "qas": [{"id": "q1", "question": "When is the oven hot?", "answers": [{"text": "at six"'
    ', "answer_start": 16}], "is_impossible": false}]}]}]}\n'
)

IMPORTER = Importer(
    name="squad",
    summary="questions about texts with reference answers (SQuAD, QuAC, CoQA)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
