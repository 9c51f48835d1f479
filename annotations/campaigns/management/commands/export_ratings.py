from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.adjudication import adjudicated_items, adjudication_count
from annotations.campaigns.queries.rating_stream import (
    campaign_document,
    campaign_records,
    ratings_to_export,
)
from annotations.campaigns.queries.ratings import campaign_by_slug, question_keys
from annotations.console import ConsoleCommand
from annotations.corpora.queries import NotFound
from annotations.formats.exporters import mt_metrics_eval
from annotations.formats.exporters.base import ExportFailed, whole_folder
from annotations.formats.exporters.rating_files import (
    csv_of_adjudications,
    csv_of_ratings,
    csv_of_revisions,
    json_lines,
)
from common.database import read_snapshot

FORMATS = {
    "csv": "ratings.csv (current values), revisions.csv (all of them) and, where items are "
    "adjudicated, adjudications.csv",
    "jsonl": "ratings.jsonl, everything about each rating, and campaign.json, what was asked; "
    "import_ratings reads both",
    "mt-metrics-eval": "the folder layout of mt-metrics-eval with the campaign's human scores",
}


class Command(ConsoleCommand):
    help = (
        "Write a campaign's ratings into a folder, raters under pseudonyms. Only ratings that "
        "count, unless asked otherwise. The folder appears when it is complete."
    )
    epilog = """
    docs/formats.md describes the files.

      manage.py export_ratings demo-rated --to demo-scores --format mt-metrics-eval
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="CAMPAIGN", help="its slug")
        parser.add_argument(
            "--to", required=True, type=Path, metavar="DIR", help="the folder to write"
        )
        parser.add_argument(
            "--format",
            choices=list(FORMATS),
            default="csv",
            help="; ".join(f"{name}: {what}" for name, what in FORMATS.items()) + " (default csv)",
        )
        parser.add_argument(
            "--names",
            action="store_true",
            help="add the raters' account names, in a column (key) 'account'; not with "
            "mt-metrics-eval",
        )
        parser.add_argument(
            "--include-excluded",
            action="store_true",
            help="also what does not count: ratings of excluded raters, training and attention "
            "items (of mt-metrics-eval the former only)",
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace a folder that holds something, which is refused without it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["to"] == Path():
            raise CommandError("--to names no folder")
        if options["names"] and options["format"] == "mt-metrics-eval":
            raise CommandError(
                "mt-metrics-eval's files hold means over raters: there is nothing for --names to "
                "name"
            )
        try:
            campaign = campaign_by_slug(options["slug"])
            if campaign.kind == Campaign.Kind.COLLECTION:
                raise CommandError(f"{campaign.slug} collects dialogues; nothing is rated in it")
            if campaign.compares and options["format"] == "mt-metrics-eval":
                raise CommandError("mt-metrics-eval holds scores, and raters of pairs give none")
            with whole_folder(options["to"], options["replace"]) as folder, read_snapshot():
                _write(
                    campaign,
                    folder,
                    options["format"],
                    options["include_excluded"],
                    options["names"],
                )
        except (NotFound, ExportFailed) as refusal:
            raise CommandError(str(refusal)) from None
        except OSError as refusal:
            raise CommandError(f"{options['to']} cannot be written: {refusal.strerror}") from None
        self.stdout.write(
            f"{campaign.slug}: wrote its ratings to {options['to']} as {options['format']}"
        )


def _write(campaign: Campaign, folder: Path, form: str, everything: bool, names: bool) -> None:
    axes, questions = [axis["key"] for axis in campaign.axes], question_keys(campaign)
    if form == "mt-metrics-eval":
        mt_metrics_eval.write(campaign_records(campaign, everything), (), folder)
    elif form == "jsonl":
        _write_lines(
            folder / "ratings.jsonl",
            json_lines(ratings_to_export(campaign, everything, names), names),
        )
        document = json.dumps(campaign_document(campaign), ensure_ascii=False, indent=1)
        _write_lines(folder / "campaign.json", [document, "\n"])
    else:
        for name, lines in (("ratings.csv", csv_of_ratings), ("revisions.csv", csv_of_revisions)):
            _write_lines(
                folder / name,
                lines(
                    ratings_to_export(campaign, everything, names),
                    axes,
                    names,
                    questions,
                    campaign.compared_column,
                ),
            )
        if adjudication_count(campaign):
            _write_lines(
                folder / "adjudications.csv",
                csv_of_adjudications(adjudicated_items(campaign), questions, campaign.is_of_pairs),
            )


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)
