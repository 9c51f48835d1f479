"""``export``."""

from __future__ import annotations

import argparse

from leaderboard.client import terminal
from leaderboard.client.commands.arguments import Subparsers, add_to, command, part
from leaderboard.client.session import connected


def add(parsers: Subparsers) -> None:
    export = command(parsers, "export", "download a corpus with its ratings and scores", _export)
    export.add_argument("corpus", metavar="CORPUS", help="the corpus's short name")
    export.add_argument("--format", default="jsonl", help="jsonl (default), or another that the server offers")
    add_to(export, "where to write it")


def _export(options: argparse.Namespace) -> int:
    with connected() as server, terminal.bytes_moved("download") as moved:
        size = server.download(f"corpora/{part(options.corpus)}/export", options.to, moved, format=options.format)
    terminal.note(f"wrote {size:,} bytes to {options.to}")
    return 0
