"""A prompt as an organiser typed it: read as ``check_prompt`` reads a file, with what is wrong by
line."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.formats.importers.problems import ImportFailed, Problem
from workers.judging.prompt_file import JudgePromptFile, read_prompt

CALLED = "the prompt"


@dataclass(frozen=True, slots=True)
class Fault:
    """``line`` from 1; 0 where it is no line's."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line else ""
        return ": ".join(part for part in (where, self.field, self.message) if part)


@dataclass(frozen=True, slots=True)
class Checked:
    """``prompt`` is None where there are faults."""

    prompt: JudgePromptFile | None
    faults: tuple[Fault, ...] = ()


def text_of_form(text: str) -> str:
    """Browsers send a line end as two characters; a line end is one."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check(text: str) -> Checked:
    """Reads the text. A prompt of whole dialogues is refused, because the site's judge scores
    responses."""
    try:
        prompt = read_prompt(text, CALLED)
    except ImportFailed as failure:
        return Checked(None, tuple(_fault(one) for one in failure.problems))
    if prompt.step != "turn":
        message = (
            "write turn: a judge that is written here scores responses, and dialogues by the mean "
            "of their turns"
        )
        return Checked(None, (Fault(_line_of(text, "step"), "step", message),))
    return Checked(prompt)


def _fault(problem: Problem) -> Fault:
    if isinstance(problem.where, int):
        return Fault(problem.where, problem.field, problem.message)
    return Fault(0, problem.field or problem.where, problem.message)


def _line_of(text: str, key: str) -> int:
    lines = text.split("\n")
    return next(
        (
            number
            for number, line in enumerate(lines, start=1)
            if line.strip().startswith(f"{key}:")
        ),
        0,
    )
