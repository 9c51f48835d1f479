"""The form schema: what a form and its questions hold, and what follows from a question's type.

Forms are made by ``annotations.questions.reading``, which checks them; the dataclasses here check
nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from typing import Any, Literal, get_args

SCHEMA_VERSION = 1
"""The version of the format. A form of a later one is refused."""

Level = Literal["utterance", "response", "conversation", "pair", "systems"]
LEVELS: tuple[Level, ...] = get_args(Level)
QuestionType = Literal[
    "scale",
    "yes_no",
    "choice",
    "choices",
    "ranking",
    "best_worst",
    "slider",
    "text",
    "span",
    "utterance_labels",
    "correction",
    "preference",
]
TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
Measurement = Literal["nominal", "ordinal", "interval", "ranking", "preference", "text"]
Comparison = Literal["means", "shares", "mean ranks", "win rates", "none"]
Exported = Literal["rating", "label", "preference"]
"""The record of a corpus that an answer becomes (``annotations.formats.records``)."""
Number = int | float
Value = bool | Number | str
"""An answer that is one value: what conditions compare with and keys stand for."""

CANNOT_JUDGE = "cannot_judge"
"""The answer of a rater who cannot judge, where a question allows it."""
RESERVED_KEYS = frozenset("cfgs")
"""Keys of the rating page itself: comment, flag, guidelines, skip."""


@dataclass(frozen=True, slots=True)
class Option:
    """``key`` stands in answers and files, ``label`` on the page. ``value``: the number that it
    counts in a score (of a label, points of a criterion, penalty of a severity), if any."""

    key: str
    label: str
    value: Number | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """When a question is asked. Either one comparison with the answer to ``question`` (exactly one
    of ``one_of``, ``below``, ``above`` is set), or all or any of other conditions.

    ``one_of``: from ``is`` or ``in``; of multiple choice, one of the chosen options is enough.
    """

    question: str = ""
    one_of: tuple[Value, ...] = ()
    below: Number | None = None
    above: Number | None = None
    all: tuple[Condition, ...] = ()
    any: tuple[Condition, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """Keys of the questions that it reads."""
        inner = tuple(key for one in (*self.all, *self.any) for key in one.questions)
        return (self.question, *inner) if self.question else inner


@dataclass(frozen=True, slots=True)
class Question:
    """One question. Which fields a type has is in ``FIELDS``; the others keep their defaults.

    ``text``: what is asked. ``title``: its short name in tables (else the key). ``hint``: a
    sentence below. ``when``: the condition under which it is asked. ``if_hidden``: the answer that
    counts where it is not asked (a response that makes no sense is not specific either).

    ``minimum``, ``maximum``, ``step``: of scale and slider. ``labels``: one text for each point of
    a scale, or for no and yes. ``anchors``: texts at the two ends. ``interval``: differences
    between points of a scale mean the same everywhere, so its mean may be read.

    ``options``: what is chosen, ranked or given as a label. Ranking and best–worst at level systems
    have none: the responses shown are ranked. ``min_choices``, ``max_choices``: how many are chosen
    (of utterance labels: for each utterance). ``ties``: two may have one rank. ``severities``: of
    spans, from light to grave.

    ``points``: of a preference: 2 (A or B), 3 (with tie), 5 and 7 (graded). ``both_bad``: may be
    answered in place of a tie. ``max_length``: of text and correction, in characters.

    ``keys``: keys of the keyboard, one for each of ``values``; derived where left out.
    """

    key: str
    type: QuestionType
    text: str
    title: str = ""
    hint: str = ""
    required: bool = True
    when: Condition | None = None
    if_hidden: Value | None = None
    minimum: Number = 1
    maximum: Number = 5
    step: Number = 1
    labels: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    interval: bool = False
    cannot_judge: bool = False
    options: tuple[Option, ...] = ()
    min_choices: int = 0
    max_choices: int | None = None
    ties: bool = False
    severities: tuple[Option, ...] = ()
    points: int = 3
    both_bad: bool = False
    max_length: int = 4_000
    keys: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its short name, for tables and charts."""
        return self.title or self.key.replace("_", " ")

    @property
    def measurement(self) -> Measurement:
        """The level of measurement, from which statistics follow (``CONSEQUENCES``)."""
        if self.type == "slider" or (self.type == "scale" and self.interval):
            return "interval"
        if self.scores_utterances or (
            self.type == "choice" and all(option.value is not None for option in self.options)
        ):
            return "ordinal"
        if self.type == "choices" and any(option.value is not None for option in self.options):
            return "interval"
        return _MEASUREMENT[self.type]

    @property
    def scores(self) -> bool:
        """Whether its answers can be scores of what is judged (``answers.numeric``)."""
        if self.type == "span":
            return bool(self.severities) and all(one.value is not None for one in self.severities)
        return self.type == "yes_no" or (
            self.type in ("scale", "slider", "choice", "choices")
            and self.measurement in ("ordinal", "interval")
        )

    @property
    def scores_utterances(self) -> bool:
        """Whether its labels are scores of single utterances (``answers.utterance_scores``)."""
        return (
            self.type == "utterance_labels"
            and self.max_choices == 1
            and all(option.value is not None for option in self.options)
        )

    @property
    def exported(self) -> Exported:
        """The record of a corpus that its answers become."""
        if self.type == "preference":
            return "preference"
        return "rating" if self.scores or self.scores_utterances else "label"

    @property
    def values(self) -> tuple[Value, ...]:
        """The possible answers, in the order of the page; () where an answer is not one of a list.

        Without ``CANNOT_JUDGE``. Of multiple choice and utterance labels: the keys of the options.
        """
        if self.type in ("scale", "slider"):
            return self.scale_points
        if self.type == "yes_no":
            return (False, True)
        if self.type in ("choice", "choices", "utterance_labels"):
            return tuple(option.key for option in self.options)
        if self.type == "preference":
            return preference_values(self.points, self.both_bad)
        return ()

    @property
    def scale_points(self) -> tuple[Number, ...]:
        """The points of a scale or slider, ascending; whole numbers as int."""
        low, high, step = (Decimal(str(one)) for one in (self.minimum, self.maximum, self.step))
        return tuple(
            as_number(low + number * step) for number in range(int((high - low) / step) + 1)
        )

    @property
    def keyboard(self) -> dict[Value, str]:
        """The key for each value: those given, or digits in the order of the page.

        A scale whose points are all one digit has each point's own digit. yes/no has ``n`` and
        ``y``, both bad and cannot judge have ``x``; the tenth of a list has ``0``, more have none.
        """
        if self.type == "slider":
            return {}
        values = self.values
        if self.keys:
            found = dict(zip(values, self.keys, strict=False))
        elif self.type == "yes_no":
            found = {False: "n", True: "y"}
        elif self.type == "scale" and all(isinstance(one, int) and 0 <= one <= 9 for one in values):
            found = {one: str(one) for one in values}
        else:
            listed = [one for one in values if one != "both_bad"]
            found = dict(zip(listed, "1234567890", strict=False))
            if "both_bad" in values:
                found["both_bad"] = "x"
        if self.cannot_judge and values:
            found[CANNOT_JUDGE] = "x"
        return found


@dataclass(frozen=True, slots=True)
class Form:
    """What raters are asked about each item.

    ``name``: a short name of lower-case letters, digits and hyphens. ``level``: what an item is.
    ``compares``: of the levels pair and systems, what stands side by side. ``version``: counts the
    changes to a form that was in use. ``citation``: where a protocol comes from. ``guidelines``:
    Markdown, which a campaign starts from.
    """

    name: str
    title: str
    level: Level
    questions: tuple[Question, ...]
    version: int = 1
    citation: str = ""
    description: str = ""
    guidelines: str = ""
    compares: Literal["response", "conversation"] = "response"

    def question(self, key: str) -> Question:
        """The question of this key. Raises ``KeyError``."""
        for question in self.questions:
            if question.key == key:
                return question
        raise KeyError(key)

    @property
    def scored(self) -> tuple[Question, ...]:
        """Questions whose answers are scores of one response or conversation; none where several
        stand side by side."""
        if self.level in ("pair", "systems"):
            return ()
        return tuple(question for question in self.questions if question.scores)


_MEASUREMENT: dict[QuestionType, Measurement] = {
    "scale": "ordinal",
    "yes_no": "nominal",
    "choice": "nominal",
    "choices": "nominal",
    "ranking": "ranking",
    "best_worst": "ranking",
    "slider": "interval",
    "text": "text",
    "span": "nominal",
    "utterance_labels": "nominal",
    "correction": "text",
    "preference": "preference",
}

COMMON_FIELDS = ("key", "type", "text", "title", "hint", "required", "when")
FIELDS: dict[QuestionType, tuple[str, ...]] = {
    "scale": (
        "minimum",
        "maximum",
        "step",
        "labels",
        "anchors",
        "interval",
        "cannot_judge",
        "if_hidden",
        "keys",
    ),
    "yes_no": ("labels", "cannot_judge", "if_hidden", "keys"),
    "choice": ("options", "cannot_judge", "if_hidden", "keys"),
    "choices": ("options", "min_choices", "max_choices", "keys"),
    "ranking": ("options", "ties"),
    "best_worst": ("options",),
    "slider": ("minimum", "maximum", "step", "anchors", "cannot_judge", "if_hidden"),
    "text": ("max_length",),
    "span": ("options", "severities"),
    "utterance_labels": ("options", "min_choices", "max_choices", "keys"),
    "correction": ("max_length",),
    "preference": ("points", "both_bad", "cannot_judge", "labels", "keys"),
}
"""The fields of each type beside ``COMMON_FIELDS``."""


def preference_values(points: int, both_bad: bool) -> tuple[str, ...]:
    """The answers of a preference, from A much better to B much better.

    Args:
        points: 2, 3, 5 or 7.
        both_bad: whether "both bad" may be answered.

    Returns:
        ``a``, ``tie`` and ``b``; graded, ``a3`` (much better), ``a2``, ``a1`` (slightly better),
        ``tie``, ``b1``, ``b2``, ``b3``; then ``both_bad``.
    """
    steps: tuple[str, ...]
    if points <= 3:
        steps = ("a", "b") if points == 2 else ("a", "tie", "b")
    else:
        degrees = range(1, (points - 1) // 2 + 1)
        steps = (
            *(f"a{degree}" for degree in reversed(degrees)),
            "tie",
            *(f"b{degree}" for degree in degrees),
        )
    return (*steps, "both_bad") if both_bad else steps


def encoded(value: Value) -> str:
    """A value as a control of a web page has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_number(number: Decimal) -> Number:
    """An int where the number is whole, else the float nearest to it."""
    return int(number) if number == number.to_integral_value() else float(number)


# --- as data --------------------------------------------------------------------------------------


def to_data(form: Form) -> dict[str, Any]:
    """The form as JSON-compatible data, which ``reading.form_of`` reads again.

    Args:
        form: a checked form.

    Returns:
        ``schema`` (the format's version), the form's fields and ``questions``. Fields at their
        default are left out, so that equal forms have equal data.
    """
    return {
        "schema": SCHEMA_VERSION,
        **_fields_of(form, leave_out=("questions",)),
        "questions": [_fields_of(question) for question in form.questions],
    }


def digest(form: Form) -> str:
    """The SHA-256 of what is asked, as 64 hexadecimal digits.

    Args:
        form: a checked form.

    Returns:
        The digest of the canonical JSON of ``to_data`` without ``version``: it changes with what a
        rater reads or may answer, and not when the same form gets another number.
    """
    data = to_data(form)
    data.pop("version", None)
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and without blanks: equal values have equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _fields_of(one: Any, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for field in fields(one):
        value = getattr(one, field.name)
        if field.name in leave_out or (field.default is not MISSING and value == field.default):
            continue
        data[field.name] = _plain(value)
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, Condition):
        return condition_data(value)
    if isinstance(value, Option):
        return _fields_of(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def condition_data(condition: Condition) -> dict[str, Any]:
    """A condition as data, which ``reading.form_of`` reads."""
    if not condition.question:
        name = "all" if condition.all else "any"
        return {name: [condition_data(one) for one in getattr(condition, name)]}
    data: dict[str, Any] = {"question": condition.question}
    if condition.one_of:
        single = len(condition.one_of) == 1
        data |= {"is": condition.one_of[0]} if single else {"in": list(condition.one_of)}
    for name in ("below", "above"):
        if getattr(condition, name) is not None:
            data[name] = getattr(condition, name)
    return data


# --- what follows from the level of measurement ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Consequences:
    """``agreement``: names of the coefficients (``annotations.agreement.by_question``).
    ``comparison``: in what two systems are compared (``annotations.campaigns.plan.power``)."""

    agreement: tuple[str, ...]
    comparison: Comparison


CONSEQUENCES: Mapping[Measurement, Consequences] = {
    "nominal": Consequences(("alpha_nominal", "kappa", "fleiss_kappa"), "shares"),
    "ordinal": Consequences(
        ("alpha_ordinal", "alpha_interval", "kappa_quadratic", "icc2_1"), "means"
    ),
    "interval": Consequences(("alpha_interval", "icc2_1"), "means"),
    "ranking": Consequences(("kendall_w", "mean_tau"), "mean ranks"),
    "preference": Consequences(
        ("alpha_nominal", "alpha_ordinal", "alpha_interval", "s1", "s2"), "win rates"
    ),
    "text": Consequences((), "none"),
}
