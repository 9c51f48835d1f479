"""The tables of a campaign's agreement page, made from its stored answer. No statistics are
computed here."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.ratings import OVERALL, form_of_campaign
from annotations.questions.answers import numeric
from common.tables import Cell, Column, Row, Table, estimate_cell
from leaderboard.answers.agreement import CampaignAgreement, WidestDisagreement
from leaderboard.pages.raters.agreement_tables import agreement_tables


def tables_of(
    campaign: Campaign,
    document: CampaignAgreement,
    updated: datetime | None,
    pairs_shown: int | None,
) -> dict[str, Table]:
    """The tables by the name under which the template shows them."""
    coefficients, pairs, scores = agreement_tables(document, updated, {}, pairs_shown)
    signature = _signature(coefficients.signature, document)
    found = {
        "coefficients": replace(
            coefficients, caption=_("Coefficients of agreement"), signature=signature
        ),
        "pairs": replace(pairs, caption=_("Agreement of each pair of raters"), signature=signature),
        "scores": replace(scores, caption=_("Scores of each rater"), signature=signature),
        "questions": _question_table(document),
        "distribution": _distribution_table(campaign, document),
        "systems": _system_table(document),
        "widest": _widest_table(campaign, document),
    }
    return {
        name: replace(table, updated=None if name != "coefficients" else updated)
        for name, table in found.items()
    }


def _signature(signature: str, document: CampaignAgreement) -> str:
    raters = "all" if document.excluded_raters else "without-excluded"
    return f"campaign:{document.campaign}|{signature}|raters:{raters}"


def _question_table(document: CampaignAgreement) -> Table:
    """The coefficients of each question; what its value is good for stands beside the first."""
    words = {
        "reliable": _("reliable"),
        "tentative": _("tentative conclusions"),
        "low": _("less than usually required"),
    }
    rows = []
    for question in document.questions:
        for number, one in enumerate(question.coefficients):
            band, *others = [words[name] for name in one.bands] or [""]
            held = _("%(band)s; the interval reaches: %(others)s")
            verdict = held % {"band": band, "others": ", ".join(others)} if others else band
            label = f"{one.label}: {one.option}" if one.option else one.label
            chance = "" if one.chance is None else f"{one.chance:.2f}"
            rows.append(
                Row(
                    f"{question.question}-{number}",
                    {
                        "question": Cell(question.name),
                        "coefficient": Cell(label),
                        "value": estimate_cell(one.estimate),
                        "reads": Cell(
                            _("chance: %(share)s") % {"share": chance} if chance else verdict
                        ),
                        "items": Cell(question.items),
                    },
                )
            )
    columns = (
        Column("question", _("Question")),
        Column("coefficient", _("Coefficient")),
        Column("value", _("Value"), "estimate"),
        Column("reads", _("Reads as"), help=_("Krippendorff's limits of α: 0.800 and 0.667.")),
        Column(
            "items",
            _("Items"),
            "number",
            decimals=0,
            help=_("With the answers of two raters or more."),
        ),
    )
    return Table("questions", _("Agreement on each question"), columns, tuple(rows))


def _distribution_table(campaign: Campaign, document: CampaignAgreement) -> Table:
    total = sum(one.ratings for one in document.distribution)
    rows = []
    for one in document.distribution:
        level, count = f"{one.level:g}", one.ratings
        label = _label_of(campaign, document.aspect, one.level)
        share = count / total if total else None
        rows.append(
            Row(
                f"level-{level}",
                {
                    "score": Cell(label),
                    "ratings": Cell(count),
                    "share": Cell(reason=_("no ratings")) if share is None else Cell(100 * share),
                },
            )
        )
    columns = (
        Column("score", _("Score")),
        Column("ratings", _("Ratings"), "number", decimals=0),
        Column("share", _("Share, %"), "number", decimals=1),
    )
    return Table("distribution", _("Distribution of scores"), columns, tuple(rows))


def _label_of(campaign: Campaign, aspect: str, level: float) -> str:
    """What a score of an aspect is called; of a form's questions, the score alone where it has no
    label."""
    form = form_of_campaign(campaign)
    if form is None and aspect != OVERALL:
        return (_("not low"), _("marked low"))[int(level)]
    if form is None:
        return f"{level:g} · {campaign.scale_labels[int(level) - 1]}"
    question = form.question(aspect)
    of_yes_no = (_("no"), _("yes")) if question.type == "yes_no" else ()
    texts = question.labels or of_yes_no or [option.label for option in question.options]
    pairs = zip(question.values, texts, strict=False)
    labels = {numeric(question, value): text for value, text in pairs}
    return f"{level:g} · {labels[level]}" if level in labels else f"{level:g}"


def _system_table(document: CampaignAgreement) -> Table:
    columns = (
        Column("system", _("System")),
        Column("rated", _("Items rated"), "number", decimals=0),
        Column(
            "items",
            _("of"),
            "number",
            decimals=0,
            help=_("Items of this system in the campaign."),
            detail=True,
        ),
        Column("ratings", _("Ratings"), "number", decimals=0),
        Column("mean", _("Mean score"), "number", decimals=2),
        Column(
            "alpha",
            _("α, ordinal"),
            "estimate",
            help=_("Krippendorff's α of this system's items alone, 95 % interval over dialogues."),
        ),
    )
    rows = tuple(
        Row(
            f"system-{number}",
            {
                "system": Cell(one.system),
                "rated": Cell(one.rated),
                "items": Cell(one.items),
                "ratings": Cell(one.ratings),
                "mean": Cell(reason=_("nobody rated it")) if one.mean is None else Cell(one.mean),
                "alpha": estimate_cell(one.alpha),
            },
        )
        for number, one in enumerate(document.by_system)
    )
    note = _(
        "Where a system's scores vary little, α is low although raters hardly differ: read it "
        "with the mean."
    )
    return Table("agreement-by-system", _("Agreement on each system"), columns, rows, notes=(note,))


def _widest_table(campaign: Campaign, document: CampaignAgreement) -> Table:
    columns = [Column("item", _("Item"), "link"), Column("system", _("System"))]
    columns += [
        Column("spread", _("Range"), "number", decimals=0, help=_("Highest minus lowest score.")),
        Column("scores", _("Scores by rater")),
    ]
    rows = tuple(
        Row(
            f"item-{number}",
            {
                "item": Cell(_place(one), href=_address(campaign, one)),
                "system": Cell(one.system),
                "spread": Cell(one.spread),
                "scores": Cell(", ".join(f"{rater}: {score:g}" for rater, score in one.scores)),
            },
        )
        for number, one in enumerate(document.widest)
    )
    return Table(
        "widest-disagreement", _("Items with the widest disagreement"), tuple(columns), rows
    )


def _place(one: WidestDisagreement) -> str:
    if one.turn is None:
        return _("dialogue %(dialogue)s") % {"dialogue": one.dialogue}
    return _("dialogue %(dialogue)s, turn %(turn)s") % {
        "dialogue": one.dialogue,
        "turn": one.turn,
    }


def _address(campaign: Campaign, one: WidestDisagreement) -> str:
    query: dict[str, Any] = {"version": campaign.version.number}
    if one.turn is not None:
        query["turn"] = one.turn
    return (
        reverse("dialogue", args=[campaign.version.corpus.slug, one.position])
        + "?"
        + urlencode(query)
    )
