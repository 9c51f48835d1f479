"""The stored answer about one question that people were asked for a preference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotations.corpora.queries import NotFound
from annotations.models import CorpusVersion
from leaderboard.queries.preferences import preference_questions, resolve_question
from leaderboard.results import Look, look


def look_at_question(
    version: CorpusVersion,
    kind: Callable[..., Any],
    parameters: Mapping[str, Any],
    aspect: str = "",
    level: str = "",
) -> Look[Any]:
    """The answer without a question names all questions: they are read from the votes only where it
    is of older data and lacks the one that is asked for.

    Raises:
        NotFound: nobody was asked for that preference.
    """
    first: Look[Any] = look(version, kind, **parameters)
    if first.answer is None or not (aspect or level):
        return first
    try:
        question = resolve_question(first.answer.questions, aspect, level)
    except NotFound:
        if first.state == "present":
            raise
        question = resolve_question(preference_questions(version), aspect, level)
    if (question.aspect, question.level) == (first.answer.aspect, first.answer.level):
        return first
    return look(version, kind, aspect=question.aspect, level=question.level, **parameters)
