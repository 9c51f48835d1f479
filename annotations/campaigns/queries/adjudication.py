"""Items of a campaign whose raters differ, and what was decided of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotations.campaigns.models import Adjudication, Campaign, Item
from annotations.campaigns.plan.adjudication import differing, is_wide
from annotations.campaigns.queries.ratings import counted_ratings, form_of_campaign
from annotations.formats.exporters.rating_files import AdjudicatedItem

SCORE = "score"
"""The key under which a score from 1 to 5 stands among answers."""
ADJUDICATED_KINDS = (Campaign.Kind.TURN, Campaign.Kind.DIALOGUE)
"""Kinds in which several raters judge the same texts."""


@dataclass(frozen=True, slots=True)
class DifferingItem:
    """``answers``: of each rater, by pseudonym, in the order of joining. ``questions``: on which
    they differ by the rule; none where the item was adjudicated before that changed."""

    item: int
    public_id: str
    dialogue: str
    turn: int | None
    questions: tuple[str, ...]
    answers: Mapping[str, Mapping[str, Any]]
    is_adjudicated: bool


def points_of(campaign: Campaign) -> float | None:
    """Of the campaign's rule; None where it has none."""
    rule = getattr(campaign, "adjudication_rule", None)
    return None if rule is None else rule.points


def differing_items(campaign: Campaign, public_id: str = "") -> list[DifferingItem]:
    """Those that the rule finds and those adjudicated already, in the order of the corpus;
    ``public_id``: that one alone. None without a rule."""
    points = points_of(campaign)
    if points is None:
        return []
    form = form_of_campaign(campaign)
    column = "score" if form is None else "answers"
    ratings = counted_ratings(campaign).order_by("participation__position")
    if public_id:
        ratings = ratings.filter(item__public_id=public_id)
    answers: dict[int, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for item, position, value in ratings.values_list(
        "item_id", "participation__position", f"current__{column}"
    ):
        given = {SCORE: value} if form is None else value or {}
        answers[item][f"rater {position + 1}"] = given
    items = Item.objects.filter(campaign=campaign, role=Item.Role.REGULAR)
    if public_id:
        items = items.filter(public_id=public_id)
    found = []
    for pk, name, dialogue, turn, adjudication in items.order_by(
        "dialogue__position", "turn__number", "pk"
    ).values_list("pk", "public_id", "dialogue__external_id", "turn__number", "adjudication"):
        given = list(answers[pk].values())
        if form is not None:
            questions = differing(form.questions, given, points)
        else:
            is_far = is_wide([one[SCORE] for one in given], points)
            questions = (SCORE,) if is_far else ()
        if questions or adjudication is not None:
            found.append(
                DifferingItem(
                    pk, name, dialogue, turn, questions, answers[pk], adjudication is not None
                )
            )
    return found


def adjudication_count(campaign: Campaign) -> int:
    """How many of its items are adjudicated."""
    return Adjudication.objects.filter(item__campaign=campaign).count()


def adjudicated_items(campaign: Campaign) -> Iterator[AdjudicatedItem]:
    """What was decided, in the order of the corpus, for a file."""
    rows = (
        Adjudication.objects.filter(item__campaign=campaign)
        .select_related("item__dialogue", "item__turn", "item__system", "form")
        .order_by("item__dialogue__position", "item__turn__number", "item")
    )
    for one in rows.iterator():
        item = one.item
        yield AdjudicatedItem(
            campaign=campaign.slug,
            corpus=campaign.version.corpus.slug,
            corpus_version=campaign.version.label,
            item=item.public_id,
            dialogue=item.dialogue.external_id,
            turn=None if item.turn is None else item.turn.number,
            system=None if item.system is None else item.system.name,
            points=one.points,
            score=one.score,
            form=None if one.form is None else one.form.number,
            answers=one.answers,
            comment=one.comment,
            decided_at=one.decided_at.isoformat(timespec="milliseconds"),
        )
