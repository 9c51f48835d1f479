from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations import orphans
from annotations.console import ConsoleCommand


class Command(ConsoleCommand):
    help = (
        "Look now for files that no row names, as workers do every ten minutes: they are moved "
        f"to the storage's folder quarantine, and removed after {orphans.QUARANTINE_DAYS} days. "
        "Ends with status 1 where they are too many."
    )
    epilog = """
    Prints for each kind how many files were moved, came back and were removed: docs/operators.md.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--force",
            action="store_true",
            help="move them however many there are: after you have looked",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            collected = orphans.collect(force=options["force"])
        except OSError as fault:
            raise CommandError(str(fault.strerror or fault)) from None
        for one in collected:
            self.stdout.write(
                f"{one.kind}: {one.quarantined} into quarantine, {one.returned} back, "
                f"{one.removed} removed ({one.removed_bytes / 1e6:,.1f} MB)"
            )
        if refused := sum(one.refused for one in collected):
            raise CommandError(
                f"{refused} files without a row stay where they are: too many to be right (--force)"
            )
