"""Which form a campaign may ask, which templates of forms it can begin with, and what may change in
a form once raters have begun. Pure: no Django here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.questions import templates
from annotations.questions.schema import SCHEMA_VERSION, Form, Level, Question

_LEVELS: Mapping[str, tuple[Level, ...]] = {
    "turn": ("response", "utterance"),
    "dialogue": ("conversation",),
    "pair": ("pair",),
    "dialogue_pair": ("pair",),
    "systems": ("systems",),
    "interactive": ("conversation",),
    "collection": (),
}
_COMPARES = {"pair": "response", "dialogue_pair": "conversation", "systems": "response"}


def is_about(form: Form, kind: str) -> bool:
    """Whether a campaign can ask this form.

    Args:
        form: what is asked.
        kind: of ``Campaign.Kind``.

    Returns:
        Whether what the form is about is what raters see; of pairs, whether it compares it.
    """
    return form.level in _LEVELS[kind] and form.compares == _COMPARES.get(kind, form.compares)


def levels_of(kind: str) -> tuple[Level, ...]:
    """The levels of forms that a campaign of this kind can ask."""
    return _LEVELS[kind]


def begun(kind: str, name: str, title: str) -> dict[str, Any]:
    """A form without questions, as data, for a campaign of this kind."""
    head = {"schema": SCHEMA_VERSION, "name": name, "title": title, "level": _LEVELS[kind][0]}
    if _COMPARES.get(kind) == "conversation":
        head["compares"] = "conversation"
    return {**head, "questions": []}


def meaning_changes(old: Form, new: Form) -> list[str]:
    """Questions of both forms whose answers do not mean the same.

    Args:
        old: the form under which there are answers.
        new: the form that is to follow it.

    Returns:
        Their keys, in the order of the new form: of another type, or with other possible answers.
        Wording, hints, labels, keys and conditions may differ.
    """
    before = {question.key: _meaning(question) for question in old.questions}
    return [
        question.key
        for question in new.questions
        if question.key in before and before[question.key] != _meaning(question)
    ]


def _meaning(question: Question) -> tuple[Any, ...]:
    return (
        question.type,
        question.values,
        tuple((option.key, option.value) for option in question.options),
        tuple((one.key, one.value) for one in question.severities),
        question.if_hidden,
        question.interval,
    )


def templates_for(kind: str) -> list[Form]:
    """Those about what raters of such a campaign see, by title."""
    forms = [templates.load(name) for name in templates.names()]
    fitting = [form for form in forms if is_about(form, kind)]
    return sorted(fitting, key=lambda form: form.title.casefold())


def template_named(name: str, kind: str) -> Form | None:
    """None where there is no such template for campaigns of this kind."""
    return next((form for form in templates_for(kind) if form.name == name), None)
