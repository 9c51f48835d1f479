"""Campaigns with a form, and answers to it, for tests."""

from __future__ import annotations

from typing import Any

from annotations.campaigns.actions.forms import write_form
from annotations.campaigns.actions.opening import open_campaign
from annotations.campaigns.models import Campaign
from annotations.questions import templates
from annotations.questions.reading import form_of
from annotations.questions.schema import Form
from tests.campaigns.sets import lay_out, made_campaign

USR = {
    "q.understandable": "true",
    "q.natural": "3",
    "q.maintains_context": "2",
    "q.engaging": "1",
    "q.uses_knowledge": "false",
    "q.overall": "4",
}


def made_form(*questions: dict[str, Any], level: str = "response") -> Form:
    return form_of(
        {"schema": 1, "name": "test", "title": "A test", "level": level, "questions": questions}
    )


def asking(form: Form | str, kind: str = "turn", **fields: Any) -> Campaign:
    """An open campaign that asks this form, or the template of this name."""
    campaign = made_campaign(kind, opened=False, **fields)
    write_form(campaign, templates.load(form) if isinstance(form, str) else form)
    lay_out(campaign)
    campaign.state, campaign.opened_at = Campaign.State.OPEN, campaign.created_at
    campaign.save()
    return campaign


def comparing(form: Form | str = "pairwise", kind: str = "pair", **fields: Any) -> Campaign:
    """An open campaign of pairs that asks this form, laid out as an organiser opens it."""
    campaign = made_campaign(kind, opened=False, **fields)
    write_form(campaign, templates.load(form) if isinstance(form, str) else form)
    open_campaign(campaign)
    return campaign
