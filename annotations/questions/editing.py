"""Editing a form in a web page: its data as texts of fields and back, and steps such as moving a
question up.

Data here may be half done: ``reading.form_of`` says what is wrong with it. Lists have one entry a
line; an option is ``key: label = value``, of which key and value may be left out. A condition is
``overall < 3``, ``sensible = true``, ``topic in films, books``, joined by ``and`` or by ``or``;
nested ones are JSON.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from annotations.questions.schema import (
    COMMON_FIELDS,
    FIELDS,
    SCHEMA_VERSION,
    TYPES,
    Condition,
    Form,
    Option,
    QuestionType,
    condition_data,
)

Data = dict[str, Any]
LONGEST_PARSED = 2_000
"""Characters of an option or condition that is taken apart: the time that a pattern takes may grow
with the square of a text."""

_QUESTION = re.compile(r"questions\.(\d{1,4})\.([a-z_]+)\Z")
_ACTION = re.compile(r"(up|down|copy|remove)\.(\d{1,4})\Z|add\.([a-z_]+)\Z")
_OPTION = re.compile(r"(?:([a-z][a-z0-9_]*):)?\s*(.*?)\s*(?:=\s*(-?\d+(?:\.\d+)?))?\Z")
_COMPARISON = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(=|<|>|\bin\b)\s*(.+?)\s*\Z")
_NUMBER = re.compile(r"-?\d{1,9}(\.\d{1,6})?\Z")

_LISTS = ("labels", "anchors", "keys")
_OPTIONS = ("options", "severities")
_FLAGS = ("required", "interval", "cannot_judge", "ties", "both_bad")
_NUMBERS = ("minimum", "maximum", "step", "min_choices", "max_choices", "points", "max_length")
_FORM_TEXTS = ("name", "title", "level", "citation", "description", "guidelines", "compares")


# --- data and fields ------------------------------------------------------------------------------


def fields_of(form: Form) -> dict[str, str]:
    """The texts of a web form's fields.

    Args:
        form: a form.

    Returns:
        By field name: the form's own fields by their names, a question's as
        ``questions.NUMBER.FIELD``, from 0: all fields that its type has. A field that is on or off
        is ``on`` or left out.
    """
    fields = {name: str(getattr(form, name)) for name in _FORM_TEXTS}
    fields["version"] = str(form.version)
    for number, question in enumerate(form.questions):
        for name in (*COMMON_FIELDS, *FIELDS[question.type]):
            text = _as_text(name, getattr(question, name))
            if text is not None:
                fields[f"questions.{number}.{name}"] = text
    return fields


def data_of(fields: Mapping[str, str]) -> Data:
    """The form that the fields of a web form describe.

    Args:
        fields: as ``fields_of`` names them. Other fields, and those of questions that their type
            does not have, are left out.

    Returns:
        Data for ``reading.form_of``. A question without a key gets one from its title or text, an
        option from its label. What cannot be read as a number stays a text, so that ``form_of``
        says where.
    """
    data: Data = {"schema": SCHEMA_VERSION}
    data |= {name: fields[name] for name in _FORM_TEXTS if fields.get(name)}
    if fields.get("version"):
        data["version"] = _value(fields["version"])
    questions: dict[int, dict[str, str]] = {}
    for name, text in fields.items():
        if found := _QUESTION.match(name):
            questions.setdefault(int(found[1]), {})[found[2]] = text
    written = [_question_of(questions[number]) for number in sorted(questions)]
    taken = {one["key"] for one in written if one.get("key")}
    for one in written:
        if not one.get("key"):
            one["key"] = _new_key(str(one.get("title") or one.get("text", "")), taken)
            taken.add(one["key"])
    return data | {"questions": written}


def _question_of(fields: Mapping[str, str]) -> Data:
    kind = fields.get("type", "")
    names: Sequence[str] = COMMON_FIELDS
    if kind in FIELDS:
        names = (*COMMON_FIELDS, *FIELDS[kind])
    question: Data = {}
    for name in names:
        text = fields.get(name, "").replace("\r\n", "\n").strip()
        if name in _FLAGS:
            question[name] = bool(text)
        elif not text:
            continue
        elif name in _LISTS:
            question[name] = _lines(text)
        elif name in _OPTIONS:
            question[name] = options_of(text)
        elif name == "when":
            question[name] = condition_of(text)
        else:
            question[name] = _value(text) if name in (*_NUMBERS, "if_hidden") else text
    return question


def _as_text(name: str, value: Any) -> str | None:
    """None leaves the field out, as an unchecked box."""
    if name in _FLAGS:
        return "on" if value else None
    if value is None:
        return ""
    if isinstance(value, Condition):
        return condition_text(value)
    if isinstance(value, tuple):
        return "\n".join(_option_text(one) if isinstance(one, Option) else one for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.match(text):
        return float(text) if "." in text else int(text)
    return text


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


# --- options --------------------------------------------------------------------------------------


def options_of(text: str) -> list[Data]:
    """Options from lines ``key: label = value``.

    Args:
        text: one option a line; without a key it gets one from the label.

    Returns:
        The options as data.
    """
    options: list[Data] = []
    taken: set[str] = set()
    for line in _lines(text):
        found = _OPTION.match(line) if len(line) <= LONGEST_PARSED else None
        key, label, value = found.groups() if found else (None, line, None)
        option: Data = {"key": key or _new_key(label, taken)}
        taken.add(option["key"])
        if label:
            option["label"] = label
        if value is not None:
            option["value"] = _value(value)
        options.append(option)
    return options


def _option_text(option: Option) -> str:
    value = "" if option.value is None else f" = {option.value}"
    return f"{option.key}: {option.label}{value}"


def _new_key(text: str, taken: set[str]) -> str:
    """A key from the first words of a text, with a number where it is taken."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    stem = re.sub(r"^[0-9_]+", "", "_".join(words))[:30].strip("_") or "question"
    key, number = stem, 2
    while key in taken:
        key, number = f"{stem}_{number}", number + 1
    return key


# --- conditions -----------------------------------------------------------------------------------


def condition_of(text: str) -> Any:
    """A condition from its text.

    Args:
        text: comparisons joined by ``and`` or by ``or``, or JSON.

    Returns:
        The condition as data. What is neither stays a text, so that ``form_of`` refuses it.
    """
    if text.startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    if len(text) > LONGEST_PARSED:
        return text
    for word, name in (("and", "all"), ("or", "any")):
        parts = re.split(rf"\s+{word}\s+", text)
        if len(parts) > 1:
            comparisons = [_comparison_of(part) for part in parts]
            return text if None in comparisons else {name: comparisons}
    return _comparison_of(text) or text


def condition_text(condition: Condition) -> str:
    """The text of a condition, which ``condition_of`` reads again.

    Args:
        condition: any condition.

    Returns:
        Comparisons where it is not nested, else JSON.
    """
    inner = condition.all or condition.any or (condition,)
    data = condition_data(condition)
    text = (" and " if condition.all else " or ").join(
        _comparison_text(one) for one in inner if one.question
    )
    return text if condition_of(text) == data else json.dumps(data, ensure_ascii=False)


def _comparison_of(text: str) -> Data | None:
    found = _COMPARISON.match(text)
    if found is None:
        return None
    question, sign, written = found.groups()
    if sign == "in":
        return {"question": question, "in": [_value(one.strip()) for one in written.split(",")]}
    return {"question": question, {"=": "is", "<": "below", ">": "above"}[sign]: _value(written)}


def _comparison_text(condition: Condition) -> str:
    if condition.below is not None:
        return f"{condition.question} < {condition.below}"
    if condition.above is not None:
        return f"{condition.question} > {condition.above}"
    values = [str(one).lower() if isinstance(one, bool) else str(one) for one in condition.one_of]
    return f"{condition.question} {'=' if len(values) == 1 else 'in'} {', '.join(values)}"


# --- steps ----------------------------------------------------------------------------------------


def new_question(kind: QuestionType, taken: set[str]) -> Data:
    """A question of a type, ready to be asked once its text is written.

    Args:
        kind: its type.
        taken: keys that other questions have.

    Returns:
        The question as data.
    """
    question: Data = {"key": _new_key(kind, taken), "type": kind, "text": _TEXTS[kind]}
    if kind == "scale":
        question["anchors"] = ["very bad", "very good"]
    if kind == "slider":
        question |= {"minimum": 0, "maximum": 100}
    if "options" in FIELDS[kind] and kind not in ("ranking", "best_worst"):
        question["options"] = [
            {"key": f"option_{number}", "label": f"Option {number}"} for number in (1, 2)
        ]
    return question


_TEXTS: dict[QuestionType, str] = {
    "scale": "How good is it?",
    "yes_no": "Is it good?",
    "choice": "Which fits best?",
    "choices": "Which of these apply?",
    "ranking": "Rank them, best first.",
    "best_worst": "Which is best, and which is worst?",
    "slider": "How good is it, from 0 to 100?",
    "text": "What do you think of it?",
    "span": "Where are errors?",
    "utterance_labels": "How is each utterance?",
    "correction": "How should it read?",
    "preference": "Which is better?",
}


def apply_action(data: Data, action: str) -> Data:
    """One step of an editor.

    Args:
        data: a form, maybe half done.
        action: ``add.TYPE``, ``up.NUMBER``, ``down.NUMBER``, ``copy.NUMBER`` or ``remove.NUMBER``
            of a question, from 0. The first goes no further up, the last no further down.

    Returns:
        The form after the step; the given one is left as it is.

    Raises:
        ValueError: there is no such step, type or question.
    """
    found = _ACTION.match(action)
    if found is None:
        raise ValueError(f"no step of the editor: {action[:40]!r}")
    step, number, kind = found.groups()
    questions = list(data.get("questions", ()))
    taken = {str(one.get("key")) for one in questions}
    if kind is not None:
        added = [new_question(one, taken) for one in TYPES if one == kind]
        if not added:
            raise ValueError(f"no type of questions: {kind[:40]!r}")
        return data | {"questions": [*questions, *added]}
    at = int(number)
    if at >= len(questions):
        raise ValueError(f"there is no question {at + 1}")
    if step == "copy":
        copied = questions[at] | {"key": _new_key(str(questions[at].get("key")), taken)}
        questions.insert(at + 1, copied)
    else:
        question = questions.pop(at)
        if step != "remove":
            questions.insert(max(0, at - 1) if step == "up" else at + 1, question)
    return data | {"questions": questions}


def rename_question(data: Data, old: str, new: str) -> Data:
    """Give a question another key, in the conditions that read it too.

    Args:
        data: a form.
        old: the key that it has.
        new: the key that it gets.

    Returns:
        The form with the new key; the given one is left as it is.
    """

    def renamed(condition: Any) -> Any:
        if isinstance(condition, list):
            return [renamed(one) for one in condition]
        if not isinstance(condition, dict):
            return condition
        return {
            name: renamed(value)
            if name in ("all", "any")
            else new
            if name == "question" and value == old
            else value
            for name, value in condition.items()
        }

    questions = []
    for question in data.get("questions", ()):
        changed = question | {"key": new} if question.get("key") == old else question
        if "when" in changed:
            changed = changed | {"when": renamed(changed["when"])}
        questions.append(changed)
    return data | {"questions": questions}
