"""Takes the place of the command of the same name, which knows corpora only: this app comes first
among the installed ones, and the core must not know of campaigns."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.ratings import (
    campaign_agreement,
    campaign_by_slug,
    level_of,
    resolve_campaign_aspect,
    select_rated_systems,
)
from annotations.console import add_choice_arguments
from annotations.corpora.queries import NotFound
from annotations.management.commands.agreement import Command as CorpusAgreement
from annotations.management.commands.agreement import add_report_arguments


class Command(CorpusAgreement):
    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--corpus", metavar="S", help="the corpus's slug: its newest version")
        source.add_argument(
            "--campaign", metavar="SLUG", help="the ratings of a campaign, published or not"
        )
        parser.add_argument(
            "--include-excluded",
            action="store_true",
            help="of a campaign: also the ratings that do not count, of excluded raters",
        )
        add_choice_arguments(parser)
        add_report_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["campaign"]:
            if options["include_excluded"]:
                raise CommandError("--include-excluded goes with --campaign")
            super().handle(*args, **options)
            return
        try:
            campaign = campaign_by_slug(options["campaign"])
            if campaign.kind == Campaign.Kind.COLLECTION:
                raise CommandError(f"{campaign.slug} collects dialogues; nothing is rated in it")
            if options["level"] not in (None, level_of(campaign)):
                raise CommandError(f"{campaign.slug} is rated at {level_of(campaign)} level")
            aspect = resolve_campaign_aspect(campaign, options["aspect"])
            systems = select_rated_systems(campaign, options["systems"], options["exclude"])
        except NotFound as refusal:
            raise CommandError(str(refusal)) from None
        report = campaign_agreement(
            campaign,
            aspect,
            systems,
            excluded=options["include_excluded"],
            resamples=self.resamples_of(options),
        )
        source = (
            f"campaign {campaign.slug} on {campaign.version.corpus.slug} {campaign.version.label}"
        )
        self.print_report(report, source, options["format"])
