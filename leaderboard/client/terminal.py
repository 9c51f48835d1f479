"""What the command prints: results on standard output, progress and notes on standard error."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from leaderboard.client.server import Moved
from leaderboard.client.texts import as_json, one_line, padded, width_of

WIDEST_CELL = 60


def write_every_character() -> None:
    """Let standard output and error write characters that their encoding lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """Print a line of results on standard output.

    Args:
        text: without its line end.
    """
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Print a line on standard error.

    Args:
        text: without its line end.
    """
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def show_json(document: Any) -> None:
    """Print a JSON document on standard output.

    Args:
        document: of values that JSON has. Other than ASCII is escaped where standard output is not
            Unicode.
    """
    say(as_json(document, in_ascii=not _has_every_character()))


def show_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[str] = ()
) -> None:
    """Print a table in plain text on standard output.

    Args:
        columns: headings.
        rows: one cell per column, cut at ``WIDEST_CELL`` characters.
        right: those of ``columns`` that are aligned right, such as numbers.
    """
    cells = [[one_line(cell, WIDEST_CELL) for cell in row] for row in rows]
    widths = [
        max([width_of(column), *(width_of(row[place]) for row in cells)])
        for place, column in enumerate(columns)
    ]
    rule = "─" if _has_every_character() else "-"
    for row in [list(columns), [rule * width for width in widths], *cells]:
        line = "  ".join(
            padded(cell, width, column in right)
            for cell, width, column in zip(row, widths, columns, strict=True)
        )
        say(line.rstrip())


def _has_every_character() -> bool:
    return codecs.lookup(sys.stdout.encoding or "utf-8").name.startswith("utf")


def waiting(why: str, seconds: float) -> None:
    """Print on standard error that the command waits.

    Args:
        why: the reason.
        seconds: length of the pause.
    """
    note(f"{why}; again in {seconds:.0f} s")


@contextmanager
def bytes_moved(what: str, total: int = 0) -> Iterator[Moved]:
    """Progress bar in bytes on standard error, where that is a terminal.

    Args:
        what: label of the bar.
        total: number of bytes; 0 where it is unknown.

    Returns:
        A context manager that gives a function to be called with the bytes so far and the total, 0
        where it is unknown.
    """
    from tqdm import tqdm

    with tqdm(
        total=total or None,
        unit="B",
        unit_scale=True,
        desc=what,
        file=sys.stderr,
        disable=None,
        leave=False,
    ) as bar:

        def moved(now: int, of: int) -> None:
            if of:
                bar.total = of
            bar.update(now - bar.n)

        yield moved
