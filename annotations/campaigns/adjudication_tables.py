"""The tables of the pages about adjudication, as data."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.adjudication import SCORE, DifferingItem
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.question_view import answers_in_words
from annotations.questions.schema import Form
from common.tables import Cell, Column, Row, Table

_STATES = {
    "": gettext_lazy("to be decided"),
    "organiser": gettext_lazy("adjudicated"),
    "rater": gettext_lazy("adjudicated by a further rater"),
}


def queue_table(campaign: Campaign, items: Iterable[DifferingItem]) -> Table:
    """In the order given. Without systems: who decides is blind."""
    form = form_of_campaign(campaign)
    columns = (
        Column("item", _("Item"), "link"),
        Column("questions", _("Raters differ on")),
        Column("answers", _("Answers by rater")),
        Column("state", _("State")),
    )
    rows = tuple(
        Row(
            one.public_id,
            {
                "item": Cell(
                    _place(one),
                    href=reverse("campaign-adjudicate", args=[campaign.slug, one.public_id]),
                ),
                "questions": Cell(", ".join(_name(form, key) for key in one.questions))
                if one.questions
                else Cell(reason=_("no question by the rule of today")),
                "answers": Cell("; ".join(_answers_on(one, form))),
                "state": Cell(str(_STATES[one.state])),
            },
        )
        for one in items
    )
    return Table("adjudication", _("Items whose raters differ"), columns, rows)


def answers_table(item: DifferingItem, form: Form | None) -> Table:
    """A row a question, a column a rater."""
    columns = (
        Column("question", _("Question")),
        *(Column(f"r-{number}", name) for number, name in enumerate(item.answers)),
    )
    keys = [SCORE] if form is None else [question.key for question in form.questions]
    answers = [_words(given, form) for given in item.answers.values()]
    rows = tuple(
        Row(
            key,
            {
                "question": Cell(_name(form, key)),
                **{
                    f"r-{number}": Cell(given[key])
                    if key in given
                    else Cell(reason=_("not answered"))
                    for number, given in enumerate(answers)
                },
            },
            badges=(_("differs"),) if key in item.questions else (),
        )
        for key in keys
    )
    return Table("answers", _("What the raters answered"), columns, rows)


def _place(one: DifferingItem) -> str:
    place = {"dialogue": one.dialogue, "turn": one.turn}
    if one.turn is None:
        return _("dialogue %(dialogue)s") % place
    return _("dialogue %(dialogue)s, turn %(turn)s") % place


def _name(form: Form | None, key: str) -> str:
    return _("Score") if form is None else form.question(key).name


def _answers_on(one: DifferingItem, form: Form | None) -> Iterable[str]:
    for rater, given in one.answers.items():
        words = _words(given, form)
        labels = [words[key] for key in one.questions if key in words]
        yield f"{rater}: {', '.join(labels) or '–'}"


def _words(given: object, form: Form | None) -> dict[str, str]:
    answers = dict(given)  # type: ignore[call-overload]
    if form is None:
        return {SCORE: str(answers[SCORE])}
    return answers_in_words(form, answers)
