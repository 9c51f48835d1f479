"""What to know about a prompt that can be used. Pure."""

from __future__ import annotations

from workers.judging.placeholders import MARKS
from workers.judging.prompt_file import JudgePromptFile

OF_THE_SYSTEM = ("response", "responses", "turn_scores")
"""Placeholders whose text is another for every system."""
LONG_TAIL = 400
"""Characters after the first of them: what stands there is read anew for every system."""


def remarks(prompt: JudgePromptFile) -> list[str]:
    """One line each."""
    return [
        *_unnamed_labels(prompt),
        *_long_tail(prompt),
        *_response_at_line_start(prompt),
        *_two_digits(prompt),
    ]


def _unnamed_labels(prompt: JudgePromptFile) -> list[str]:
    text = f"{prompt.system}\n{prompt.user}".casefold()
    return [
        f'the text never names the label "{label}": will a judge write it?'
        for label in prompt.labels
        if label.casefold() not in text
    ]


def _long_tail(prompt: JudgePromptFile) -> list[str]:
    place = next((mark for mark in MARKS.finditer(prompt.user) if mark[1] in OF_THE_SYSTEM), None)
    if place is None or len(prompt.user) - place.end() < LONG_TAIL:
        return []
    return [
        (
            f"{len(prompt.user) - place.end():,} of {len(prompt.user):,} characters come after "
            f"{place[0]}: an endpoint with a prompt cache reads what comes before it once for "
            "all systems of a turn, and the rest for each"
        )
    ]


def _response_at_line_start(prompt: JudgePromptFile) -> list[str]:
    if prompt.step != "turn" or not any(
        line.startswith("{response}") for line in prompt.user.split("\n")
    ):
        return []
    return [
        '{response} begins a line, so a response can pass for a heading; "B: {response}" cannot'
    ]


def _two_digits(prompt: JudgePromptFile) -> list[str]:
    high = prompt.scale[1]
    return (
        []
        if high <= 9
        else [f"a scale up to {high} has no expected score; use it with scoring=answer"]
    )
