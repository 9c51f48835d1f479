"""The questions of a campaign's form as the rating page shows them: controls with names, values and
keys of the keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _

from annotations.campaigns.forms.answers import SPANS_AT_ONCE, control_name
from annotations.campaigns.models import Assignment, RatingRevision
from annotations.campaigns.plan.lists import MOST_SYSTEMS
from annotations.campaigns.queries.work_queue import ItemView
from annotations.questions.answers import Material, numeric
from annotations.questions.schema import (
    CANNOT_JUDGE,
    Condition,
    Form,
    Option,
    Question,
    Value,
    encoded,
)

FEW_SIDE_BY_SIDE = 4
"""So many options at most stand side by side."""
SOME_CANDIDATES = 3
"""Responses of a list, where none are shown."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A radio button, a checkbox, or an option of a list."""

    value: str
    label: str
    small: str = ""
    """Below the label, where that is a number."""
    digit: str = ""
    """The key of the keyboard that chooses it."""
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One of several answers to a question: the rank of an option, a marked span."""

    name: str
    label: str
    choices: tuple[Choice, ...] = ()
    value: str = ""
    values: Mapping[str, str] | None = None
    is_single: bool = False
    """Of the labels of an utterance: exactly one is chosen."""


@dataclass(frozen=True, slots=True)
class QuestionView:
    key: str
    type: str
    name: str
    """Of the control, or what the names of its controls begin with."""
    title: str
    text: str
    hint: str
    is_required: bool
    when: str
    """The condition, as JSON for the page's script; "" where it is always asked."""
    choices: tuple[Choice, ...] = ()
    rows: tuple[Row, ...] = ()
    anchors: tuple[str, ...] = ()
    value: str = ""
    minimum: str = ""
    maximum: str = ""
    step: str = ""
    longest: int = 0
    labels: tuple[Choice, ...] = ()
    severities: tuple[Choice, ...] = ()
    given: Mapping[str, Any] | None = None
    """Of labels of utterances: what was chosen, by number."""
    least: int = 0
    is_single: bool = False
    """Each utterance gets exactly one label."""
    error: str = ""
    is_preview: bool = False
    """No rater's: nothing is sent."""

    @property
    def is_multiple(self) -> bool:
        return self.type == "choices"

    @property
    def may_be_empty(self) -> bool:
        """Nothing chosen is an answer, too: the page says that it was asked."""
        return self.type in ("choices", "span", "utterance_labels")

    @property
    def is_missing_when_empty(self) -> bool:
        return self.is_required and not (self.may_be_empty and not self.least)

    @property
    def is_of_rows(self) -> bool:
        """Each row needs an answer of its own."""
        return self.type in ("ranking", "best_worst", "utterance_labels")

    @property
    def is_wide(self) -> bool:
        """Its choices stand one below another."""
        few = FEW_SIDE_BY_SIDE - (self.type == "preference")  # words, not points
        return self.type in ("choice", "choices", "preference") and (
            len(self.choices) > few or any(len(one.label) > 14 for one in self.choices)
        )


def question_views(
    form: Form,
    answers: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
    utterances: Mapping[int, str] | None = None,
    listed: int = 0,
) -> list[QuestionView]:
    """``answers``: as stored, or as sent and refused. ``utterances``: the judged ones by number, in
    which spans lie; a correction begins with the first. ``listed``: how many responses are
    compared; of a form about lists, some where it is not known."""
    given, faults, texts = answers or {}, errors or {}, utterances or {}
    candidates = candidates_of(listed or SOME_CANDIDATES if form.level == "systems" else 0)
    return [
        _view(
            with_candidates(question, candidates),
            given.get(question.key),
            faults.get(question.key, ""),
            texts,
        )
        for question in form.questions
    ]


def candidates_of(count: int) -> tuple[Option, ...]:
    """The responses of a list, as answers name them."""
    return tuple(
        Option(str(place), _("response %(n)s") % {"n": place}) for place in range(1, count + 1)
    )


def with_candidates(question: Question, candidates: tuple[Option, ...]) -> Question:
    """A ranking, or best and worst, without options is about the responses shown."""
    is_of_shown = question.type in ("ranking", "best_worst") and not question.options
    return replace(question, options=candidates) if is_of_shown else question


def question_previews(form: Form, listed: int = 0) -> list[QuestionView]:
    """As an organiser sees them: of the rows for marked words one, as a rater's script shows it."""
    return [
        replace(one, is_preview=True, rows=one.rows[:1] if one.type == "span" else one.rows)
        for one in question_views(form, listed=listed)
    ]


def _view(
    question: Question, answer: Any, error: str, utterances: Mapping[int, str]
) -> QuestionView:
    kind = question.type
    shared: dict[str, Any] = {
        "key": question.key,
        "type": kind,
        "name": control_name(question.key),
        "title": question.title or question.text,
        "text": question.text if question.title else "",
        "hint": question.hint,
        "is_required": question.required,
        "when": "" if question.when is None else json.dumps(_condition(question.when)),
        "anchors": question.anchors,
        "longest": question.max_length,
        "least": question.min_choices,
        "error": error,
    }
    if kind in ("scale", "yes_no", "choice", "choices", "preference"):
        return QuestionView(**shared, choices=tuple(_choices(question, answer)))
    if kind == "slider":
        cannot = [one for one in _choices(question, answer) if one.value == CANNOT_JUDGE]
        return QuestionView(
            **shared,
            choices=tuple(cannot),
            value="" if answer in (None, CANNOT_JUDGE) else str(answer),
            minimum=str(question.minimum),
            maximum=str(question.maximum),
            step=str(question.step),
        )
    if kind == "ranking":
        return QuestionView(**shared, rows=tuple(_ranks(question, answer)))
    if kind == "best_worst":
        return QuestionView(**shared, rows=tuple(_best_and_worst(question, answer)))
    if kind == "span":
        return QuestionView(
            **shared,
            rows=tuple(_spans(question, answer, utterances)),
            labels=tuple(Choice(one.key, one.label) for one in question.options),
            severities=tuple(Choice(one.key, one.label) for one in question.severities),
        )
    if kind == "utterance_labels":
        given = answer if isinstance(answer, Mapping) else {}
        is_single = question.min_choices == question.max_choices == 1
        return QuestionView(
            **shared,
            labels=tuple(_choices(question, None)),
            given=given,
            is_single=is_single,
        )
    start = next(iter(utterances.values()), "").strip() if kind == "correction" else ""
    return QuestionView(**shared, value=str(answer) if isinstance(answer, str) else start)


def _choices(question: Question, answer: Any) -> Iterator[Choice]:
    values: list[Value] = [] if question.type == "slider" else [*question.values]
    labels = _labels(question)
    keyboard = question.keyboard
    chosen = {encoded(one) for one in (answer if isinstance(answer, list) else [answer])}
    if question.cannot_judge:
        values.append(CANNOT_JUDGE)
    for value in values:
        label, small = labels.get(encoded(value), (encoded(value), ""))
        yield Choice(
            encoded(value),
            label,
            small,
            keyboard.get(value, ""),
            answer is not None and encoded(value) in chosen,
        )
    if not question.required and question.type not in ("choices", "slider"):
        yield Choice("", _("no answer"))


def _labels(question: Question) -> dict[str, tuple[str, str]]:
    """Value → label, and what stands in small letters below it."""
    found = {CANNOT_JUDGE: (_("cannot judge"), "")}
    if question.type == "scale":
        texts = question.labels or ("",) * len(question.values)
        pairs = zip(question.values, texts, strict=True)
        return found | {encoded(value): (encoded(value), text) for value, text in pairs}
    if question.labels:
        pairs = zip(question.values, question.labels, strict=True)
        return found | {encoded(value): (text, "") for value, text in pairs}
    if question.type == "preference":
        return found | {str(value): _arm(str(value), question.points) for value in question.values}
    if question.type == "yes_no":
        return found | {"false": (_("no"), ""), "true": (_("yes"), "")}
    return found | {option.key: (option.label, "") for option in question.options}


def _arm(value: str, points: int) -> tuple[str, str]:
    """Which of two is preferred, as shown, and by how much."""
    if value in ("tie", "both_bad"):
        return (_("tie") if value == "tie" else _("both are bad")), ""
    much = str((points - 1) // 2)
    degrees = {"": "", "1": _("slightly better"), "2": _("better"), much: _("much better")}
    return (_("first") if value[0] == "a" else _("second")), degrees[value[1:]]


def _ranks(question: Question, answer: Any) -> Iterator[Row]:
    given = answer if isinstance(answer, Mapping) else {}
    ranks = range(1, len(question.options) + 1)
    for option in question.options:
        yield Row(
            control_name(question.key, option.key),
            option.label,
            tuple(
                Choice(str(rank), str(rank), is_chosen=str(given.get(option.key)) == str(rank))
                for rank in ranks
            ),
        )


def _best_and_worst(question: Question, answer: Any) -> Iterator[Row]:
    given = answer if isinstance(answer, Mapping) else {}
    for end, label in (("best", _("Best")), ("worst", _("Worst"))):
        yield Row(
            control_name(question.key, end),
            label,
            tuple(
                Choice(option.key, option.label, is_chosen=given.get(end) == option.key)
                for option in question.options
            ),
        )


def _spans(question: Question, answer: Any, utterances: Mapping[int, str]) -> Iterator[Row]:
    given: Sequence[Any] = answer if isinstance(answer, list) else ()
    for number in range(max(SPANS_AT_ONCE, len(given) + 1)):
        values = {}
        if number < len(given):
            span = given[number]
            text = utterances.get(span["utterance"], "")[span["start"] : span["end"]]
            names = ("utterance", "start", "label", "severity")
            values = {"text": text} | {name: str(span.get(name, "")) for name in names}
        yield Row(control_name(question.key, str(number)), str(number + 1), values=values)


def tagged(view: ItemView, questions: Sequence[QuestionView]) -> ItemView:
    """The item, with the labels that each judged utterance may get beside it."""
    labelling = [one for one in questions if one.type == "utterance_labels"]
    if not labelling:
        return view
    parts = tuple(
        replace(
            part,
            lines=tuple(
                replace(line, tags=tuple(_tags(one, line.place) for one in labelling))
                if line.judged
                else line
                for line in part.lines
            ),
        )
        for part in view.parts
    )
    return replace(view, parts=parts)


def _tags(question: QuestionView, number: int) -> Row:
    chosen = (question.given or {}).get(str(number), ())
    return Row(
        control_name(question.key, str(number)),
        question.title,
        tuple(replace(one, is_chosen=one.value in chosen) for one in question.labels),
        is_single=question.is_single,
    )


def answered(revision: RatingRevision) -> list[tuple[str, str]]:
    """(question, answer) of a rating, in words; empty where it is a score."""
    if revision.form is None:
        return []
    form = revision.form.parsed()
    words = answers_in_words(form, revision.answers or {})
    return [(form.question(key).name, text) for key, text in words.items()]


def answers_in_words(form: Form, answers: Mapping[str, Any]) -> dict[str, str]:
    """By question, in the order of the form; answers to no question of it are left out."""
    most = candidates_of(MOST_SYSTEMS if form.level == "systems" else 0)
    return {
        question.key: _in_words(with_candidates(question, most), answers[question.key])
        for question in form.questions
        if question.key in answers
    }


def score_words(question: Question) -> dict[float, str]:
    """What each score of a scored question is called."""
    named = {numeric(question, value): _in_words(question, value) for value in question.values}
    return {score: text for score, text in named.items() if score is not None}


def _in_words(question: Question, answer: Any) -> str:
    labels = _labels(question)

    def word(value: Any) -> str:
        label, small = labels.get(encoded(value), (str(value), ""))
        return f"{label} ({small})" if small else label

    if isinstance(answer, list) and question.type == "span":
        severities = {one.key: f" ({one.label})" for one in question.severities}
        marked = (word(one["label"]) + severities.get(one.get("severity"), "") for one in answer)
        return ", ".join(marked) or _("none")
    if isinstance(answer, list):
        return ", ".join(map(word, answer)) or _("none")
    if isinstance(answer, Mapping) and question.type == "ranking":
        by_rank = groupby(sorted(answer, key=answer.__getitem__), key=answer.__getitem__)
        return " > ".join(" = ".join(map(word, tied)) for _rank, tied in by_rank)
    if isinstance(answer, Mapping):
        pairs = (
            (key, map(word, one if isinstance(one, list) else [one])) for key, one in answer.items()
        )
        return "; ".join(f"{key}: {', '.join(words) or '–'}" for key, words in pairs)
    return word(answer)


def expected_order(question: Question, assignment: Assignment) -> str:
    """Of a training item whose texts are compared, the right answer, as this rater saw them."""
    order = assignment.shown or ([1, 0] if assignment.is_swapped else [0, 1])
    best, worst = order.index(0), order.index(len(order) - 1)
    if question.type == "preference":
        return _("second") if best else _("first")
    return _("response %(best)s best, response %(worst)s worst") % {
        "best": best + 1,
        "worst": worst + 1,
    }


def material_of(view: ItemView) -> Material:
    """The judged utterances, as answers name them."""
    lines = (line for part in view.parts for line in part.lines if line.judged)
    candidates = candidates_of(view.listed)
    return Material({line.place: line.text for line in lines}, tuple(one.key for one in candidates))


def _condition(condition: Condition) -> dict[str, Any]:
    """For the script: values as the controls have them."""
    if condition.all or condition.any:
        name = "all" if condition.all else "any"
        return {name: [_condition(one) for one in condition.all or condition.any]}
    return {
        "question": condition.question,
        "in": [encoded(value) for value in condition.one_of],
        "below": condition.below,
        "above": condition.above,
    }
