"""The tables of organisers' pages, as data."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _

from annotations.campaigns.models import Campaign
from common.tables import Cell, Column, Row, Table


def campaigns_table(campaigns: Iterable[Campaign]) -> Table:
    """``campaigns`` are of ``overview.campaigns_with_counts``."""
    columns = (
        Column("campaign", _("Campaign"), "link"),
        Column("state", _("State")),
        Column("kind", _("What raters do")),
        Column("corpus", _("Corpus"), detail=True),
        Column(
            "done",
            _("Ratings"),
            "number",
            decimals=0,
            help=_("Those that count; of a collection, dialogues."),
        ),
        Column("wanted", _("Planned"), "number", decimals=0),
        Column("progress", _("Progress, %"), "number", decimals=0),
        Column("raters", _("Raters"), "number", decimals=0, detail=True),
        Column("made", _("Created"), detail=True),
    )
    return Table("campaigns", _("Campaigns"), columns, tuple(map(_row, campaigns)))


def _row(campaign: Campaign) -> Row:
    is_draft = campaign.state == Campaign.State.DRAFT
    return Row(
        campaign.slug,
        {
            "campaign": Cell(campaign.name, href=reverse("campaign", args=[campaign.slug])),
            "state": Cell(str(campaign.get_state_display())),
            "kind": Cell(str(campaign.get_kind_display())),
            "corpus": Cell(f"{campaign.version.corpus.slug} {campaign.version.label}")
            if campaign.version
            else Cell(reason=_("a collection makes one")),
            "done": Cell(campaign.done),
            "wanted": Cell(reason=_("its items are made when it opens"))
            if is_draft and not campaign.wanted
            else Cell(campaign.wanted),
            "progress": Cell(100 * campaign.done / campaign.wanted)
            if campaign.wanted
            else Cell(reason=_("nothing is planned yet")),
            "raters": Cell(campaign.rater_count),
            "made": Cell(campaign.created_at.strftime("%Y-%m-%d")),
        },
    )
