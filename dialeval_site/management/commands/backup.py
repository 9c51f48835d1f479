from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotations.console import ConsoleCommand
from dialeval_site.operations.backups import making


class Command(ConsoleCommand):
    help = (
        "Write the whole site to one file, as it is at this moment, while it is in use: every row "
        "and every upload. The file is the same for SQLite and PostgreSQL; restore reads it."
    )
    epilog = """
    Where an upload is missing although its submission is there, the file is written all the same:
    the command names what is not in it and ends with status 1. While a restore runs it waits, and
    says so. docs/operators.md lists what a backup does not hold.

      manage.py backup --to dialeval.backup
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to",
            type=Path,
            required=True,
            metavar="FILE",
            help="one of that name is replaced when the new one is whole; only its owner may "
            "read it",
        )
        parser.add_argument(
            "--with-models",
            action="store_true",
            help="with the trained models of this machine, and with the checkpoints of unfinished "
            "trainings",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        to: Path = options["to"]
        if to.is_dir():
            raise CommandError(f"{to} is a folder: name a file")
        with tqdm(total=0, unit="row", file=self.stderr._out, disable=None) as bar:

            def report_progress(what: str, done: int, total: int) -> None:
                bar.total = total
                bar.set_description(what, refresh=False)
                bar.update(done - bar.n)

            def waits(words: str) -> None:
                bar.write(words, file=self.stderr._out)

            try:
                made = making.make(to, options["with_models"], report_progress, waits)
            except OSError as fault:
                at = f"{fault.filename}: " if str(fault.filename or to) != str(to) else ""
                raise CommandError(
                    f"{to}: {at}{fault.strerror or fault}; nothing was written"
                ) from None
        for name in made.missing:
            self.say(f"not there: {name}")
        models = f", {made.model_files:,} files of models" if options["with_models"] else ""
        self.say(f"Not in it: {making.NOT_IN_IT}.")
        self.stdout.write(
            f"{to}: {made.rows:,} rows of {made.tables} tables, {made.files:,} uploads{models}, "
            f"{to.stat().st_size / 1e6:,.1f} MB"
        )
        if made.lost:
            what = (
                "1 upload of this site is"
                if made.lost == 1
                else f"{made.lost:,} uploads of this site are"
            )
            raise CommandError(f"{what} not there, and not in {to}; everything else is in it")
