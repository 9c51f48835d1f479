"""Placeholders in a prompt's text: ``{history}`` is one, ``{{`` and ``}}`` are braces. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

OF_TURNS = ("history", "fact", "reference", "response")
OF_DIALOGUES = ("turn_scores", "responses", "history", "fact")
MARKS = re.compile(r"\{\{|\}\}|\{([A-Za-z0-9_]{1,60})\}|[{}]")


def placeholders_in(text: str) -> list[str]:
    """The names between single braces, in order, as often as they stand there."""
    return [mark[1] for mark in MARKS.finditer(text) if mark[1] is not None]


def placeholder_faults(text: str, known: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """What is wrong with the braces of a text: the line of each fault (0 is the first) and the
    fault."""
    for mark in MARKS.finditer(text):
        if fault := _fault(mark, known):
            yield text.count("\n", 0, mark.start()), fault


def _fault(mark: re.Match[str], known: tuple[str, ...]) -> str:
    name = mark[1]
    if mark[0] in ("{{", "}}") or name in known:
        return ""
    if name is not None:
        return (
            f"there is no placeholder {{{name}}} in this step; there are "
            f"{', '.join(f'{{{one}}}' for one in known)}"
        )
    return (
        f"a single {mark[0]} opens or closes no placeholder; write {mark[0] * 2} for the brace "
        "itself"
    )


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders replaced. What is put in is never looked at again: braces in
    it mean nothing."""
    fixed, names = _pieces(text)
    parts = [fixed[0]]
    for name, after in zip(names, fixed[1:], strict=True):
        parts += (values[name], after)
    return "".join(parts)


@lru_cache(maxsize=256)
def _pieces(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fixed parts and the placeholders between them: a template is cut once, and filled ten
    thousand times."""
    fixed, names, start, part = [], [], 0, ""
    for mark in MARKS.finditer(text):
        part += text[start : mark.start()]
        start = mark.end()
        if mark[1] is None:
            part += mark[0][0]
        else:
            fixed.append(part)
            names.append(mark[1])
            part = ""
    return (*fixed, part + text[start:]), tuple(names)
