from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from annotations.corpora.queries import NotFound, version_of
from annotations.corpora.record_stream import records_of
from annotations.formats.exporters.base import ExportFailed
from annotations.formats.exporters.registry import exporters
from annotations.models import CorpusVersion
from annotations.sources.push import NotPushed, push
from common.database import read_snapshot
from common.temporary import temporary_folder
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
      manage.py export_corpus demo --format dataset --push hf://datasets/OWNER/NAME
    """

    def add_arguments(self, parser: CommandParser) -> None:
        known = exporters()
        parser.add_argument("slug", metavar="CORPUS", help="its slug")
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument("--to", type=Path, metavar="DIR", help="the folder to write")
        target.add_argument(
            "--push",
            metavar="hf://datasets/OWNER/NAME",
            help="with --format dataset: make it a dataset of the Hugging Face Hub, with HF_TOKEN; "
            "raters under pseudonyms, without their comments",
        )
        parser.add_argument(
            "--public",
            action="store_true",
            help="with --push: everybody may read the dataset that is made (default: private)",
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
            help="replace a folder that holds something, which is refused without it; with --push "
            "add a commit to a dataset that is there",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["push"] is not None:
            self._push(options)
            return
        if options["public"]:
            raise CommandError("--public is for --push")
        if options["to"] == Path():
            raise CommandError("--to names no folder")
        version = self._write(options, options["to"], raters_named=True)
        self.stdout.write(
            f"{version.corpus.slug}: wrote {version.label} to {options['to']} as "
            f"{options['format']}"
        )

    def _write(self, options: dict[str, Any], target: Path, raters_named: bool) -> CorpusVersion:
        try:
            with read_snapshot():
                version = version_of(options["slug"])
                exporters()[options["format"]].export(
                    records_of(version, raters_named=raters_named),
                    target,
                    exported_scores(version),
                    replace=options["replace"],
                )
        except (NotFound, ExportFailed) as refusal:
            raise CommandError(str(refusal)) from None
        except OSError as refusal:
            raise CommandError(f"{target} cannot be written: {refusal.strerror}") from None
        return version

    def _push(self, options: dict[str, Any]) -> None:
        if options["format"] != "dataset":
            raise CommandError("--push takes --format dataset")
        with temporary_folder() as folder:
            version = self._write(options, folder / "dataset", raters_named=False)
            try:
                address = push(
                    folder / "dataset",
                    options["push"],
                    endpoint=settings.HF_ENDPOINT,
                    token=settings.HF_TOKEN,
                    public=options["public"],
                    replace=options["replace"],
                )
            except NotPushed as refusal:
                raise CommandError(f"not pushed: {refusal}") from None
        self.stdout.write(f"{version.corpus.slug}: pushed {version.label} to {address}")
