"""Reads the project's documents as data: sections, tables, code blocks."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.site import PROJECT


def documents() -> list[Path]:
    """Every Markdown file of the project: those at its top, ``docs/``, and beside benches and
    deployments."""
    folders = (PROJECT, PROJECT / "docs", PROJECT / "bench", PROJECT / "deploy")
    return [document for folder in folders for document in sorted(folder.glob("*.md"))]


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
class Block:
    """A fenced block: its language, the comment on the line above (``example: usr``), and what
    stands in it."""

    document: str
    line: int
    language: str
    mark: str
    text: str

    @property
    def first_line(self) -> str:
        return self.text.split("\n", 1)[0].strip()

    def __str__(self) -> str:
        return f"{self.document}:{self.line} {self.language or 'plain'}"


def blocks() -> Iterator[Block]:
    """Every fenced block of every document."""
    for document in documents():
        lines = document.read_text(encoding="utf-8").splitlines()
        opened: int | None = None
        for number, line in enumerate(lines):
            if not line.lstrip().startswith("```"):
                continue
            if opened is None:
                opened = number
                continue
            above = re.fullmatch(r"<!-- (.+) -->", lines[opened - 1].strip()) if opened else None
            yield Block(
                document=str(document.relative_to(PROJECT)),
                line=opened + 1,
                language=lines[opened].strip().removeprefix("```"),
                mark=above.group(1) if above else "",
                text=textwrap.dedent("\n".join(lines[opened + 1 : number])) + "\n",
            )
            opened = None
        assert opened is None, f"{document}:{opened}: a block that does not end"


@dataclass(frozen=True)
class ShellLine:
    """A command of an example, split as a shell would, without variables set before it."""

    document: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.document}: {' '.join(self.words)}"


SHELL = ("sh", "shell", "bash", "console")


def shell_lines() -> Iterator[ShellLine]:
    """Every command in a block of shell of every document."""
    for block in blocks():
        if block.language in SHELL:
            for line in block.text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words = words[1:]
                if words:
                    yield ShellLine(Path(block.document).name, tuple(words))
