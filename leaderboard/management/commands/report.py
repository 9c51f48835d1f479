from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from annotations.corpora.queries import NotFound, resolve_aspect, version_of
from common.temporary import temporary_folder
from leaderboard.pages.report.contents import contents_of
from leaderboard.pages.report.html import html_of


class Command(ConsoleCommand):
    help = (
        "Write a corpus's results as one HTML file that needs nothing else: findings, pictures, "
        "tables with their LaTeX, the method, references and signatures. It opens without a "
        "network, in a browser or on paper."
    )
    epilog = """
    The file is called after the corpus and its version, usr-v1-12c2b35e6d08.html, and has about 5
    MB, most of it the chart library. What is stored for the present data is read, the rest is
    computed.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("corpus", metavar="CORPUS", help="its slug")
        parser.add_argument(
            "--to",
            type=Path,
            required=True,
            metavar="DIR",
            help="a folder; made where it does not exist",
        )
        parser.add_argument("--aspect", help="the human score (default: the corpus's main aspect)")
        parser.add_argument(
            "--force", action="store_true", help="replace a report of the same name"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            version = version_of(options["corpus"])
            aspect = resolve_aspect(version, options["aspect"])
        except NotFound as refusal:
            raise CommandError(str(refusal)) from None
        file = _place(
            options["to"], f"{version.corpus.slug}-{version.label}.html", options["force"]
        )
        text = html_of(contents_of(version, aspect, lambda line: self.say(f"… {line}")))
        try:
            _write(file, text)
        except OSError as problem:
            raise CommandError(f"{file}: {problem.strerror}") from None
        self.say(
            f"{file}: {len(text.encode()) / 1e6:.1f} MB, {version.corpus.slug} {version.label}, "
            f"{aspect}"
        )


def _place(folder: Path, name: str, replace: bool) -> Path:
    """Checked before minutes of work, not after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CommandError(f"{folder}: {problem.strerror}") from None
    file = folder / name
    if file.exists() and not replace:
        raise CommandError(f"{file} is there already; --force replaces it")
    return file


def _write(file: Path, text: str) -> None:
    """The whole file or none of it."""
    with temporary_folder(beside=file) as folder:
        (folder / file.name).write_text(text, encoding="utf-8")
        os.replace(folder / file.name, file)
