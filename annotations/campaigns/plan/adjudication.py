"""Whether raters differ so far that their item is adjudicated. Pure: no Django here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotations.questions.answers import numeric, preferred
from annotations.questions.schema import CANNOT_JUDGE, Question


def is_wide(scores: Sequence[float], points: float) -> bool:
    """Whether scores lie far apart.

    Args:
        scores: of one item, one a rater.
        points: the least range that is far.

    Returns:
        Whether the highest minus the lowest is ``points`` or more.
    """
    return len(scores) > 1 and max(scores) - min(scores) >= points - 1e-9


def differing(
    questions: Sequence[Question], answers: Sequence[Mapping[str, Any]], points: float
) -> tuple[str, ...]:
    """The questions on which an item's raters differ.

    Args:
        questions: of the form.
        answers: of each rater, by question. A question that was not answered, or could not be
            judged, is no answer.
        points: of ``is_wide``, on the question's own scale.

    Returns:
        Keys, in the order of the form: scales, sliders and choices with values whose scores are
        wide; yes/no and choices without values whose answers are not all the same; preferences for
        another one, whatever the degree. Other types are compared by no rule.
    """
    found = []
    for question in questions:
        given = [one[question.key] for one in answers if question.key in one]
        given = [one for one in given if one != CANNOT_JUDGE]
        if question.type in ("yes_no", "choice") and question.measurement == "nominal":
            if any(one != given[0] for one in given):
                found.append(question.key)
        elif question.type == "preference":
            if len({preferred(one) for one in given}) > 1:
                found.append(question.key)
        elif question.type in ("scale", "slider", "choice"):
            scores = [score for one in given if (score := numeric(question, one)) is not None]
            if is_wide(scores, points):
                found.append(question.key)
    return tuple(found)


def agreed(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The answers that all raters of an item gave alike.

    Args:
        answers: of each rater, by question; at least one.

    Returns:
        By question, what every rater answered.
    """
    first, *others = answers
    return {
        key: value
        for key, value in first.items()
        if all(key in one and one[key] == value for one in others)
    }
