"""Reading a form from YAML or JSON: every fault with its place, before anything is stored."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotations.questions.schema import (
    CANNOT_JUDGE,
    COMMON_FIELDS,
    FIELDS,
    LEVELS,
    RESERVED_KEYS,
    SCHEMA_VERSION,
    TYPES,
    Condition,
    Form,
    Number,
    Option,
    Question,
    Value,
    as_number,
)
from common.text import text_fault

MOST_CHARACTERS = 200_000
"""Characters of a form's file."""
MOST_QUESTIONS = 40
MOST_OPTIONS = 30
MOST_POINTS_OF_A_SCALE = 21
MOST_POINTS_OF_A_SLIDER = 1_001
MOST_CONDITIONS = 20
"""Comparisons within one question's condition."""
MOST_NESTED = 5
LONGEST_TEXT = 1_000
LONGEST_LABEL = 120
LONGEST_GUIDELINES = 20_000
LONGEST_ANSWER = 20_000
LARGEST_NUMBER = 1_000_000
LARGEST_VERSION = 1_000_000
MOST_FAULTS = 50
"""A file with more faults is another kind of file; the others are not listed."""

KEY = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
NAME = re.compile(r"[a-z0-9]++(?:-[a-z0-9]++)*+\Z")
FORM_FIELDS = (
    "schema",
    "name",
    "title",
    "level",
    "questions",
    "version",
    "citation",
    "description",
    "guidelines",
    "compares",
)


@dataclass(frozen=True, slots=True)
class Fault:
    """``path``: where, as ``questions[2].options[0].key`` counts, from 0; "" for the whole file."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class FormError(ValueError):
    """What is wrong with a form: ``faults``, each with its path and a sentence for a person."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


class _Refused(Exception):
    """One fault, while a part is read."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(text)
        self.fault = Fault(path, text)


# --- text -----------------------------------------------------------------------------------------


def read_text(text: str) -> Form:
    """Read a form from the text of a file.

    Args:
        text: YAML or JSON. YAML's aliases and tags are refused, and its words yes, no, on and off
            are texts, as in YAML 1.2.

    Returns:
        The checked form.

    Raises:
        FormError: with every fault that was found.
    """
    if len(text) > MOST_CHARACTERS:
        raise FormError(
            [Fault("", f"the form has more than {MOST_CHARACTERS:,} characters; shorten it")]
        )
    if fault := text_fault(text.removeprefix("\ufeff"), MOST_CHARACTERS):
        raise FormError([Fault("", f"the form {fault}")])
    return form_of(_parsed(text.removeprefix("\ufeff")))


def _parsed(text: str) -> Any:
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text, object_pairs_hook=_without_double_keys)
        return _yaml(text)
    except _Refused as refused:
        raise FormError([refused.fault]) from None
    except RecursionError:
        raise FormError([Fault("", "the form is nested too deeply")]) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise FormError([Fault("", f"the form is not JSON: {error.msg} ({where})")]) from None
    except ValueError:  # Python reads no number of thousands of digits
        raise FormError([Fault("", "the form has a number that is too long")]) from None


def _without_double_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            raise _Refused("", f"the key {key[:60]!r} stands twice in one object; keep one")
    return dict(pairs)


def _yaml(text: str) -> Any:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """YAML's safe types, of which texts, numbers, true, false and null are read from plain
        words."""

        yaml_implicit_resolvers: dict[str, Any] = {}

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1
                raise _Refused("", f"line {line} has an alias (*); write it out")
            if event.tag not in (None, "!"):
                raise _Refused("", f"line {event.start_mark.line + 1} has a tag (!); leave it out")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            pairs = [(self.construct_object(key, deep=True), key) for key, _ in node.value]
            for key, at in pairs:
                if not isinstance(key, str):
                    line = at.start_mark.line + 1
                    raise _Refused("", f"line {line}: the key {str(key)[:60]!r} must be a text")
            _without_double_keys([(key, None) for key, _ in pairs])
            return dict(super().construct_mapping(node, deep))

    plain = {
        "bool": (r"true|True|false|False", "tTfF"),
        "int": (r"-?[0-9]{1,18}", "-0123456789"),
        "float": (r"-?[0-9]{1,18}\.[0-9]{1,18}", "-0123456789"),
        "null": (r"null|~|", ["n", "~", ""]),
    }
    for name, (pattern, first) in plain.items():
        whole = re.compile(f"(?:{pattern})\\Z")
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", whole, list(first))
    try:
        return Loader(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        problem = f"the form is not YAML: {error.problem or 'it cannot be read'}{where}"
        raise _Refused("", problem[:300]) from None
    except yaml.YAMLError as error:
        raise _Refused("", f"the form is not YAML: {str(error)[:200]}") from None


# --- the form -------------------------------------------------------------------------------------


def form_of(data: object) -> Form:
    """Make a form of data and check it whole.

    Args:
        data: what YAML or JSON holds: ``schema``, ``name``, ``title``, ``level``, ``questions`` and
            the other fields of ``Form``.

    Returns:
        The form.

    Raises:
        FormError: with every fault that was found, each with its path: a field that is missing,
            unknown, of another type or too large, two questions of one key, a condition on an
            unknown or later question or in a loop, a form of a later format version.
    """
    try:
        data = _mapping(data, "")
        _check_version(data)
        _known_fields(data, "", FORM_FIELDS)
    except _Refused as refused:
        raise FormError([refused.fault]) from None
    faults: list[Fault] = []
    collected: dict[str, Any] = {}
    for name, read in _FORM_READERS.items():
        try:
            collected[name] = read(data, name)
        except _Refused as refused:
            faults.append(refused.fault)
    questions: list[Question] = []
    try:
        written = _list(data, "questions", "", 1, MOST_QUESTIONS, "questions")
    except _Refused as refused:
        written = []
        faults.append(refused.fault)
    for number, one in enumerate(written):
        try:
            questions.append(_question(one, f"questions[{number}]"))
        except _Refused as refused:
            faults.append(refused.fault)
    if not faults:
        form = Form(questions=tuple(questions), **collected)
        faults = form_faults(form)
    if faults:
        raise FormError(faults[:MOST_FAULTS])
    return form


def _check_version(data: Mapping[str, Any]) -> None:
    version = data.get("schema", SCHEMA_VERSION)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _Refused("schema", f"must be the version of the format, {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        raise _Refused(
            "schema",
            f"the form is written in version {str(version)[:20]} of the format; this site reads "
            f"versions up to {SCHEMA_VERSION}. Upgrade the site, or export the form from an older "
            "one",
        )


def _form_name(data: Mapping[str, Any], field: str) -> str:
    name = _text(data, field, "", 60)
    if not NAME.match(name):
        raise _Refused(field, "must be lower-case letters, digits and single hyphens, as usr-turn")
    return name


_FORM_READERS: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    "name": _form_name,
    "title": lambda data, field: _text(data, field, "", LONGEST_LABEL),
    "level": lambda data, field: _one_of(data, field, "", LEVELS),
    "version": lambda data, field: _integer(data, field, "", 1, LARGEST_VERSION, 1),
    "citation": lambda data, field: _text(data, field, "", LONGEST_TEXT, ""),
    "description": lambda data, field: _text(data, field, "", LONGEST_TEXT, ""),
    "guidelines": lambda data, field: _text(data, field, "", LONGEST_GUIDELINES, ""),
    "compares": lambda data, field: _one_of(
        data, field, "", ("response", "conversation"), "response"
    ),
}


# --- a question -----------------------------------------------------------------------------------


def _question(data: object, path: str) -> Question:
    data = _mapping(data, path)
    kind = _one_of(data, "type", path, TYPES)
    allowed = (*COMMON_FIELDS, *FIELDS[kind])
    _known_fields(data, path, allowed, f" of the type {kind}")
    collected: dict[str, Any] = {
        "key": _key(data, path),
        "type": kind,
        "text": _text(data, "text", path, LONGEST_TEXT),
        "title": _text(data, "title", path, LONGEST_LABEL, ""),
        "hint": _text(data, "hint", path, LONGEST_TEXT, ""),
        "required": _boolean(data, "required", path, True),
    }
    if data.get("when") is not None:
        collected["when"] = _condition(data["when"], f"{path}.when")
    for field in FIELDS[kind]:
        if field in data and field != "if_hidden":
            collected[field] = _FIELD_READERS[field](data, field, path)
    question = Question(**collected)
    _check_question(question, path)
    if data.get("if_hidden") is not None:
        if question.when is None:
            raise _Refused(f"{path}.if_hidden", "needs a condition (when) that can hide it")
        collected["if_hidden"] = _value_of(question, data["if_hidden"], f"{path}.if_hidden")
    return Question(**collected)


def question_of(data: object) -> Question:
    """Make one question of data, without a look at the others: neither its condition nor whether
    it fits a level is read.

    Args:
        data: as ``form_of`` takes it.

    Returns:
        The question.

    Raises:
        FormError: with the first fault.
    """
    try:
        alone = {
            name: value
            for name, value in _mapping(data, "").items()
            if name not in ("when", "if_hidden")
        }
        return _question(alone, "")
    except _Refused as refused:
        fault = refused.fault
        raise FormError([Fault(fault.path.removeprefix("."), fault.text)]) from None


def _key(data: Mapping[str, Any], path: str) -> str:
    key = _text(data, "key", path, 40)
    if not KEY.match(key):
        raise _Refused(
            f"{path}.key",
            "must be lower-case letters, digits and _, and begin with a letter, as uses_knowledge",
        )
    if key == CANNOT_JUDGE:
        raise _Refused(f"{path}.key", f"{CANNOT_JUDGE} is the answer of raters who cannot judge")
    return key


def _option(data: object, path: str) -> Option:
    data = _mapping(data, path)
    _known_fields(data, path, ("key", "label", "value"), " of an option")
    key = _key(data, path)
    label = _text(data, "label", path, LONGEST_LABEL, key.replace("_", " "))
    value = None if data.get("value") is None else _number(data, "value", path)
    return Option(key, label, value)


def _options(data: Mapping[str, Any], field: str, path: str) -> tuple[Option, ...]:
    at = f"{path}.{field}"
    least = 1 if field == "severities" else 2
    if field == "options" and data.get("type") in ("choices", "span", "utterance_labels"):
        least = 1
    written = _list(data, field, path, least, MOST_OPTIONS, "options")
    options = tuple(_option(one, f"{at}[{number}]") for number, one in enumerate(written))
    for name in ("key", "label"):
        for text, times in Counter(getattr(option, name) for option in options).items():
            if times > 1:
                raise _Refused(at, f"two options have the {name} {text!r}; give each its own")
    return options


def _texts(data: Mapping[str, Any], field: str, path: str) -> tuple[str, ...]:
    at = f"{path}.{field}"
    written = _list(data, field, path, 0, MOST_OPTIONS, "texts")
    return tuple(
        _text({"": text}, "", f"{at}[{number}]", LONGEST_LABEL)
        for number, text in enumerate(written)
    )


def _keys(data: Mapping[str, Any], field: str, path: str) -> tuple[str, ...]:
    keys = tuple(
        str(one) if isinstance(one, int) and not isinstance(one, bool) else one
        for one in _list(data, field, path, 0, MOST_OPTIONS, "keys")
    )
    for number, key in enumerate(keys):
        at = f"{path}.{field}[{number}]"
        if not isinstance(key, str) or not re.match(r"[a-z0-9]\Z", key):
            raise _Refused(at, "must be one lower-case letter a to z or one digit")
        if key in RESERVED_KEYS:
            raise _Refused(at, f"the key {key} is the rating page's own; choose another")
        if keys.index(key) < number:
            raise _Refused(at, f"the key {key} stands twice; give each answer its own")
    return keys


_FIELD_READERS: dict[str, Callable[[Mapping[str, Any], str, str], Any]] = {
    "minimum": lambda data, field, path: _number(data, field, path),
    "maximum": lambda data, field, path: _number(data, field, path),
    "step": lambda data, field, path: _number(data, field, path),
    "labels": _texts,
    "anchors": _texts,
    "interval": lambda data, field, path: _boolean(data, field, path, False),
    "cannot_judge": lambda data, field, path: _boolean(data, field, path, False),
    "options": _options,
    "severities": _options,
    "min_choices": lambda data, field, path: _integer(data, field, path, 0, MOST_OPTIONS, 0),
    "max_choices": lambda data, field, path: (
        None if data[field] is None else _integer(data, field, path, 1, MOST_OPTIONS, MOST_OPTIONS)
    ),
    "ties": lambda data, field, path: _boolean(data, field, path, False),
    "points": lambda data, field, path: _integer(data, field, path, 2, 7, 3),
    "both_bad": lambda data, field, path: _boolean(data, field, path, False),
    "max_length": lambda data, field, path: _integer(data, field, path, 1, LONGEST_ANSWER, 4_000),
    "keys": _keys,
}


def _check_question(question: Question, path: str) -> None:
    """What fields of one question say together."""
    kind = question.type
    if kind in ("scale", "slider"):
        _check_scale(question, path)
    if kind in ("choice", "choices", "span", "utterance_labels") and not question.options:
        raise _Refused(f"{path}.options", "is missing: list what can be chosen")
    if kind == "span" and 0 < sum(o.value is not None for o in question.severities) < len(
        question.severities
    ):
        raise _Refused(f"{path}.severities", "either all severities have a value, or none")
    with_value = sum(option.value is not None for option in question.options)
    if with_value and kind in ("ranking", "best_worst", "span"):
        raise _Refused(f"{path}.options", f"options of the type {kind} have no value")
    if with_value and kind == "utterance_labels" and question.max_choices != 1:
        raise _Refused(f"{path}.max_choices", "must be 1 where labels have a value")
    if kind in ("choice", "utterance_labels") and 0 < with_value < len(question.options):
        raise _Refused(f"{path}.options", "either all options have a value, or none")
    if kind == "choices" and question.options:
        values = [option.value for option in question.options if option.value is not None]
        if values and not any(value > 0 for value in values):
            raise _Refused(f"{path}.options", "at least one option must have a value above 0")
    if kind in ("choices", "utterance_labels"):
        most = question.max_choices or len(question.options)
        if question.min_choices > min(most, len(question.options)):
            raise _Refused(
                f"{path}.min_choices",
                f"at least {question.min_choices} cannot be chosen of {len(question.options)} "
                f"options, of which at most {most} may be",
            )
    if kind == "preference" and question.points not in (2, 3, 5, 7):
        raise _Refused(f"{path}.points", "must be 2 (A or B), 3 (with tie), 5 or 7 (graded)")
    if question.labels and len(question.labels) != len(question.values):
        raise _Refused(
            f"{path}.labels",
            f"has {len(question.labels)} texts for {len(question.values)} answers; give each one",
        )
    if question.anchors and len(question.anchors) != 2:
        raise _Refused(f"{path}.anchors", "must be two texts: of the lowest and the highest point")
    if question.labels and question.anchors:
        raise _Refused(f"{path}.anchors", "give either labels of all points or two anchors")
    if question.keys and len(question.keys) != len(question.values):
        raise _Refused(
            f"{path}.keys",
            f"has {len(question.keys)} keys for {len(question.values)} answers; give each one",
        )
    if question.cannot_judge and "x" in question.keys:
        raise _Refused(f"{path}.keys", "the key x is for raters who cannot judge; choose another")
    if question.cannot_judge and question.both_bad:
        raise _Refused(f"{path}.cannot_judge", "stands in the place of both bad; choose one")


def _check_scale(question: Question, path: str) -> None:
    low, high, step = (
        Decimal(str(one)) for one in (question.minimum, question.maximum, question.step)
    )
    if high <= low:
        raise _Refused(f"{path}.maximum", f"must be above the minimum, {question.minimum}")
    if step <= 0:
        raise _Refused(f"{path}.step", "must be above 0")
    if (high - low) % step:
        raise _Refused(
            f"{path}.step",
            f"steps of {question.step} from {question.minimum} do not end at {question.maximum}",
        )
    points = int((high - low) / step) + 1
    most = MOST_POINTS_OF_A_SCALE if question.type == "scale" else MOST_POINTS_OF_A_SLIDER
    if points > most:
        advice = "; use a slider or a larger step" if question.type == "scale" else ""
        raise _Refused(
            f"{path}.maximum",
            f"the {question.type} has {points:,} points; at most {most:,} are allowed{advice}",
        )


# --- conditions -----------------------------------------------------------------------------------


def _condition(data: object, path: str, depth: int = 1) -> Condition:
    data = _mapping(data, path)
    if depth > MOST_NESTED:
        raise _Refused(path, f"conditions are nested more than {MOST_NESTED} deep")
    for name in ("all", "any"):
        if name in data:
            _known_fields(data, path, (name,), f" beside {name}")
            written = _list(data, name, path, 1, MOST_CONDITIONS, "conditions")
            inner = tuple(
                _condition(one, f"{path}.{name}[{number}]", depth + 1)
                for number, one in enumerate(written)
            )
            condition = Condition(all=inner) if name == "all" else Condition(any=inner)
            if len(condition.questions) > MOST_CONDITIONS:
                raise _Refused(path, f"has more than {MOST_CONDITIONS} comparisons")
            return condition
    comparisons = ("is", "in", "below", "above")
    _known_fields(data, path, ("question", *comparisons), " of a condition")
    question = _text(data, "question", path, 40)
    found = [name for name in comparisons if name in data]
    if len(found) != 1:
        raise _Refused(path, "must have exactly one of is, in, below and above")
    if "below" in data:
        return Condition(question, below=_number(data, "below", path))
    if "above" in data:
        return Condition(question, above=_number(data, "above", path))
    values = [data["is"]] if "is" in data else _list(data, "in", path, 1, MOST_OPTIONS, "values")
    for value in values:
        if not isinstance(value, bool | int | float | str):
            raise _Refused(path, "compares with numbers, texts, true and false alone")
    return Condition(question, one_of=tuple(values))


def form_faults(form: Form) -> list[Fault]:
    """What the questions of a form say together: keys, conditions, and types that fit its level.

    Args:
        form: a form whose questions are right each by itself.

    Returns:
        The faults, in the order of the questions.
    """
    faults: list[Fault] = []
    first: dict[str, int] = {}
    for number, question in enumerate(form.questions):
        path = f"questions[{number}]"
        if question.key in first:
            faults.append(
                Fault(
                    f"{path}.key",
                    f"questions {first[question.key] + 1} and {number + 1} both have the key "
                    f"{question.key}; give each its own",
                )
            )
        first.setdefault(question.key, number)
        if fault := type_fault(question, form.level):
            faults.append(Fault(f"{path}.type", fault))
    if faults:
        return faults
    if loop := _loop(form):
        start = first[loop[0]]
        return [
            Fault(
                f"questions[{start}].when",
                "the conditions form a cycle: " + " → ".join((*loop, loop[0])),
            )
        ]
    for number, question in enumerate(form.questions):
        if question.when is not None:
            faults += _condition_faults(question.when, f"questions[{number}].when", number, form)
    return faults


def type_fault(question: Question, level: str) -> str:
    """Why a question cannot be asked about what an item is.

    Args:
        question: the question.
        level: of ``LEVELS``.

    Returns:
        A sentence; "" where it can.
    """
    kind = question.type
    if kind == "preference" and level != "pair":
        return "a preference needs the level pair"
    if kind in ("ranking", "best_worst") and not question.options and level != "systems":
        return f"without options, {kind} needs the level systems, whose responses are ranked"
    if kind == "utterance_labels" and level not in ("response", "conversation"):
        return "labels of utterances need the level response or conversation"
    if kind in ("correction", "span") and level in ("pair", "systems"):
        return f"the type {kind} needs one response or conversation, not the level {level}"
    if kind == "correction" and level == "conversation":
        return "a correction needs the level response or utterance"
    return ""


def _loop(form: Form) -> tuple[str, ...]:
    """The keys of questions whose conditions need each other; () where there are none."""
    reads = {
        question.key: question.when.questions if question.when else ()
        for question in form.questions
    }
    done: set[str] = set()
    for start in reads:
        way: list[str] = []
        waiting = [(start, iter(reads[start]))]
        while waiting:
            key, rest = waiting[-1]
            if key not in way:
                way.append(key)
            for needed in rest:
                if needed in way:
                    return tuple(way[way.index(needed) :])
                if needed in reads and needed not in done:
                    waiting.append((needed, iter(reads[needed])))
                    break
            else:
                waiting.pop()
                way.pop()
                done.add(key)
    return ()


def _condition_faults(condition: Condition, path: str, number: int, form: Form) -> list[Fault]:
    faults = []
    for name in ("all", "any"):
        for inner, one in enumerate(getattr(condition, name)):
            faults += _condition_faults(one, f"{path}.{name}[{inner}]", number, form)
    if not condition.question:
        return faults
    positions = {question.key: at for at, question in enumerate(form.questions)}
    at = positions.get(condition.question)
    if at is None:
        return [Fault(f"{path}.question", f"no question has the key {condition.question[:40]!r}")]
    if at > number:
        return [
            Fault(
                f"{path}.question",
                f"question {at + 1} ({condition.question}) is asked later; move it before "
                f"question {number + 1}",
            )
        ]
    other = form.questions[at]
    if condition.below is not None or condition.above is not None:
        if other.type not in ("scale", "slider"):
            return [Fault(path, f"below and above need a scale or slider; {other.key} is none")]
        return []
    if other.type not in ("scale", "slider", "yes_no", "choice", "choices", "preference"):
        return [Fault(path, f"answers of the type {other.type} are not compared in conditions")]
    for value in condition.one_of:
        try:
            _value_of(other, value, path)
        except _Refused as refused:
            faults.append(refused.fault)
    return faults


def _value_of(question: Question, value: object, path: str) -> Value:
    """One of the question's possible answers. ``1`` is not true, and ``true`` is not 1."""
    if value == CANNOT_JUDGE and question.cannot_judge:
        return CANNOT_JUDGE
    for possible in question.values:
        if value == possible and isinstance(value, bool) == isinstance(possible, bool):
            return possible
    shown = [str(one).lower() if isinstance(one, bool) else str(one) for one in question.values]
    listed = ", ".join(shown[:10]) + (", …" if len(shown) > 10 else "")
    raise _Refused(path, f"{str(value)[:40]!r} is no answer to {question.key}: {listed}")


# --- single values --------------------------------------------------------------------------------


def _join(path: str, field: str) -> str:
    return f"{path}.{field}" if path and field else path or field


def _mapping(data: object, path: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise _Refused(path, f"must be a mapping of fields, not {_kind(data)}")
    for key in data:
        if not isinstance(key, str):
            raise _Refused(path, f"the field {str(key)[:40]!r} must be a text")
    return data


def _known_fields(
    data: Mapping[str, Any], path: str, allowed: Sequence[str], of_what: str = ""
) -> None:
    for field in data:
        if field not in allowed:
            raise _Refused(
                _join(path, field[:40]),
                f"is no field{of_what}; there are {', '.join(allowed)}",
            )


def _list(
    data: Mapping[str, Any], field: str, path: str, least: int, most: int, what: str
) -> Sequence[Any]:
    value = data.get(field)
    at = _join(path, field)
    if field not in data:
        raise _Refused(at, f"is missing: list the {what}")
    if not isinstance(value, list | tuple):
        raise _Refused(at, f"must be a list of {what}, not {_kind(value)}")
    if len(value) < least:
        raise _Refused(at, f"must list at least {least} {what if least > 1 else 'of them'}")
    if len(value) > most:
        raise _Refused(at, f"has {len(value):,} {what}; at most {most} are allowed")
    return value


def _text(
    data: Mapping[str, Any], field: str, path: str, limit: int, default: str | None = None
) -> str:
    at = _join(path, field)
    if data.get(field) is None:
        if default is None:
            raise _Refused(at, "is missing: a text is needed")
        return default
    value = data[field]
    if not isinstance(value, str):
        raise _Refused(at, f"must be a text, not {_kind(value)}")
    value = value.replace("\r\n", "\n").strip()
    if fault := text_fault(value, limit, may_be_empty=default is not None):
        raise _Refused(at, fault)
    return value


def _one_of(
    data: Mapping[str, Any],
    field: str,
    path: str,
    choices: Sequence[str],
    default: str | None = None,
) -> Any:
    value = data.get(field, default)
    at = _join(path, field)
    if value is None:
        raise _Refused(at, f"is missing: one of {', '.join(choices)}")
    if value not in choices:
        raise _Refused(at, f"{str(value)[:40]!r} is none of {', '.join(choices)}")
    return value


def _boolean(data: Mapping[str, Any], field: str, path: str, default: bool) -> bool:
    value = data.get(field, default)
    if not isinstance(value, bool):
        raise _Refused(_join(path, field), f"must be true or false, not {_kind(value)}")
    return value


def _number(data: Mapping[str, Any], field: str, path: str) -> Number:
    value = data.get(field)
    at = _join(path, field)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Refused(at, f"must be a number, not {_kind(value)}")
    if not abs(value) <= LARGEST_NUMBER:  # nor is NaN
        raise _Refused(at, f"must lie between −{LARGEST_NUMBER:,} and {LARGEST_NUMBER:,}")
    exact = Decimal(str(value))
    if exact != round(exact, 6):
        raise _Refused(at, "may have six decimals at most")
    return as_number(exact)


def _integer(
    data: Mapping[str, Any], field: str, path: str, least: int, most: int, default: int
) -> int:
    value = data.get(field, default)
    at = _join(path, field)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Refused(at, f"must be a whole number, not {_kind(value)}")
    if not least <= value <= most:
        raise _Refused(at, f"must lie between {least:,} and {most:,}")
    return value


def _kind(value: object) -> str:
    """What a value is, in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list | tuple) else "a mapping"
