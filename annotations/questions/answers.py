"""Checking what a rater answers to a form, and what an answer counts as a score.

An answer is JSON-compatible data, in one canonical shape for each type of question:

============== =====================================================================================
scale, slider  the point, a number
yes_no         true or false
choice         the option's key
choices        a list of keys, in the order of the form; empty for none of them
ranking        {key: rank}, 1 is best; equal ranks are ties, and the rank after two firsts is 3
best_worst     {"best": key, "worst": key}
preference     a, tie, b, a1 … b3, both_bad (``schema.preference_values``)
text           the text; of a correction, the whole corrected response
span           a list of {"utterance", "start", "end", "label", "severity"}, in reading order;
               positions count Unicode code points from 0, and ``end`` is the first after the span
utterance_     {number of the utterance: list of keys}
labels
============== =====================================================================================

``"cannot_judge"`` stands in place of an answer where the question allows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from annotations.questions.schema import (
    CANNOT_JUDGE,
    Condition,
    Form,
    Number,
    Option,
    Question,
    Value,
    canonical_json,
)
from common.text import parse_integer, text_fault

Answers = dict[str, Any]
"""By question key, in the order of the form; only of questions that are visible and answered."""

MOST_SPANS = 200
NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?\Z")


@dataclass(frozen=True, slots=True)
class Material:
    """What an item shows, as far as answers name it.

    ``utterances``: the texts of the utterances that may be labelled or marked, by their number.
    ``candidates``: keys of the responses shown side by side (level systems), in the order shown.
    """

    utterances: Mapping[int, str]
    candidates: tuple[str, ...] = ()


NOTHING_SHOWN = Material({})


class AnswerError(ValueError):
    """``messages``: what is wrong, for the rater, by question key ("" for answers to none)."""

    def __init__(self, messages: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{key}: {text}" for key, text in messages.items()))
        self.messages = dict(messages)


class _Wrong(Exception):
    """One answer is refused, with the reason for the rater."""


def check(form: Form, raw: Mapping[str, object], material: Material = NOTHING_SHOWN) -> Answers:
    """The answers in their canonical shape.

    Args:
        form: what was asked.
        raw: by question key, JSON-compatible data or texts of a web form (``from_fields``): a
            number or true and false may be a text, one choice stand for a list of one, a ranking be
            a list with the best first. None, "" and missing are no answer.
        material: what the item showed; needed for spans, labels of utterances and the ranking of
            responses.

    Returns:
        The answers to visible questions, in the order of the form. Answers to hidden questions are
        dropped; a hidden question with ``if_hidden`` has that value.

    Raises:
        AnswerError: with a message for each question whose answer is missing or refused.
    """
    messages: dict[str, str] = {}
    answers: Answers = {}
    hidden: Answers = {}
    refused: set[str] = set()
    for question in form.questions:
        if question.when is not None and not _holds(question.when, answers):
            if question.if_hidden is not None and not refused & set(question.when.questions):
                hidden[question.key] = question.if_hidden
            continue
        given = raw.get(question.key)
        try:
            if is_missing(given):
                if question.required:
                    raise _Wrong(missing_message(question))
            else:
                answers[question.key] = _canonical(question, given, material)
        except _Wrong as wrong:
            messages[question.key] = str(wrong)
            refused.add(question.key)
    keys = {question.key for question in form.questions}
    if unknown := [key for key in raw if key not in keys]:
        messages[""] = f"The form has no question {str(unknown[0])[:40]!r}."
    if messages:
        raise AnswerError(messages)
    everything = answers | hidden
    return {
        question.key: everything[question.key]
        for question in form.questions
        if question.key in everything
    }


def visible(form: Form, answers: Mapping[str, Any]) -> tuple[Question, ...]:
    """The questions that are asked, given the answers so far.

    Args:
        form: what is asked.
        answers: canonical answers; those to hidden questions are not read by any condition.

    Returns:
        The visible questions, in the order of the form.
    """
    seen: Answers = {}
    shown = []
    for question in form.questions:
        if question.when is None or _holds(question.when, seen):
            shown.append(question)
            if question.key in answers:
                seen[question.key] = answers[question.key]
    return tuple(shown)


def as_json(answers: Mapping[str, Any]) -> dict[str, str]:
    """Each answer as canonical JSON: equal answers have equal texts."""
    return {key: canonical_json(answer) for key, answer in answers.items()}


def numeric(question: Question, answer: Any) -> float | None:
    """The score that an answer counts as, higher is better.

    Args:
        question: the question.
        answer: its canonical answer.

    Returns:
        The point of a scale or slider; 1 and 0 for yes and no; the value of the chosen option; of
        multiple choice the values of what was chosen over the sum of all positive values (a rubric:
        1 where every criterion is met, below 0 where penalties prevail); of spans minus the sum of
        their severities' values. None where a rater cannot judge, and for questions without scores.
    """
    if answer is None or answer == CANNOT_JUDGE or not question.scores:
        return None
    if question.type in ("scale", "slider", "yes_no"):
        return float(answer)
    values = {option.key: option.value or 0 for option in question.options}
    if question.type == "choice":
        return float(values[answer])
    if question.type == "choices":
        return sum(values[key] for key in answer) / sum(max(0, one) for one in values.values())
    penalties = {severity.key: severity.value or 0 for severity in question.severities}
    return -float(sum(penalties[span["severity"]] for span in answer)) + 0.0


def utterance_scores(question: Question, answer: Any) -> dict[int, float]:
    """The scores that labels of utterances count as.

    Args:
        question: one whose labels have values (``Question.scores_utterances``).
        answer: its canonical answer.

    Returns:
        The value of each utterance's label, by the utterance's number; without those that have
        none.
    """
    values = {option.key: float(option.value or 0) for option in question.options}
    return {int(number): values[keys[0]] for number, keys in answer.items() if keys}


def labels_of(
    form: Form, answers: Mapping[str, Any]
) -> Iterator[tuple[str, int | None, str | tuple[str, ...]]]:
    """What is no score: categories, orders and texts, as a corpus holds them.

    Args:
        form: what was asked.
        answers: canonical answers to it.

    Yields:
        The question's name; of a label of one utterance its place among those that were labelled,
        from 0, else None; a text, or the categories that were chosen, in their order.
    """
    for question in form.questions:
        answer = answers.get(question.key)
        if answer is None or question.exported != "label":
            continue
        if question.type == "utterance_labels":
            for number, chosen in sorted(answer.items(), key=lambda pair: int(pair[0])):
                yield question.name, int(number) - 1, tuple(chosen)
        elif question.type == "ranking":
            yield question.name, None, tuple(sorted(answer, key=lambda key: answer[key]))
        elif question.type == "best_worst":
            yield question.name, None, (answer["best"], answer["worst"])
        elif question.type == "span":
            yield question.name, None, tuple(span["label"] for span in answer)
        elif isinstance(answer, list):
            yield question.name, None, tuple(map(str, answer))
        else:
            yield question.name, None, str(answer)


def preferred(answer: str) -> str | None:
    """Which of two is preferred, whatever the degree.

    Args:
        answer: the canonical answer to a preference.

    Returns:
        ``a``, ``b``, ``tie`` or ``both_bad``; None where the rater cannot judge.
    """
    return None if answer == CANNOT_JUDGE else answer.rstrip("123")


def degree(answer: str) -> int | None:
    """How much A is preferred to B.

    Args:
        answer: the canonical answer to a preference.

    Returns:
        Above 0 where A is better, below 0 where B is, 0 for a tie or both bad; up to 3 for "much
        better" of seven points. None where the rater cannot judge.
    """
    if answer == CANNOT_JUDGE:
        return None
    if answer in ("tie", "both_bad"):
        return 0
    size = int(answer[1:] or 1)
    return size if answer[0] == "a" else -size


def in_other_order(form: Form, answers: Mapping[str, Any]) -> Answers:
    """Answers about a pair as they would be if the two had been shown in the other order.

    Args:
        form: what was asked.
        answers: canonical answers.

    Returns:
        The same with A and B exchanged in every preference.
    """
    preferences = {one.key for one in form.questions if one.type == "preference"}
    exchanged = {"a": "b", "b": "a"}
    return {
        key: exchanged[answer[0]] + answer[1:]
        if key in preferences and preferred(answer) in exchanged
        else answer
        for key, answer in answers.items()
    }


def with_names(form: Form, answers: Mapping[str, Any], names: Mapping[str, str]) -> Answers:
    """Answers about a list of responses, which name each by its place on the page, by other names.

    Args:
        form: what was asked.
        answers: canonical answers.
        names: of each place.

    Returns:
        The same with the places of rankings, and of best and worst, exchanged for names.
    """
    kinds = {one.key: one.type for one in form.questions if not one.options}
    found = dict(answers)
    for key, answer in answers.items():
        if kinds.get(key) == "ranking":
            found[key] = {names[place]: rank for place, rank in answer.items()}
        elif kinds.get(key) == "best_worst":
            found[key] = {end: names[place] for end, place in answer.items()}
    return found


def preferences_in(answer: Mapping[str, Any], shown: Sequence[str]) -> list[tuple[str, str, str]]:
    """A ranking, or best and worst, as preferences between each two of which it says something.

    Args:
        answer: canonical, to a question about the responses shown.
        shown: their keys, in the order shown.

    Returns:
        (first, second, which): ``a`` where the first is better, ``b``, or ``tie`` of equal ranks.
        Of n ranked all n (n − 1) / 2; of best and worst the 2 n − 3 with the best or the worst.
    """
    found = []
    for one, other in combinations(shown, 2):
        if "best" in answer:
            ends = {answer["best"]: 1, answer["worst"]: -1}
            difference = ends.get(one, 0) - ends.get(other, 0)
            if not difference:
                continue
        else:
            difference = answer[other] - answer[one]
        found.append((one, other, "a" if difference > 0 else "b" if difference else "tie"))
    return found


def has_right_ends(question: Question, answer: Any, shown: Sequence[int]) -> bool | None:
    """Whether an answer puts the first of several texts first and the last of them last.

    Args:
        question: a preference; or a ranking, or best and worst, of the responses shown.
        answer: its canonical answer.
        shown: which of the texts stood at each place of the page, counted from 0.

    Returns:
        False also where others are tied with the first or the last. None where a rater cannot
        judge, or did not answer.
    """
    if answer is None or answer == CANNOT_JUDGE:
        return None
    first, last = shown.index(0), shown.index(len(shown) - 1)
    if question.type == "preference":
        return preferred(answer) == "ab"[first]
    best, worst = str(first + 1), str(last + 1)
    if question.type == "best_worst":
        return bool(answer["best"] == best and answer["worst"] == worst)
    return all(answer[best] < rank for place, rank in answer.items() if place != best) and all(
        answer[worst] > rank for place, rank in answer.items() if place != worst
    )


# --- fields of a web form -------------------------------------------------------------------------


def from_fields(form: Form, fields: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The raw answers in the fields of a web form, for ``check``.

    Args:
        form: what was asked.
        fields: values by field name. A question's field is ``q.KEY``; multiple choice repeats it,
            and sends ``q.KEY.asked`` so that nothing chosen is an answer. Ranking has
            ``q.KEY.OPTION`` with a rank each, best–worst ``q.KEY.best`` and ``q.KEY.worst``, labels
            of utterances ``q.KEY.NUMBER``, repeated. Spans are JSON in ``q.KEY``.

    Returns:
        What was sent, by question key; other fields are left out.
    """
    raw: dict[str, Any] = {}
    for question in form.questions:
        name = f"q.{question.key}"
        values = [value for value in fields.get(name, ()) if value != ""]
        parts = {
            field[len(name) + 1 :]: list(given)
            for field, given in fields.items()
            if field.startswith(f"{name}.")
        }
        presented = bool(parts.pop("asked", None))
        if question.type == "choices":
            raw[question.key] = values if values or presented else None
        elif question.type == "utterance_labels":
            raw[question.key] = parts or ({} if presented else None)
        elif question.type in ("ranking", "best_worst"):
            single = {part: given[-1] for part, given in parts.items() if given[-1] != ""}
            raw[question.key] = single or None
        else:
            raw[question.key] = values[-1] if values else None
    return raw


# --- conditions -----------------------------------------------------------------------------------


def _holds(condition: Condition, answers: Mapping[str, Any]) -> bool:
    """Whether a question is asked. Without an answer to compare with, it is not."""
    if condition.all:
        return all(_holds(one, answers) for one in condition.all)
    if condition.any:
        return any(_holds(one, answers) for one in condition.any)
    answer = answers.get(condition.question)
    if answer is None:
        return False
    if condition.one_of:
        chosen = answer if isinstance(answer, list) else [answer]
        return any(_equal(one, value) for one in chosen for value in condition.one_of)
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return False
    if condition.below is not None:
        return answer < condition.below
    return condition.above is not None and answer > condition.above


def _equal(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


# --- one answer -----------------------------------------------------------------------------------


def is_missing(given: object) -> bool:
    """Whether nothing was answered; an empty list is an answer, an empty text is none."""
    return given is None or (isinstance(given, str) and not given.strip())


def missing_message(question: Question) -> str:
    """What a rater is told where a required question has no answer."""
    return {
        "ranking": "Give each one a rank.",
        "best_worst": "Choose the best and the worst.",
        "text": "Write an answer.",
        "correction": "Write the corrected response.",
        "span": "Mark the spans, or say that there are none.",
        "utterance_labels": "Label each utterance.",
        "choices": "Choose all that apply, or none.",
        "preference": "Choose which is better.",
    }.get(question.type, "Choose an answer.")


def _canonical(question: Question, given: object, material: Material) -> Any:
    if question.cannot_judge and given == CANNOT_JUDGE:
        return CANNOT_JUDGE
    match question.type:
        case "scale" | "slider":
            return _point(question, given)
        case "yes_no":
            return _yes_or_no(given)
        case "choice" | "preference":
            return _one_value(given, question.values)
        case "choices":
            return _several(question, given)
        case "ranking":
            return _ranks(question, _read(given), _ranked(question, material))
        case "best_worst":
            return _best_and_worst(_read(given), _ranked(question, material))
        case "text" | "correction":
            return _written(question, given)
        case "span":
            return _spans(question, _read(given), material)
        case "utterance_labels":
            return _labels(question, _read(given), material)


def _point(question: Question, given: object) -> Number:
    if isinstance(given, str) and NUMBER.match(given.strip()):
        given = float(given.strip())
    if isinstance(given, int | float) and not isinstance(given, bool):
        for point in question.scale_points:
            if point - 1e-9 < given < point + 1e-9:  # no difference: an int may be too large
                return point
    low, high, step = question.minimum, question.maximum, question.step
    steps = "" if step == 1 else f" in steps of {step}"
    raise _Wrong(f"Choose a number from {low} to {high}{steps}.")


def _yes_or_no(given: object) -> bool:
    if isinstance(given, bool):
        return given
    if isinstance(given, str) and given in ("yes", "true", "no", "false"):
        return given in ("yes", "true")
    raise _Wrong("Choose yes or no.")


def _one_value(given: object, values: Sequence[Value]) -> Any:
    if isinstance(given, str) and given in values:
        return given
    raise _Wrong("Choose one of the answers on the page.")


def _several(question: Question, given: object) -> list[str]:
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, list | tuple):
        raise _Wrong("Choose among the answers on the page.")
    for one in given:
        _one_value(one, question.values)
    return _counted(question, [option.key for option in question.options if option.key in given])


def _counted(question: Question, chosen: list[str], where: str = "") -> list[str]:
    if len(chosen) < question.min_choices:
        raise _Wrong(f"Choose at least {question.min_choices}{where}.")
    if question.max_choices is not None and len(chosen) > question.max_choices:
        raise _Wrong(f"Choose at most {question.max_choices}{where}.")
    return chosen


def _read(given: object) -> object:
    """Data that a web form sends as JSON."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        raise _Wrong("The answer cannot be read. Reload the page and answer again.") from None


def _ranked(question: Question, material: Material) -> tuple[str, ...]:
    if question.options:
        return tuple(option.key for option in question.options)
    return material.candidates


def _ranks(question: Question, given: object, ranked: tuple[str, ...]) -> dict[str, int]:
    if isinstance(given, list):
        groups = [one if isinstance(one, list) else [one] for one in given]
        listed = [(str(key), number) for number, group in enumerate(groups) for key in group]
        given = dict(listed)
        if len(given) < len(listed):
            raise _Wrong("Give each one a single rank.")
    if not isinstance(given, Mapping) or set(given) != set(ranked):
        raise _Wrong("Give each one a rank.")
    numbers: dict[str, int] = {}
    for key, rank in given.items():
        number = parse_integer(rank.strip()) if isinstance(rank, str) else rank
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise _Wrong("A rank is a whole number; 1 is best.")
        numbers[key] = number
    if not question.ties and len(set(numbers.values())) < len(numbers):
        raise _Wrong("Two have the same rank. Give each one its own.")
    return {key: 1 + sum(other < numbers[key] for other in numbers.values()) for key in ranked}


def _best_and_worst(given: object, ranked: tuple[str, ...]) -> dict[str, str]:
    if not isinstance(given, Mapping) or set(given) != {"best", "worst"}:
        raise _Wrong("Choose the best and the worst.")
    best, worst = (_one_value(given[end], ranked) for end in ("best", "worst"))
    if best == worst:
        raise _Wrong("One cannot be both the best and the worst.")
    return {"best": best, "worst": worst}


def _written(question: Question, given: object) -> str:
    if not isinstance(given, str):
        raise _Wrong("The answer must be a text.")
    text = given.replace("\r\n", "\n").strip()
    if fault := text_fault(text, question.max_length):
        raise _Wrong(f"The text {fault}.")
    return text


def _spans(question: Question, given: object, material: Material) -> list[dict[str, Any]]:
    if not isinstance(given, list):
        raise _Wrong("Mark the spans, or say that there are none.")
    if len(given) > MOST_SPANS:
        raise _Wrong(f"At most {MOST_SPANS} spans can be marked.")
    fields = {"utterance", "start", "end", "label"} | (
        {"severity"} if question.severities else set()
    )
    spans: list[dict[str, Any]] = []
    for one in given:
        if not isinstance(one, Mapping) or set(one) != fields:
            raise _Wrong(f"A span has {', '.join(sorted(fields))}.")
        utterance, start, end = (one[name] for name in ("utterance", "start", "end"))
        if any(isinstance(at, bool) or not isinstance(at, int) for at in (utterance, start, end)):
            raise _Wrong("A span begins and ends at whole numbers.")
        text = material.utterances.get(utterance)
        if text is None:
            raise _Wrong("A span lies in a text that cannot be marked.")
        if not 0 <= start < end <= len(text):
            raise _Wrong("A span lies outside its text. Mark it again.")
        span = {"utterance": utterance, "start": start, "end": end}
        span["label"] = _one_value(one["label"], _keys(question.options))
        if question.severities:
            span["severity"] = _one_value(one["severity"], _keys(question.severities))
        if span in spans:
            raise _Wrong("One span is marked twice with one label.")
        spans.append(span)
    labels = _keys(question.options)
    return sorted(
        spans, key=lambda s: (s["utterance"], s["start"], s["end"], labels.index(s["label"]))
    )


def _labels(question: Question, given: object, material: Material) -> dict[str, list[str]]:
    if not isinstance(given, Mapping):
        raise _Wrong("Label each utterance.")
    by_number: dict[int, object] = {}
    for number, keys in given.items():
        parsed = parse_integer(number) if isinstance(number, str) else number
        if (
            not isinstance(parsed, int)
            or isinstance(parsed, bool)
            or (parsed not in material.utterances)
        ):
            raise _Wrong("A label is given to an utterance that is not on the page.")
        by_number[parsed] = keys
    labels = {}
    for place, number in enumerate(sorted(material.utterances), start=1):
        keys = by_number.get(number, [])
        keys = [keys] if isinstance(keys, str) else keys
        if not isinstance(keys, list | tuple):
            raise _Wrong("Label each utterance.")
        for key in keys:
            _one_value(key, question.values)
        chosen = [option.key for option in question.options if option.key in keys]
        labels[str(number)] = _counted(question, chosen, f" for utterance {place}")
    return labels


def _keys(options: Sequence[Option]) -> tuple[str, ...]:
    return tuple(option.key for option in options)
