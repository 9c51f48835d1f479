from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations import site_identity
from annotations.console import ConsoleCommand


class Command(ConsoleCommand):
    help = (
        "Say which site this database is, and whether the files of DIALEVAL_HOME and of the "
        "storage belong to it. Ends with status 1 where they do not."
    )
    epilog = """
    Web servers and workers do not start on files of another database: docs/operators.md.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        chosen = parser.add_mutually_exclusive_group()
        chosen.add_argument(
            "--claim",
            action="store_true",
            help="these files belong to this database from now on, and to no other: after a "
            "database was lost or moved",
        )
        chosen.add_argument(
            "--new",
            action="store_true",
            help="give this database an identity of its own: after it was copied, as by pg_dump, "
            "to make a second site",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["new"]:
            site_identity.renew()
        if options["claim"]:
            try:
                site_identity.claim()
            except OSError as fault:
                raise CommandError(f"nothing was claimed: {fault.strerror or fault}") from None
        self.stdout.write(f"this database is the site {site_identity.identity()}")
        try:
            site_identity.check()
        except OSError as fault:  # they are foreign, or the storage is away
            raise CommandError(str(fault.strerror or fault)) from None
        self.stdout.write("the files of DIALEVAL_HOME and of the storage belong to it")
