"""What is wrong in a file, said so that a person finds the place and can mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

MAX_PROBLEMS = 100
"""More than this nobody reads, and a file of garbage must not cost more than a glance."""

Where = str | int
"""A JSON path such as ``$[3]``, or the number of a line (from 1)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: ``where`` is a JSON path or a line number, ``field`` the path below it; both may
    be empty."""

    file: str
    where: Where
    field: str
    message: str

    def __str__(self) -> str:
        if isinstance(self.where, int):
            parts = [f"{self.file}:{self.where}", self.field, self.message]
        else:
            joint = "." if self.where and self.field and not self.field.startswith("[") else ""
            parts = [self.file, f"{self.where}{joint}{self.field}", self.message]
        return ": ".join(part for part in parts if part)


class ImportFailed(Exception):
    """The file cannot be imported. ``problems`` holds at most 100; ``stopped`` says that reading
    ended there."""

    def __init__(self, problems: Iterable[Problem], stopped: bool = False) -> None:
        self.problems = tuple(problems)
        self.stopped = stopped
        super().__init__(str(self))

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if self.stopped:
            lines.append("and more; stopped")
        return "\n".join(lines)


@dataclass
class Problems:
    """The faults found in one file so far."""

    file: str
    found: list[Problem] = field(default_factory=list)
    refused: set[tuple[str, str]] = field(default_factory=set)
    """(type, name or id) of records that were read and are at fault: who refers to them is not to
    blame."""

    def add(self, where: Where, field: str, message: str) -> None:
        """Notes a fault and lets the reader go on. Raises ImportFailed at the first one that is too
        many."""
        if len(self.found) >= MAX_PROBLEMS:
            raise ImportFailed(self.found, stopped=True)
        self.found.append(Problem(self.file, where, field, message))

    def stop(self, where: Where, field: str, message: str) -> NoReturn:
        """Notes a fault after which the rest of the file has no meaning. Raises ImportFailed."""
        self.add(where, field, message)
        raise ImportFailed(self.found)

    def raise_if_any(self) -> None:
        """Raises ImportFailed where a fault was found."""
        if self.found:
            raise ImportFailed(self.found)
