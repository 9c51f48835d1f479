from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_slug

from annotations.campaigns.actions.importing import import_ratings
from annotations.campaigns.actions.setup import RESERVED_SLUGS, SlugTaken
from annotations.console import ConsoleCommand, add_corpus_argument
from annotations.corpora.queries import NotFound, version_of
from annotations.formats.importers.base import ImportFailed


class Command(ConsoleCommand):
    help = (
        "Read the ratings of a campaign that export_ratings wrote, on this site or another, as a "
        "closed campaign on a corpus with the same dialogues, systems and responses."
    )
    epilog = """
    Answers, revisions, times, guidelines and forms are as they were; raters keep their pseudonyms
    and have no account. Up to 100 problems are listed with line and field; then nothing is stored.

      manage.py export_ratings pilot --to pilot-ratings --format jsonl
      manage.py import_ratings pilot-ratings --corpus usr --slug pilot-again
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder",
            metavar="DIR",
            type=Path,
            help="with ratings.jsonl and campaign.json, as of export_ratings --format jsonl",
        )
        add_corpus_argument(parser)
        parser.add_argument("--slug", required=True, help="of the campaign that is made")
        parser.add_argument("--name", default="", help="of the campaign (default: as it was)")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["slug"]
        try:
            validate_slug(slug)
            if slug in RESERVED_SLUGS or len(slug) > 80:
                raise SlugTaken
            version = version_of(options["corpus"])
            campaign, ratings = import_ratings(version, options["folder"], slug, options["name"])
        except ValidationError:
            raise CommandError(f"{slug!r} is no slug: letters, digits, - and _") from None
        except SlugTaken:
            raise CommandError(f"the address {slug} is taken") from None
        except NotFound as refusal:
            raise CommandError(str(refusal)) from None
        except OSError as refusal:
            raise CommandError(f"{refusal.filename} cannot be read: {refusal.strerror}") from None
        except ImportFailed as refusal:
            raise CommandError(f"nothing was stored:\n{refusal}") from None
        self.stdout.write(f"{campaign.slug}: {ratings} ratings on {version}, closed")
