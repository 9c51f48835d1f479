"""A judge prompt template as a file: read strictly, checked, and known by a digest. Pure.

    name: short and kind
    step: turn
    labels: Humanness
    scale: 1-5
    form: "- {label}: "

    === user
    Does B's last answer sound like a person? …
    {history}
    B: {response}

docs/judges.md describes the format. Prompts that organisers wrote on the site have a name
(``slug@number``) in place of a file; the site says where they are (``workers.judges.apps``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from annotations.formats.importers.problems import ImportFailed, Problem, Problems
from common.text import text_fault
from workers.judges.core.placeholders import placeholders_in

Step = Literal["turn", "dialogue"]

KEYS = ("name", "step", "labels", "score", "scale", "form", "max_tokens")
"""Of the header, in the order in which the canonical text has them."""
REQUIRED = ("name", "step", "labels", "scale")
DEFAULT_FORM = "{label}: "
DEFAULT_MAX_TOKENS = 300
LARGEST_FILE = 200_000
"""Bytes of a file; two texts of ``LONGEST_TEXT`` characters and a header fit."""
OUR_PROMPTS = (
    "simple",
    "simple_ref",
    "detail",
    "detail_ref",
    "dialogue",
    "simple_original",
    "detail_original",
)

_HERE = Path(__file__).with_name("prompts")


@dataclass(frozen=True)
class JudgePromptFile:
    """``labels``: what the answer holds a number for, in order; ``score`` is the one that
    counts."""

    name: str
    step: Step
    labels: tuple[str, ...]
    score: str
    scale: tuple[int, int]
    """Lowest and highest score: 1 to 5; the original G-EVAL engagingness prompt has 1 to 3."""
    separator: str
    """Between a label and its number in the answer's form, such as ``: `` or `` - ``."""
    begin: str
    """Before a label in the form, such as ``- ``; so an answer that is begun for the model ends ``-
    Humanness: ``."""
    max_tokens: int
    system: str
    user: str
    digest: str
    """SHA-256 of the canonical text, in hexadecimal; signatures hold its first twelve digits. The
    name is no part of it: the same wording under another name asks the same."""

    @property
    def needs_reference(self) -> bool:
        return "reference" in self.placeholders

    @property
    def needs_fact(self) -> bool:
        return "fact" in self.placeholders

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names that the texts hold, each once, in order; ``{{fact}}`` is a word in braces, and
        none."""
        return tuple(dict.fromkeys([*placeholders_in(self.system), *placeholders_in(self.user)]))


def read_prompt(text: str, file: str = "prompt") -> JudgePromptFile:
    """The prompt that ``text`` holds. Raises ``ImportFailed`` with everything that is wrong with
    it, by line and key; ``file`` is what its messages call the text."""
    from workers.judges.core.prompt_reader import Reader

    problems = Problems(file)
    if len(text) > LARGEST_FILE:
        problems.stop(
            "", "", f"has {len(text):,} characters; a prompt has at most {LARGEST_FILE:,}"
        )
    if fault := text_fault(text, LARGEST_FILE):
        problems.stop("", "", fault)
    prompt = Reader(text, problems).prompt()
    return replace(prompt, digest=digest_of(prompt))


def prompt_at(path: str) -> JudgePromptFile:
    """The prompt in a file. Raises ``ImportFailed``, also where there is no such file."""
    from workers.metrics.common.named_files import text_of

    try:
        text = text_of(path, LARGEST_FILE)
    except ValueError as why:
        raise ImportFailed([Problem(path, "", "", str(why))]) from None
    return read_prompt(text, path)


@cache
def own_prompt(name: str) -> JudgePromptFile:
    """One of the project's own, ``OUR_PROMPTS``. Raises ``KeyError`` for another name."""
    if name not in OUR_PROMPTS:
        raise KeyError(name)
    path = _HERE / f"{name}.txt"
    return read_prompt(path.read_text(encoding="utf-8"), path.name)


def canonical(prompt: JudgePromptFile) -> str:
    """The one way to write a prompt down; reading it gives the same prompt again."""
    header = [f"name: {prompt.name}", *_what_decides(prompt)]
    return "\n".join([*header, "", *_sections(prompt), ""])


def digest_of(prompt: JudgePromptFile) -> str:
    """SHA-256 of the canonical text without its name, in hexadecimal."""
    return hashlib.sha256(
        "\n".join([*_what_decides(prompt), "", *_sections(prompt)]).encode()
    ).hexdigest()


def _what_decides(prompt: JudgePromptFile) -> Iterable[str]:
    low, high = prompt.scale
    return (
        f"step: {prompt.step}",
        f"labels: {', '.join(prompt.labels)}",
        f"score: {prompt.score}",
        f"scale: {low}-{high}",
        f"form: {json.dumps(f'{prompt.begin}{{label}}{prompt.separator}', ensure_ascii=False)}",
        f"max_tokens: {prompt.max_tokens}",
    )


def _sections(prompt: JudgePromptFile) -> list[str]:
    system = ["=== system", prompt.system] if prompt.system else []
    return [*system, "=== user", prompt.user]


PromptRegistry = Callable[[str], str | None]
"""Given ``slug@number``, the text of the prompt file, or None where there is no such prompt."""


def _no_prompts(_: str) -> str | None:
    return None


_registry: PromptRegistry = _no_prompts


def text_of(name: str) -> str | None:
    return _registry(name)


def use(registry: PromptRegistry) -> None:
    global _registry
    _registry = registry
