"""The visual editor of a form: a draft's questions as cards, of which one is open with its fields.

What a draft is and how it changes is in ``annotations.questions.drafts``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.question_view import Choice, question_views
from annotations.questions.drafts import COMPARED, Draft, comparisons, place_of
from annotations.questions.reading import Fault, FormError, question_of, type_fault
from annotations.questions.schema import (
    CANNOT_JUDGE,
    FIELDS,
    TYPES,
    Form,
    Level,
    Option,
    Question,
    encoded,
)

TYPE_NAMES = {
    "scale": gettext_lazy("Scale"),
    "slider": gettext_lazy("Slider"),
    "yes_no": gettext_lazy("Yes or no"),
    "choice": gettext_lazy("One choice"),
    "choices": gettext_lazy("Several choices"),
    "preference": gettext_lazy("Preference"),
    "ranking": gettext_lazy("Ranking"),
    "best_worst": gettext_lazy("Best and worst"),
    "utterance_labels": gettext_lazy("Labels of utterances"),
    "span": gettext_lazy("Marked spans"),
    "text": gettext_lazy("Free text"),
    "correction": gettext_lazy("Correction"),
}
FIELD_NAMES = {
    "title": gettext_lazy("Title"),
    "name": gettext_lazy("Name"),
    "level": gettext_lazy("Level"),
    "citation": gettext_lazy("Citation"),
    "description": gettext_lazy("Description"),
    "guidelines": gettext_lazy("Guidelines, in Markdown"),
    "key": gettext_lazy("Key in files"),
    "text": gettext_lazy("Question"),
    "type": gettext_lazy("Type"),
    "when": gettext_lazy("When it is asked"),
    "hint": gettext_lazy("Hint below the question"),
    "minimum": gettext_lazy("Lowest point"),
    "maximum": gettext_lazy("Highest point"),
    "step": gettext_lazy("Step"),
    "labels": gettext_lazy("Labels, one a line for each answer"),
    "anchors": gettext_lazy("Text at the lowest and at the highest end"),
    "interval": gettext_lazy("Differences between points mean the same everywhere"),
    "cannot_judge": gettext_lazy("“Cannot judge” may be answered"),
    "options": gettext_lazy("Options"),
    "severities": gettext_lazy("Severities, from light to grave"),
    "min_choices": gettext_lazy("Choices at least"),
    "max_choices": gettext_lazy("Choices at most"),
    "ties": gettext_lazy("Two may have the same rank"),
    "points": gettext_lazy("Answers"),
    "both_bad": gettext_lazy("“Both are bad” may be answered"),
    "max_length": gettext_lazy("Characters at most"),
    "keys": gettext_lazy("Keys of the keyboard, one for each answer"),
    "if_hidden": gettext_lazy("Where it is not asked it counts as"),
}
POINTS = {
    "2": gettext_lazy("first or second"),
    "3": gettext_lazy("first, tie, second"),
    "5": gettext_lazy("five, graded"),
    "7": gettext_lazy("seven, graded"),
}
_NUMBERS = ("minimum", "maximum", "step", "min_choices", "max_choices", "max_length")
_FLAGS = ("interval", "cannot_judge", "ties", "both_bad")


@dataclass(frozen=True, slots=True)
class Control:
    """One field: ``kind`` says which control (text, lines, number, flag, select, ends, rows).
    ``rows``: options, and an empty one. ``faults``: what is wrong with it."""

    name: str
    label: str
    kind: str
    value: str = ""
    values: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    rows: tuple[Mapping[str, str], ...] = ()
    has_values: bool = False
    placeholder: str = ""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A row of a condition."""

    place: str
    questions: tuple[Choice, ...]
    how: str
    hows: tuple[Choice, ...]
    number: str
    values: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """A question of the draft. Its fields stand in it where it is open."""

    number: int
    place: str
    title: str
    key: str
    type: str
    condition: str
    faults: tuple[str, ...]
    is_open: bool
    is_first: bool
    is_last: bool
    types: tuple[Choice, ...] = ()
    text: str = ""
    is_required: bool = True
    controls: tuple[Control, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    joined: str = ""
    """How several comparisons are joined; "" of a condition that only the YAML can say."""
    faults_by_field: Mapping[str, tuple[str, ...]] | None = None

    @property
    def name(self) -> str:
        return self.title or self.text or self.key


def cards(draft: Draft, at: str, faults: Sequence[Fault]) -> list[Card]:
    """``at``: which is open, as ``drafts.with_fields`` takes it."""
    by_question: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for fault in faults:
        number, field = place_of(fault)
        if number is not None:
            by_question[number][field].append(fault.text)
    last = len(draft["questions"]) - 1
    return [
        _card(draft, number, str(number) == at, by_question[number], last)
        for number in range(last + 1)
    ]


def about_form(draft: Draft, levels: Sequence[Level], faults: Sequence[Fault]) -> list[Control]:
    """The form's own fields."""
    by_field = defaultdict(list)
    for fault in faults:
        by_field[fault.path].append(fault.text)
    controls = []
    for name in ("title", "name", "level", "description", "citation", "guidelines"):
        if name == "level" and len(levels) < 2:
            continue
        kind = {"level": "select", "title": "text", "name": "text"}.get(name, "lines")
        value = _text(draft.get(name))
        choices = tuple(Choice(one, one, is_chosen=one == value) for one in levels)
        controls.append(
            Control(
                name,
                str(FIELD_NAMES[name]),
                kind,
                value,
                choices=choices if name == "level" else (),
                faults=tuple(by_field[name]),
            )
        )
    return controls


def types_to_add(level: str) -> list[Choice]:
    """The types that fit the level."""
    two = (Option("a", "a"), Option("b", "b"))
    return [
        Choice(kind, str(name))
        for kind, name in TYPE_NAMES.items()
        if not type_fault(Question("a", kind, "a", options=two), level)  # type: ignore[arg-type]
    ]


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else ""


def _card(
    draft: Draft, number: int, is_open: bool, by_field: Mapping[str, Sequence[str]], last: int
) -> Card:
    data = draft["questions"][number]
    kind = _text(data.get("type"))
    found = comparisons(data.get("when"))
    faults = {field: tuple(texts) for field, texts in by_field.items()}
    controls = tuple(_controls(data, kind, faults)) if is_open else ()
    shown = {one.name for one in controls} | {"type", "text", "key", "when"}
    card = Card(
        number + 1,
        str(number),
        _text(data.get("title")),
        _text(data.get("key")),
        str(TYPE_NAMES.get(kind, kind)),
        _in_words(found),
        tuple(
            f"{FIELD_NAMES.get(field, field)}: {text}" if field else text
            for field, texts in faults.items()
            for text in texts
            if not is_open or field not in shown
        ),
        is_open,
        number == 0,
        number == last,
        text=_text(data.get("text")),
        faults_by_field=faults,
    )
    if not is_open:
        return card
    level = _text(draft.get("level"))
    offered = {one.value: one for one in types_to_add(level)}
    if kind in TYPES:
        offered.setdefault(kind, Choice(kind, str(TYPE_NAMES[kind])))
    return replace(
        card,
        types=tuple(
            Choice(one.value, one.label, is_chosen=one.value == kind) for one in offered.values()
        ),
        is_required=data.get("required", True) is not False,
        controls=controls,
        comparisons=() if found is None else tuple(_comparisons(draft, number, found[1])),
        joined="" if found is None else found[0],
    )


def _controls(
    data: Mapping[str, Any], kind: str, by_field: Mapping[str, tuple[str, ...]]
) -> Iterator[Control]:
    """Those of the type, with what the draft has."""
    try:
        question = question_of(data)
    except FormError:
        question = None
    yield _control("title", "text", data, by_field, placeholder=_text(data.get("key")))
    yield _control("hint", "text", data, by_field)
    for name in FIELDS.get(kind, ()):  # type: ignore[call-overload]
        if name == "anchors":
            ends = data.get(name)
            values = tuple(map(_text, ends)) if isinstance(ends, list) else ()
            yield Control(
                name,
                str(FIELD_NAMES[name]),
                "ends",
                values=(*values, "", "")[:2],
                faults=by_field.get(name, ()),
            )
        elif name in ("options", "severities"):
            rows = data.get(name)
            yield Control(
                name,
                str(FIELD_NAMES[name]),
                "rows",
                rows=tuple(_row(one) for one in [*(rows if isinstance(rows, list) else ()), {}]),
                has_values=name == "severities"
                or kind in ("choice", "choices", "utterance_labels"),
                faults=by_field.get(name, ()),
            )
        elif name in ("labels", "keys"):
            given = data.get(name)
            texts = map(_text, given) if isinstance(given, list) else ()
            yield Control(
                name,
                str(FIELD_NAMES[name]),
                "lines" if name == "labels" else "text",
                ("\n" if name == "labels" else " ").join(texts),
                placeholder=" ".join(question.keyboard.values())
                if name == "keys" and question
                else "",
                faults=by_field.get(name, ()),
            )
        elif name == "points":
            chosen = _text(data.get(name, 3))
            yield Control(
                name,
                str(FIELD_NAMES[name]),
                "select",
                choices=tuple(
                    Choice(value, str(label), is_chosen=value == chosen)
                    for value, label in POINTS.items()
                ),
                faults=by_field.get(name, ()),
            )
        elif name == "if_hidden":
            if data.get("when") is not None and question is not None:
                yield _if_hidden(question, data, by_field)
        elif name in _FLAGS:
            yield _control(name, "flag", data, by_field)
        elif name in _NUMBERS:
            default = getattr(Question("a", "scale", "a"), name)
            yield _control(name, "number", data, by_field, placeholder=_text(default))


def _control(
    name: str,
    kind: str,
    data: Mapping[str, Any],
    by_field: Mapping[str, tuple[str, ...]],
    placeholder: str = "",
) -> Control:
    value = data.get(name)
    text = "1" if value is True else "" if value is False else _text(value)
    label = _("Short name in tables") if name == "title" else str(FIELD_NAMES[name])
    return Control(name, label, kind, text, placeholder=placeholder, faults=by_field.get(name, ()))


def _if_hidden(
    question: Question, data: Mapping[str, Any], by_field: Mapping[str, tuple[str, ...]]
) -> Control:
    chosen = data.get("if_hidden")
    now = "" if chosen is None else encoded(chosen)
    choices = [Choice("", _("no answer"))] + [
        Choice(one.value, _full(one), is_chosen=one.value == now) for one in _answers(question)
    ]
    return Control(
        "if_hidden",
        str(FIELD_NAMES["if_hidden"]),
        "select",
        choices=tuple(choices),
        faults=by_field.get("if_hidden", ()),
    )


def _row(option: object) -> dict[str, str]:
    data = option if isinstance(option, Mapping) else {}
    return {name: _text(data.get(name)) for name in ("key", "label", "value")}


def _answers(question: Question) -> list[Choice]:
    """What may be answered, in the rater's words."""
    form = Form("a", "a", "response", (question,))
    return [one for one in question_views(form)[0].choices if one.value]


def _full(choice: Choice) -> str:
    return f"{choice.label} ({choice.small})" if choice.small else choice.label


# --- conditions -----------------------------------------------------------------------------------


def _in_words(found: tuple[str, list[dict[str, Any]]] | None) -> str:
    if found is None:
        return _("asked by a condition of several levels")
    joined, rows = found
    words = [
        _("%(question)s is below %(number)s")
        % {"question": row["question"], "number": row["below"]}
        if "below" in row
        else _("%(question)s is above %(number)s")
        % {"question": row["question"], "number": row["above"]}
        if "above" in row
        else _("%(question)s is %(values)s")
        % {"question": row["question"], "values": _or(row.get("in", [row.get("is")]))}
        for row in rows
    ]
    text = (_(" or ") if joined == "any" else _(" and ")).join(words)
    return _("asked if %(condition)s") % {"condition": text} if text else ""


def _or(values: object) -> str:
    listed = values if isinstance(values, list) else [values]
    return _(" or ").join(encoded(one) for one in listed if one is not None) or "…"


def _comparisons(
    draft: Draft, number: int, rows: Sequence[Mapping[str, Any]]
) -> Iterator[Comparison]:
    """Those that there are, and an empty one."""
    earlier = {
        _text(one.get("key")): one
        for one in draft["questions"][:number]
        if one.get("type") in COMPARED
    }
    for place, row in enumerate([*rows, {}]):
        key = _text(row.get("question"))
        other = earlier.get(key, {})
        names = {one: _text(data.get("title")) or one for one, data in earlier.items()}
        if key and key not in names:
            names[key] = key  # it is gone, or asked later: the fault says so
        hows = [("is", _("is one of"))]
        if other.get("type") in ("scale", "slider") or "below" in row or "above" in row:
            hows += [("below", _("is below")), ("above", _("is above"))]
        how = next((name for name in ("below", "above") if name in row), "is")
        if other.get("type") == "slider":
            hows, how = hows[1:], "below" if how == "is" else how
        yield Comparison(
            str(place),
            tuple(Choice(one, name, is_chosen=one == key) for one, name in names.items()),
            how if key else "",
            tuple(Choice(one, word, is_chosen=one == how) for one, word in hows),
            _text(row.get(how)) if how != "is" else "",
            tuple(_compared(other, row)) if how == "is" and key else (),
        )


def _compared(other: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[Choice]:
    """The other question's answers, ticked as the condition has them; also those of its values that
    are no answers any more."""
    given = row["in"] if isinstance(row.get("in"), list) else [row.get("is")]
    chosen = {encoded(one) for one in given if one is not None}
    try:
        answers = _answers(question_of(other))
    except FormError:
        answers = []
    for one in answers:
        yield Choice(one.value, _full(one), is_chosen=one.value in chosen)
    for value in sorted(chosen - {one.value for one in answers} - {CANNOT_JUDGE}):
        yield Choice(value, value, is_chosen=True)
