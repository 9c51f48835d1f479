"""Campaigns with a form, and answers to it, for tests."""

from __future__ import annotations

from typing import Any

from annotations.campaigns.actions.forms import write_form
from annotations.campaigns.actions.opening import open_campaign
from annotations.campaigns.models import Campaign
from annotations.campaigns.plan.form_changes import templates_for
from annotations.questions import templates
from annotations.questions.answers import visible
from annotations.questions.reading import form_of
from annotations.questions.schema import Form, Question, Value
from tests.campaigns.sets import lay_out, made_campaign

USR = {
    "q.understandable": "true",
    "q.natural": "3",
    "q.maintains_context": "2",
    "q.engaging": "1",
    "q.uses_knowledge": "false",
    "q.overall": "4",
}

KINDS = {
    form.name: kind
    for kind in ("turn", "dialogue", "pair", "dialogue_pair", "systems")
    for form in templates_for(kind)
}
"""What raters of a campaign with this template judge."""


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


# --- what one of two raters answers ---------------------------------------------------------------


def answers_to(form: Form, rater: int) -> dict[str, Any]:
    """Canonical answers of the first or second rater (0 or 1) to all that is asked."""
    answers: dict[str, Any] = {}
    for question in form.questions:
        if question in visible(form, answers):
            answers[question.key] = _answer_to(question, rater)
        elif question.if_hidden is not None:
            answers[question.key] = question.if_hidden
    return answers


def _answer_to(question: Question, rater: int) -> Any:
    match question.type:
        case "scale" | "yes_no" | "choice" | "preference":
            return chosen(question, rater)
        case "choices":
            return [question.options[rater].key]
        case "utterance_labels":
            return {"1": [question.options[rater].key]}
        case "span":
            label, severity = question.options[0].key, question.severities[rater].key
            place = {"utterance": 1, "start": 0, "end": 6}
            return [place | {"label": label, "severity": severity}]
        case "ranking":
            return {place: rank for rank, place in enumerate(ranked(question, rater), start=1)}
        case "best_worst":
            return dict(zip(("best", "worst"), ranked(question, rater), strict=True))
        case _:
            return "Better said."


def chosen(question: Question, rater: int) -> Value:
    """The first rater chooses the last point of a scale and "no", the second one below, "yes"."""
    return question.values[-1 - rater] if question.type != "yes_no" else bool(rater)


def ranked(question: Question, rater: int) -> list[str]:
    """Of a list of three, best first; the second rater turns the first one's order round."""
    best_first = list("123") if question.type == "ranking" else ["1", "3"]
    return best_first[::-1] if rater else best_first
