"""Items of a campaign whose raters differ, and what was decided of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotations.campaigns.models import (
    Adjudication,
    Assignment,
    Campaign,
    Conflict,
    Item,
    Participation,
    Slot,
)
from annotations.campaigns.models.campaign import PAIRED
from annotations.campaigns.plan.adjudication import differing, is_wide
from annotations.campaigns.queries.ratings import counted_ratings, form_of_campaign
from annotations.formats.exporters.rating_files import AdjudicatedItem
from annotations.questions.answers import in_other_order

SCORE = "score"
"""The key under which a score from 1 to 5 stands among answers."""
ADJUDICATED_KINDS = (Campaign.Kind.TURN, Campaign.Kind.DIALOGUE, *PAIRED)
"""Kinds in which several raters judge the same texts."""


@dataclass(frozen=True, slots=True)
class DifferingItem:
    """``answers``: of each rater, by pseudonym, in the order of joining; of a pair, in the order of
    its systems. ``questions``: on which they differ by the rule; none where the item was
    adjudicated before that changed."""

    item: int
    public_id: str
    dialogue: str
    turn: int | None
    questions: tuple[str, ...]
    answers: Mapping[str, Mapping[str, Any]]
    state: str
    """Who decided: ``organiser``, ``rater``, or nobody yet: empty."""

    @property
    def is_adjudicated(self) -> bool:
        return self.state != ""


def points_of(campaign: Campaign) -> float | None:
    """Of the campaign's rule; None where it has none."""
    rule = getattr(campaign, "adjudication_rule", None)
    return None if rule is None else rule.points


def differing_items(
    campaign: Campaign, public_id: str = "", among: QuerySet[Item] | None = None
) -> list[DifferingItem]:
    """Those that the rule finds and those adjudicated already, in the order of the corpus;
    ``public_id``: that one alone; ``among``: of these items. None without a rule."""
    points = points_of(campaign)
    if points is None:
        return []
    form = form_of_campaign(campaign)
    column = "score" if form is None else "answers"
    ratings = counted_ratings(campaign).order_by("participation__position")
    items = Item.objects.filter(campaign=campaign, role=Item.Role.REGULAR)
    if public_id:
        among = items.filter(public_id=public_id)
    if among is not None:
        items, ratings = among, ratings.filter(item__in=among)
    answers: dict[int, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for item, position, is_swapped, value in ratings.values_list(
        "item_id", "participation__position", "is_swapped", f"current__{column}"
    ):
        given = {SCORE: value} if form is None else value or {}
        if form is not None and is_swapped:
            given = in_other_order(form, given)
        answers[item][f"rater {position + 1}"] = given
    found = []
    for pk, *place, adjudication, by_rater in items.order_by(
        "dialogue__position", "turn__number", "pk"
    ).values_list(
        *("pk", "public_id", "dialogue__external_id", "turn__number"),
        *("adjudication", "adjudication__assignment"),
    ):
        given = list(answers[pk].values())
        if form is not None:
            questions = differing(form.questions, given, points)
        else:
            is_far = is_wide([one[SCORE] for one in given], points)
            questions = (SCORE,) if is_far else ()
        state = "" if adjudication is None else "rater" if by_rater else "organiser"
        if questions or state:
            found.append(DifferingItem(pk, *place, questions, answers[pk], state))
    return found


def items_to_adjudicate(rater: Participation) -> list[int]:
    """Keys of the items that this rater may decide: all k ratings are there, the raters differ by
    the rule, this rater is none of them, and nobody has decided or has the item in hand to do so.
    """
    own = Assignment.objects.filter(item=OuterRef("pk"), participation=rater)
    others = Assignment.objects.filter(
        item=OuterRef("pk"),
        adjudicates=True,
        state__in=[Assignment.State.LEASED, Assignment.State.DONE],
    )
    of_item = Q(system=OuterRef("system")) | Q(system=OuterRef("system_b"))
    is_open = Slot.objects.filter(item=OuterRef("pk")).exclude(holder__state=Assignment.State.DONE)
    complete = Item.objects.filter(
        ~Exists(own.exclude(state=Assignment.State.RETURNED)),
        ~Exists(others),
        ~Exists(Conflict.objects.filter(of_item, user=rater.user_id)),
        ~Exists(is_open),
        campaign=rater.campaign_id,
        role=Item.Role.REGULAR,
        adjudication__isnull=True,
    )
    return [one.item for one in differing_items(rater.campaign, among=complete)]


def adjudication_count(campaign: Campaign) -> int:
    """How many of its items are adjudicated."""
    return Adjudication.objects.filter(item__campaign=campaign).count()


def adjudications_of(campaign: Campaign) -> QuerySet[Adjudication]:
    """What was decided, with what ``adjudicated_item`` reads."""
    return Adjudication.objects.filter(item__campaign=campaign).select_related(
        *("item__dialogue", "item__turn", "item__system", "item__system_b", "form"),
        "assignment__participation",
    )


def adjudicated_items(campaign: Campaign) -> Iterator[AdjudicatedItem]:
    """What was decided, in the order of the corpus, for a file."""
    rows = adjudications_of(campaign).order_by(
        "item__dialogue__position", "item__turn__number", "item"
    )
    return (adjudicated_item(campaign, one) for one in rows.iterator())


def adjudicated_item(campaign: Campaign, one: Adjudication) -> AdjudicatedItem:
    """A decision of the campaign, as files have it."""
    item = one.item
    return AdjudicatedItem(
        campaign=campaign.slug,
        corpus=campaign.version.corpus.slug,
        corpus_version=campaign.version.label,
        item=item.public_id,
        dialogue=item.dialogue.external_id,
        turn=None if item.turn is None else item.turn.number,
        system=None if item.system is None else item.system.name,
        system_b=None if item.system_b is None else item.system_b.name,
        decided_by="organiser"
        if one.assignment is None
        else one.assignment.participation.pseudonym,
        points=one.points,
        score=one.score,
        form=None if one.form is None else one.form.number,
        answers=one.answers,
        comment=one.comment,
        decided_at=one.decided_at.isoformat(timespec="milliseconds"),
    )
