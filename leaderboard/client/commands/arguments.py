"""What several sub-commands share: their arguments, and the connection that they work with."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from leaderboard.client import credentials, terminal
from leaderboard.client.server import Server

Subparsers = Any
"""What ``add_subparsers`` returns; argparse has no public name for it."""
Run = Callable[[argparse.Namespace], int]


def command(
    parsers: Subparsers, name: str, help: str, run: Run, description: str = ""
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parsers.add_parser(
        name, help=help, description=description or help
    )
    parser.set_defaults(run=run)
    return parser


def add_round(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "challenge", metavar="CHALLENGE", help="the challenge's short name, as in its address"
    )
    parser.add_argument("round", metavar="ROUND", help="the round's short name")


def add_to(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("--to", type=Path, required=True, metavar="FILE", help=help)


def add_format(parser: argparse.ArgumentParser, *formats: str) -> None:
    """The first format is the default."""
    parser.add_argument(
        "--format", choices=formats, default=formats[0], help=f"default: {formats[0]}"
    )


def round_path(options: argparse.Namespace) -> str:
    return f"challenges/{part(options.challenge)}/rounds/{part(options.round)}"


def part(name: str) -> str:
    """A name as one part of a path: what was typed never leads elsewhere."""
    return (
        quote(name, safe="")
        if name not in (".", "..")
        else quote(name, safe="").replace(".", "%2E")
    )


def connected() -> Server:
    """The server of the environment or of ``login``.

    Returns:
        A connection that prints to standard error before it waits.

    Raises:
        ClientError: there is no server, or its credentials or proxy cannot be used.
    """
    return Server(credentials.current(), terminal.waiting)
