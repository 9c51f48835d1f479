"""``export``."""

from __future__ import annotations

import argparse

from leaderboard.client import terminal
from leaderboard.client.commands.arguments import (
    Subparsers,
    add_format,
    add_to,
    command,
    connected,
    part,
)


def add(parsers: Subparsers) -> None:
    export = command(parsers, "export", "download a corpus with its ratings and scores", _export)
    export.add_argument("corpus", metavar="CORPUS", help="the corpus's short name")
    add_format(
        export, *("jsonl", "dataset", "csv", "mt-metrics-eval", "dpo", "label-studio", "argilla")
    )
    add_to(export, "where to write it: a zip archive")


def _export(options: argparse.Namespace) -> int:
    with connected() as server, terminal.bytes_moved("download") as moved:
        path = f"corpora/{part(options.corpus)}/export"
        size = server.download_export(path, options.to, moved, format=options.format)
    terminal.note(f"wrote {size:,} bytes to {options.to}")
    return 0
