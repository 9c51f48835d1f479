"""A form while it is being edited: data that need not be right yet, changed one step at a time.

Pure. ``reading.form_of`` checks a draft as it checks a file; nothing here refuses a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotations.questions.reading import (
    MOST_CHARACTERS,
    MOST_QUESTIONS,
    Fault,
    FormError,
    form_of,
    question_of,
)
from annotations.questions.schema import (
    CANNOT_JUDGE,
    FIELDS,
    TYPES,
    Form,
    Value,
    canonical_json,
    encoded,
)

Draft = dict[str, Any]
"""As ``schema.to_data``; ``questions`` is a list of mappings, whatever these hold."""
Fields = Mapping[str, Sequence[str]]
"""Values by field name, as a web form sends them."""

FORM = "form"
"""In place of a question's number: the form's own fields."""
MOVES = ("up", "down", "duplicate", "remove")
ABOUT_FORM = ("title", "name", "level", "citation", "description", "guidelines")
COMPARED = ("scale", "slider", "yes_no", "choice", "choices", "preference")
"""Types whose answers conditions compare with."""
_TEXTS = ("title", "hint")
_NUMBERS = ("minimum", "maximum", "step", "min_choices", "max_choices", "points", "max_length")
_FLAGS = ("interval", "cannot_judge", "ties", "both_bad")
_OPTIONS = ("options", "severities")
_INTEGER = re.compile(r"-?[0-9]{1,18}\Z")
_DECIMAL = re.compile(r"-?[0-9]{1,18}\.[0-9]{1,18}\Z")
_PLACE = re.compile(r"([0-9]{1,4})(?:\.(options|severities)\.([0-9]{1,4}))?\Z")
_NUMBERED = re.compile(r"questions\[([0-9]+)\]\.?([a-z_]*)")


def read_draft(text: str) -> Draft:
    """A draft as ``write_draft`` wrote it.

    Args:
        text: JSON.

    Returns:
        The draft.

    Raises:
        FormError: it is not a draft's JSON, or too long.
    """
    if len(text) > MOST_CHARACTERS:
        fault = f"the form has more than {MOST_CHARACTERS:,} characters; shorten it"
        raise FormError([Fault("", fault)])
    try:
        draft = json.loads(text)
    except (ValueError, RecursionError):
        draft = None
    if not isinstance(draft, dict) or not isinstance(draft.get("questions"), list):
        raise FormError([Fault("", "the questions came incomplete; load the page again")])
    if not all(isinstance(one, dict) for one in draft["questions"]):
        raise FormError([Fault("questions", "must be mappings of fields")])
    return draft


def write_draft(draft: Draft) -> str:
    """The draft as JSON, for the page that sends it back."""
    return canonical_json(draft)


def faults_of(draft: Draft) -> list[Fault]:
    """What stands against the draft as a form; [] where nothing does."""
    try:
        form_of(draft)
    except FormError as error:
        return list(error.faults)
    return []


def place_of(fault: Fault) -> tuple[int | None, str]:
    """The question that a fault concerns, from 0, and its field.

    Args:
        fault: with a path as ``questions[2].options[0].key``.

    Returns:
        (2, "options"); (None, the path) of a fault of the form itself.
    """
    found = _NUMBERED.match(fault.path)
    return (int(found[1]), found[2]) if found else (None, fault.path)


def readable_part(draft: Draft) -> Form | None:
    """The form of those questions that have no fault, for a preview.

    Args:
        draft: any draft.

    Returns:
        The form; None where no question can be shown.
    """
    head = {"name": "preview", "title": "Preview"}
    head |= {name: draft[name] for name in ("level", "compares") if name in draft}
    questions = draft["questions"][:MOST_QUESTIONS]
    while questions:
        try:
            return form_of({**head, "questions": questions})
        except FormError as error:
            faulty = {place_of(fault)[0] for fault in error.faults}
            if None in faulty:
                return None
            questions = [one for number, one in enumerate(questions) if number not in faulty]
    return None


# --- steps ----------------------------------------------------------------------------------------


def with_question(draft: Draft, kind: str) -> Draft:
    """The draft with another question at its end.

    Args:
        draft: any draft.
        kind: the type; one that there is not makes a scale.

    Returns:
        The new draft. Its question has a key of its own and whatever the type cannot do without.
    """
    kind = kind if kind in TYPES else "scale"
    question: dict[str, Any] = {
        "key": _free_key(draft, f"question_{len(draft['questions']) + 1}"),
        "type": kind,
        "text": "",
    }
    _complete(question, str(draft.get("level", "")))
    return {**draft, "questions": [*draft["questions"], question]}


def moved(draft: Draft, step: str, where: str) -> tuple[Draft, int]:
    """Move, duplicate or remove a question, or an option of one.

    Args:
        draft: any draft.
        step: of ``MOVES``.
        where: a question's number from 0, as ``2``, or an option of it, as ``2.options.0``.

    Returns:
        The new draft, and where the thing, or what followed it, is now in its list. What is not
        there is not moved.
    """
    found = _PLACE.match(where)
    if found is None or int(found[1]) >= len(draft["questions"]):
        return draft, 0
    if found[2] is None:
        questions, at = _in_list(draft["questions"], step, int(found[1]))
        if step == "duplicate":
            copy = questions[at]
            questions[at] = {**copy, "key": _free_key(draft, str(copy.get("key", "question")))}
        return {**draft, "questions": questions}, at
    number, name = int(found[1]), found[2]
    question = draft["questions"][number]
    options = question.get(name)
    if not isinstance(options, list) or int(found[3]) >= len(options):
        return draft, 0
    options, at = _in_list(options, step, int(found[3]))
    return _replaced(draft, number, {**question, name: options}), at


def _in_list(rows: list[Any], step: str, at: int) -> tuple[list[Any], int]:
    rows = list(rows)
    one = rows.pop(at)
    if step == "remove":
        return rows, min(at, len(rows) - 1)
    if step == "duplicate":
        rows[at:at] = [one, one]
        return rows, at + 1
    to = max(0, at - 1) if step == "up" else min(len(rows), at + 1)
    rows.insert(to, one)
    return rows, to


def _replaced(draft: Draft, number: int, question: Mapping[str, Any]) -> Draft:
    questions = list(draft["questions"])
    questions[number] = question
    return {**draft, "questions": questions}


def _free_key(draft: Draft, wished: str) -> str:
    taken = [one.get("key") for one in draft["questions"]]
    begin, number, key = wished[:36], 2, wished
    while key in taken:
        key, number = f"{begin}_{number}", number + 1
    return key


def _complete(question: dict[str, Any], level: str) -> None:
    """Give it what its type needs to be one, and take away what its type does not have."""
    kind = question["type"]
    for name in [one for one in question if one in _OF_TYPES and one not in FIELDS[kind]]:
        del question[name]
    least = 2 if kind in ("choice", "ranking", "best_worst") else 1
    needs = kind in ("choice", "choices", "span", "utterance_labels")
    needs = needs or (kind in ("ranking", "best_worst") and level != "systems")
    if needs and not question.get("options"):
        question["options"] = [
            {"key": f"option_{number}", "label": f"Option {number}"}
            for number in range(1, least + 1)
        ]


_OF_TYPES = {name for names in FIELDS.values() for name in names}


# --- what an editor's fields say ------------------------------------------------------------------


def with_fields(draft: Draft, at: str, fields: Fields) -> Draft:
    """The draft with what was typed into the part that was open.

    Args:
        draft: any draft.
        at: the number of a question from 0, ``FORM``, or "" where nothing was open.
        fields: its fields: ``type``, ``key``, ``text`` and the others under their names in the
            schema; ``options.0.key`` and so on, of which empty ones are left out; ``labels`` one a
            line; ``keys`` with blanks between; ``when.0.question``, ``when.0.how`` (is, below,
            above), ``when.0.value`` (repeated, of ``is``), ``when.0.number`` and ``when.joined``
            (all, any). Numbers that are none stay texts, for ``form_of`` to refuse.

    Returns:
        The new draft. Where the question's key is another one, conditions on it follow.
    """
    if at == FORM:
        typed = {name: _last(fields, name) for name in ABOUT_FORM if name in fields}
        return {**draft, **{name: text for name, text in typed.items() if text or name in draft}}
    if not at.isdecimal() or len(at) > 4 or int(at) >= len(draft["questions"]):
        return draft
    number = int(at)
    before = draft["questions"][number]
    question = _question(draft, number, fields)
    draft = _replaced(draft, number, question)
    old, new = before.get("key"), question["key"]
    was_its_own = [one.get("key") for one in draft["questions"]].count(old) == 0
    if old == new or not isinstance(old, str) or not was_its_own:
        return draft
    return {**draft, "questions": [_following(one, old, new) for one in draft["questions"]]}


def _question(draft: Draft, number: int, fields: Fields) -> dict[str, Any]:
    before = draft["questions"][number]
    kind = _last(fields, "type") or str(before.get("type", ""))
    text, title = _last(fields, "text"), _last(fields, "title")
    key = _last(fields, "key") or _key_from(title or text) or f"question_{number + 1}"
    question: dict[str, Any] = {"key": key, "type": kind, "text": text}
    question |= {name: typed for name in _TEXTS if (typed := _last(fields, name))}
    if "required" not in fields:
        question["required"] = False
    if (when := _condition(draft, number, before, fields)) is not None:
        question["when"] = when
    question |= {name: _number(typed) for name in _NUMBERS if (typed := _last(fields, name))}
    question |= {name: True for name in _FLAGS if name in fields}
    question |= {name: rows for name in _OPTIONS if (rows := _option_rows(name, fields))}
    lines = _last(fields, "labels").splitlines()
    if labels := [line.strip() for line in lines if line.strip()]:
        question["labels"] = labels
    anchors = [_last(fields, f"anchors.{end}") for end in (0, 1)]
    if any(anchors):
        question["anchors"] = anchors
    if keys := _last(fields, "keys").split():
        question["keys"] = keys
    if kind in TYPES:
        _complete(question, str(draft.get("level", "")))
        if (
            when is not None
            and "if_hidden" in FIELDS[kind]
            and (typed := _last(fields, "if_hidden"))
        ):
            question["if_hidden"] = _values(question, [typed])[0]
    return question


def _last(fields: Fields, name: str) -> str:
    values = fields.get(name)
    return values[-1].replace("\r\n", "\n").strip() if values else ""


def _number(text: str) -> int | float | str:
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _DECIMAL.match(text) else text


def _key_from(text: str) -> str:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return re.sub(r"\A[0-9_]+", "", "_".join(words[:4]))[:40]


def _option_rows(name: str, fields: Fields) -> list[dict[str, Any]]:
    count = sum(field.startswith(f"{name}.") and field.endswith(".key") for field in fields)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        key, label, value = (
            _last(fields, f"{name}.{number}.{part}") for part in ("key", "label", "value")
        )
        if not (key or label or value):
            continue
        row: dict[str, Any] = {"key": key or _key_from(label) or f"option_{number + 1}"}
        row |= {"label": label} if label else {}
        row |= {"value": _number(value)} if value else {}
        rows.append(row)
    return rows


def _condition(
    draft: Draft, number: int, before: Mapping[str, Any], fields: Fields
) -> dict[str, Any] | None:
    if "when.kept" in fields:
        return before.get("when")
    found: list[dict[str, Any]] = []
    for row in range(sum(re.fullmatch(r"when\.\d+\.question", one) is not None for one in fields)):
        key = _last(fields, f"when.{row}.question")
        if not key:
            continue
        how = _last(fields, f"when.{row}.how")
        if how in ("below", "above"):
            found.append({"question": key, how: _number(_last(fields, f"when.{row}.number"))})
            continue
        earlier = draft["questions"][:number]
        other: dict[str, Any] = next((one for one in earlier if one.get("key") == key), {})
        values = _values(other, fields.get(f"when.{row}.value", ()))
        compared: dict[str, Any] = {"is": values[0]} if len(values) == 1 else {"in": values}
        found.append({"question": key, **compared})
    if len(found) > 1:
        return {"any" if _last(fields, "when.joined") == "any" else "all": found}
    return found[0] if found else None


def _values(question: Mapping[str, Any], given: Sequence[str]) -> list[Value]:
    """The answers to a question that an editor's values stand for; others as they are."""
    try:
        possible = (*question_of(question).values, CANNOT_JUDGE)
    except FormError:
        possible = ()
    by_text: dict[str, Value] = {encoded(one): one for one in possible}
    return [by_text.get(one, _number(one)) for one in given]


def comparisons(when: object) -> tuple[str, list[dict[str, Any]]] | None:
    """A condition as an editor's rows show it.

    Args:
        when: a condition as data.

    Returns:
        ``all`` or ``any``, and the comparisons; None where it is more than one list of them.
    """
    if when is None:
        return "all", []
    if not isinstance(when, dict):
        return None
    joined = next((name for name in ("all", "any") if name in when), "all")
    rows = when.get(joined, [when])
    plain = isinstance(rows, list) and all(
        isinstance(row, dict) and isinstance(row.get("question"), str) for row in rows
    )
    return (joined, rows) if plain else None


def _following(question: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    changed = {"when": _renamed(question["when"], old, new)} if "when" in question else {}
    return {**question, **changed}


def _renamed(when: Any, old: str, new: str) -> Any:
    if isinstance(when, list):
        return [_renamed(one, old, new) for one in when]
    if not isinstance(when, dict):
        return when
    return {
        name: new
        if name == "question" and value == old
        else _renamed(value, old, new)
        if name in ("all", "any")
        else value
        for name, value in when.items()
    }
