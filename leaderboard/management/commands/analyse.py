"""Compute the statistics that wait, in this process."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from annotations.corpora import queries
from leaderboard.models import Analysis
from leaderboard.results import computing, refresh


class Command(ConsoleCommand):
    help = (
        "Compute in this process the statistics that pages wait for, and those whose data have "
        "changed."
    )
    epilog = """
    Workers do so by themselves: this is for a site without one, and for a copy whose pages should
    all be there at once. Where one cannot be computed, it says why and ends with status 1.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--corpus", metavar="S", help="only those of this corpus")

    def handle(self, *args: Any, **options: Any) -> None:
        versions = None
        if options["corpus"]:
            try:
                versions = list(queries.version_of(options["corpus"]).corpus.versions.all())
            except queries.NotFound as missing:
                raise CommandError(str(missing)) from None
        refresh.renew()
        done = computing.compute_waiting(versions)
        failed = [row for row in done if row.state == Analysis.State.FAILED]
        for row in failed:
            self.stderr.write(f"{row.kind} of {row.version} {row.question}: {row.error}")
        self.stdout.write(f"computed {len(done) - len(failed)} statistics, {len(failed)} failed")
        if failed:
            raise CommandError(f"{len(failed)} could not be computed")
