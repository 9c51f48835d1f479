"""What all commands share: one line that says what was done, exit 0 or 1, and JSON alone on
standard output."""

from __future__ import annotations

import codecs
import fcntl
import io
import json
import os
import select
import sys
import textwrap
from argparse import SUPPRESS, Action, ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
)
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotations import orphans
from common import temporary
from common.tables.numerals import Dash

MAX_DRAWS = 100_000
"""Draws of dialogues. An interval's ends stand still long before; a slip of the finger would ask
for terabytes."""

NAMED_WITH_A_REASON = 6


class HelpFormatter(DjangoHelpFormatter):
    """Names each default, keeps paragraphs apart, and leaves indented lines (examples) alone."""

    def _get_help_string(self, action: Action) -> str | None:
        is_set = action.default is not False and action.default not in (None, "", {}, [], SUPPRESS)
        if not (action.help and action.option_strings and is_set) or "default" in action.help:
            return action.help
        return f"{action.help} (default: %(default)s)"

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = textwrap.dedent(text).strip("\n").split("\n\n")
        return "\n\n".join(
            one.rstrip()
            if one.startswith(" ")
            else indent + textwrap.fill(" ".join(one.split()), width, break_on_hyphens=False)
            for one in paragraphs
        )


class ConsoleCommand(BaseCommand):
    """Results go to standard output, everything said about them to standard error.

    ``epilog`` is what ``manage.py help NAME`` says below the arguments: paragraphs, and examples as
    indented lines.
    """

    epilog = ""
    requires_system_checks: list[str] = []
    reads_database = True

    def run_from_argv(self, argv: list[str]) -> None:
        write_every_character()
        with quiet_when_nobody_reads():
            super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> Any:
        _refuse_broken_texts(options)
        if self.reads_database:
            make_database_ready()
            orphans.collect_temporary()  # what a command left that was killed
        else:
            temporary.remove_abandoned()
        return super().execute(*args, **options)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(
            prog_name, subcommand, formatter_class=HelpFormatter, epilog=self.epilog, **kwargs
        )

        def refuse(message: str) -> NoReturn:
            if not getattr(parser, "called_from_command_line", None):
                raise CommandError(message)
            parser.print_usage(self.stderr._out)
            parser.exit(1, f"{parser.prog}: {message}\n")

        parser.error = refuse  # type: ignore[method-assign]
        return parser

    def say(self, line: str) -> None:
        # In plain colour: Django paints standard error red, and this is no error
        self.stderr.write(line, str)

    def print_json(self, document: Any) -> None:
        # An escape of JSON is read back as it was; one that stands in for what an encoding lacks
        # need not be.
        in_ascii = not _has_every_character(self.stdout)
        self.stdout.write(json.dumps(document, indent=2, ensure_ascii=in_ascii, allow_nan=False))

    def print_as(
        self, form: str, document: Any, to_csv: Callable[[Any], str], to_latex: Callable[[Any], str]
    ) -> bool:
        """As ``json``, ``csv`` or ``latex``; False for any other form, which is the command's own
        to print."""
        if form == "json":
            self.print_json(document)
        elif form == "csv":
            self.stdout.write(to_csv(document), ending="")
        elif form == "latex":
            self.stdout.write(to_latex(document))
        else:
            return False
        return True

    def print_table(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        undefined: Iterable[tuple[str, str]] = (),
    ) -> None:
        """``undefined``: (what, why) of each "–" in the table that is no ``Dash``; each reason is
        told once, beneath it."""
        self.stdout.write(text_table(header, rows))
        of_reason: dict[str, list[str]] = {}
        for what, why in (*undefined, *_dashes(header, rows)):
            of_reason.setdefault(why, []).append(what)
        for why, all_of_them in of_reason.items():
            named = list(dict.fromkeys(all_of_them))
            more = (
                f" and {len(named) - NAMED_WITH_A_REASON} more"
                if len(named) > NAMED_WITH_A_REASON
                else ""
            )
            self.stdout.write(f"– {', '.join(named[:NAMED_WITH_A_REASON])}{more}: {why}")


def write_every_character() -> None:
    """Standard output and error write what their encoding lacks as an escape, and never fail over
    it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _has_every_character(stream: Any) -> bool:
    return codecs.lookup(getattr(stream, "encoding", None) or "utf-8").name.startswith("utf")


def _is_read() -> bool:
    """Whether somebody still reads our output. Where a system cannot tell, nobody does."""
    if not hasattr(select, "poll"):
        return False
    watched = select.poll()
    watched.register(sys.stdout.fileno(), 0)
    return not watched.poll(0)


@contextmanager
def quiet_when_nobody_reads() -> Iterator[None]:
    """Whoever reads our output may have enough of it, such as ``head``: exit 1, nothing said."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        if _is_read():
            raise  # another pipe's: a process or a server of ours is gone
        # Nothing more may be written, not even when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _refuse_broken_texts(options: dict[str, Any]) -> None:
    """Bytes that are no UTF-8 reach us as half surrogate pairs, which no database takes."""
    for name, value in options.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and any(
                "\ud800" <= character <= "\udfff" for character in text
            ):
                raise CommandError(f"{name}: {text!r} is not UTF-8")


def add_ratings_arguments(parser: CommandParser) -> None:
    """Which ratings a statistic is of, and how its intervals are drawn: the same for every command
    that makes one."""
    add_corpus_argument(parser)
    add_choice_arguments(parser)
    parser.add_argument(
        "--resamples",
        type=parse_integer(0, MAX_DRAWS),
        default=1000,
        help=f"bootstrap draws of dialogues, up to {MAX_DRAWS:,}; 0: no intervals",
    )
    parser.add_argument("--seed", type=parse_integer(0), default=0, help="of the draws")


def add_corpus_argument(parser: CommandParser) -> None:
    parser.add_argument(
        "--corpus", required=True, metavar="S", help="the corpus's slug: its newest version"
    )


def add_choice_arguments(parser: CommandParser) -> None:
    """Aspect and systems, wherever the ratings come from."""
    parser.add_argument(
        "--aspect", help="the human score, in any case (default: the corpus's main aspect)"
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--systems", type=comma_list, metavar="a,b", help="only these systems")
    chosen.add_argument("--exclude", type=comma_list, metavar="x,y", help="all but these systems")


def add_format_argument(parser: CommandParser, *more: str) -> None:
    parser.add_argument(
        "--format",
        choices=["table", "json", *more],
        default="table",
        help="what is printed" + (", latex for a paper" if "latex" in more else ""),
    )


def make_database_ready() -> None:
    """A first command on a fresh folder makes its SQLite database. Other databases are the
    operator's to migrate."""
    if not _missing_migrations():
        return
    with one_migrates():  # another command may have been at it, and be done now
        missing = _missing_migrations()
        if not missing:
            return
        if connection.vendor != "sqlite" or MigrationExecutor(connection).loader.applied_migrations:
            raise CommandError(f"the database lacks {missing} migrations; run: manage.py migrate")
        call_command("migrate", interactive=False, verbosity=0)


@contextmanager
def one_migrates() -> Iterator[None]:
    """One process of this machine at a time makes or changes the database."""
    with (settings.HOME / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _missing_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _dashes(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        name = next((cell.strip() for cell in row if cell.strip()), "")
        for column, cell in zip(header, row, strict=True):
            if isinstance(cell, Dash):
                yield (f"{name}, {column}" if column and column != header[0] else name), cell.reason


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned for a terminal; a column of figures stands right, one of words left."""
    columns = list(zip(header, *rows, strict=True)) if rows else [(name,) for name in header]
    widths = [max(len(cell) for cell in column) for column in columns]
    to_the_right = [
        len(column) > 1
        and all(cell in ("", "–") or cell[0] in "-+−.0123456789" for cell in column[1:])
        for column in columns
    ]

    def line(cells: Sequence[str]) -> str:
        placed = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, to_the_right, strict=True)
        )
        return "  ".join(placed).rstrip()

    return "\n".join(
        [line(header), line(["-" * width for width in widths]), *(line(row) for row in rows)]
    )


def figure(value: float | None, decimals: int = 3) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


def figure_with_interval(estimate: dict[str, Any] | None, decimals: int = 3) -> str:
    """``0.512 [0.401, 0.603]`` from an estimate in its JSON form; ``–`` when undefined."""
    if not estimate or estimate.get("value") is None:
        return "–"
    text = figure(estimate["value"], decimals)
    if estimate.get("ci"):
        low, high = estimate["ci"]
        text += f" [{low:.{decimals}f}, {high:.{decimals}f}]"
    return text


def comma_list(text: str) -> list[str]:
    """Names separated by commas, blanks around them dropped; at least one, for no name would mean
    all of them."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ArgumentTypeError("names nothing")
    return names


def parse_integer(least: int, most: int | None = None) -> Callable[[str], int]:
    """The type of an argument that is a whole number from ``least``, up to ``most`` where there is
    an end."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ArgumentTypeError(f"must be a whole number, not {text!r}") from None
        if number < least:
            raise ArgumentTypeError(f"must be {least} or more, not {number}")
        if most is not None and number > most:
            raise ArgumentTypeError(f"must be at most {most:,}, not {number:,}")
        return number

    return read
