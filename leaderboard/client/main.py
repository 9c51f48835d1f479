"""The command line ``dialeval``: log in, look at challenges, hand in, watch, compare.

Exit status 0, or 1 with one line on standard error that says why.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from common.version import VERSION
from leaderboard.client import terminal
from leaderboard.client.commands import (
    account,
    campaigns,
    challenges,
    export,
    imports,
    submissions,
)
from leaderboard.client.errors import ClientError
from leaderboard.client.texts import is_unicode, one_line

DESCRIPTION = "Take part in the challenges of a dialeval site: submit, watch, compare."
EPILOG = (
    "DIALEVAL_SERVER and DIALEVAL_TOKEN replace a login. dialeval COMMAND --help says more "
    "of a command."
)


class _Parser(argparse.ArgumentParser):
    """Wrong arguments are status 1 as everything else that goes wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"{self.prog}: {one_line(message)} (--help says how it is used)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of ``dialeval``.

    Args:
        arguments: those of the command line; None for ``sys.argv``.

    Returns:
        Exit status: 0, or 1 with one line on standard error that says why.

    Raises:
        SystemExit: for ``--help`` (status 0) and wrong arguments (status 1).
    """
    terminal.write_every_character()
    options = _parser().parse_args(arguments)
    try:
        _refuse_broken_texts(options)
        if options.version:
            terminal.say(f"dialeval {VERSION}")
            return 0
        if options.run is None:
            _parser().print_help()
            return 1
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except ClientError as error:
        terminal.note(f"dialeval: {one_line(error)}")
    except KeyboardInterrupt:
        terminal.note("dialeval: stopped")
    except BrokenPipeError:
        # Whoever read our output has enough of it: nothing more may be written, not even when
        # Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        terminal.note(f"dialeval: {one_line(error)}")
    return 1


def _refuse_broken_texts(options: argparse.Namespace) -> None:
    """What goes to a site is UTF-8. The path of a file that stays here may be any bytes."""
    for name, value in vars(options).items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not is_unicode(text):
                raise ClientError(f"{name}: {text!r} is not UTF-8")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="dialeval", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="store_true", help="show the version and end")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    for group in (account, challenges, submissions, export, imports, campaigns):
        group.add(commands)
    return parser
