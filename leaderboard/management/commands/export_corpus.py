from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from annotations.corpora.queries import NotFound, version_of
from annotations.corpora.record_stream import records_of
from annotations.formats.exporters.base import ExportFailed
from annotations.formats.exporters.registry import exporters
from common.database import read_snapshot
from leaderboard.queries.exported_scores import exported_scores


class Command(ConsoleCommand):
    help = (
        "Write a corpus into a folder: dialogues, systems, responses, ratings and the scores of "
        "metrics, those of all finished runs and those that were submitted. The folder appears "
        "when it is complete."
    )
    epilog = """
    Importing the corpus.jsonl of jsonl gives the same version. docs/formats.md describes the files.

      manage.py export_corpus demo --to demo-export --format mt-metrics-eval
    """

    def add_arguments(self, parser: CommandParser) -> None:
        known = exporters()
        parser.add_argument("slug", metavar="CORPUS", help="its slug")
        parser.add_argument(
            "--to", required=True, type=Path, metavar="DIR", help="the folder to write"
        )
        parser.add_argument(
            "--format",
            choices=list(known),
            default="jsonl",
            help="; ".join(f"{exporter.name}: {exporter.summary}" for exporter in known.values())
            + " (default jsonl)",
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace a folder that holds something, which is refused without it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["to"] == Path():
            raise CommandError("--to names no folder")
        try:
            with read_snapshot():
                version = version_of(options["slug"])
                exporters()[options["format"]].export(
                    records_of(version),
                    options["to"],
                    exported_scores(version),
                    replace=options["replace"],
                )
        except (NotFound, ExportFailed) as refusal:
            raise CommandError(str(refusal)) from None
        except OSError as refusal:
            raise CommandError(f"{options['to']} cannot be written: {refusal.strerror}") from None
        self.stdout.write(
            f"{version.corpus.slug}: wrote {version.label} to {options['to']} as "
            f"{options['format']}"
        )
