"""Small forms for the tests of questions."""

from __future__ import annotations

from typing import Any

from annotations.questions.reading import form_of
from annotations.questions.schema import Form

LETTERS = [{"key": "a"}, {"key": "b"}, {"key": "c"}]


def data_of(*questions: dict[str, Any], level: str = "response", **fields: Any) -> dict[str, Any]:
    """The data of a form; questions without key, type or text get ``q1``…, a scale and a text."""
    return {
        "name": "test",
        "title": "Test",
        "level": level,
        "questions": [
            {"key": f"q{number}", "type": "scale", "text": "How good?", **question}
            for number, question in enumerate(questions, start=1)
        ],
        **fields,
    }


def make_form(*questions: dict[str, Any], level: str = "response") -> Form:
    return form_of(data_of(*questions, level=level))
