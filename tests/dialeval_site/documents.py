"""Reads the project's documents as data: sections, tables, code blocks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.site import PROJECT


def documents() -> list[Path]:
    return [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted((PROJECT / "docs").glob("*.md"))]


def text_of(name: str) -> str:
    return (PROJECT / "docs" / name).read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """The text under each ``## `` heading."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def table_rows(text: str) -> list[list[str]]:
    """The rows of all tables, cells stripped, without headings and rules."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rules = [index for index, row in enumerate(rows) if set("".join(row)) <= set("-:")]
    return [row for index, row in enumerate(rows) if index not in rules and index + 1 not in rules]


def first_table(text: str) -> list[list[str]]:
    found = re.search(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    return table_rows(found.group()) if found else []


def flat(text: str) -> str:
    """With one blank wherever a line ends or is indented."""
    return re.sub(r"\s+", " ", text)


def code_words(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", cell)


@dataclass(frozen=True)
class ShellLine:
    """A command of an example, split as a shell would, without variables set before it."""

    document: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.document}: {' '.join(self.words)}"


def shell_lines() -> Iterator[ShellLine]:
    """Every command in a block of shell of every document."""
    for document in documents():
        text = document.read_text(encoding="utf-8")
        for block in re.findall(r"^```(?:sh|shell|bash|console)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words = words[1:]
                if words:
                    yield ShellLine(document.name, tuple(words))
