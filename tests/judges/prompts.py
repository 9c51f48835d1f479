"""Prompt files as tests write them."""

from __future__ import annotations

from annotations.formats.records import Utterance
from workers.judges.core.prompt_file import JudgePromptFile, read_prompt
from workers.metrics.base import Example

HEADER = {
    "name": "one",
    "step": "turn",
    "labels": "Humanness",
    "scale": "1-5",
    "form": '"- {label}: "',
}


def written(
    user: str = "{history}\nB: {response}", system: str | None = None, **header: str | None
) -> str:
    """A prompt file; a key whose value is None is left out."""
    lines = [f"{key}: {value}" for key, value in {**HEADER, **header}.items() if value is not None]
    told = ["=== system", system] if system is not None else []
    return "\n".join([*lines, *told, "=== user", user])


def prompt(
    user: str = "{history}\nB: {response}", system: str | None = None, **header: str | None
) -> JudgePromptFile:
    return read_prompt(written(user, system, **header))


def example(response: str = "Hello", **more) -> Example:
    values = {
        "dialogue_id": "d",
        "turn": 0,
        "persona": ("I cook.",),
        "partner_persona": ("I sail.",),
        "context": (Utterance("A", "Hi"),),
        "references": ("Hey",),
    }
    return Example(**{**values, **more}, response=response)


DETAIL = prompt()
SIMPLE = prompt(
    labels="humanness, fluency, coherency, consistency, engagingness, overall",
    score="overall",
    form='"{label} - "',
)
DIALOGUE = prompt(
    "{responses}",
    step="dialogue",
    labels="Overall Dialogue Turn Score, Dialogue Interaction Score, Final Score",
    score="Final Score",
    form='"{label} - "',
)
OF_THREE = prompt(labels="Engagingness", scale="1-3")
