from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotations.console import ConsoleCommand
from dialeval_site.operations.backups import restoring
from dialeval_site.operations.backups.archive import ArchiveError


class Command(ConsoleCommand):
    help = (
        "Read a file of backup into this site, SQLite or PostgreSQL. Stop web servers and workers "
        "first. All of the file is checked before anything changes; where anything goes wrong, "
        "the database is as it was."
    )
    epilog = """
    Rows are loaded in one transaction. Where models could not be placed or sent, rows and uploads
    are restored all the same: the command ends with status 1 and names the models. While a backup
    is written, or somebody still uses the PostgreSQL database, it waits, and says so.

      manage.py restore dialeval.backup
    """
    reads_database = False  # it makes the tables itself

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            metavar="FILE",
            help="what backup wrote, by this version or an older one",
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="take away all that the site holds, and trained models of the same names; without "
            "it a database that holds anything is refused",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        with tqdm(total=0, unit="", unit_scale=True, file=self.stderr._out, disable=None) as bar:

            def report_progress(what: str, done: int, total: int) -> None:
                bar.total = total
                bar.set_description(what or "checking", refresh=False)
                bar.update(done - bar.n)

            def waits(words: str) -> None:
                bar.write(words, file=self.stderr._out)

            try:
                done = restoring.restore(file, options["replace"], report_progress, waits)
            except (restoring.Refused, ArchiveError) as fault:
                raise CommandError(f"{file}: {fault}") from None
            except OSError as fault:
                at = f"{fault.filename}: " if str(fault.filename or file) != str(file) else ""
                raise CommandError(
                    f"{file}: {at}{fault.strerror or fault}; the database is as it was"
                ) from None
        for name in done.existing:
            self.say(f"was here already and stayed: {name}")
        for name in done.missing:
            self.say(f"was not there when the backup was made: {name}")
        models = f", {done.models} models" if done.models else ""
        self.stdout.write(
            f"{file}: {done.rows:,} rows of {done.tables} tables, {done.files:,} uploads{models}, "
            f"as of {done.made_at}"
        )
        for fault in done.undone:
            self.say(fault)
        if done.undone:
            raise CommandError(
                f"{file}: its rows and uploads are restored, its models not all, as said above. "
                "Fix that and restore the file again, with --replace, before the site starts"
            )
