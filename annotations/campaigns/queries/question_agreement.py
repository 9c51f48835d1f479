"""How far a campaign's raters agree on each question of its form, by the question's type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Q
from django.db.models.functions import Length

from annotations.agreement.by_question import QuestionAgreement, Unit, agreement_of
from annotations.campaigns.models import Campaign, Item
from annotations.campaigns.queries.ratings import (
    counted_ratings,
    form_of_campaign,
    given_ratings,
    systems_of,
)
from annotations.models import Response
from annotations.questions.answers import in_other_order, with_names


def question_agreement(
    campaign: Campaign, systems: Collection[str] | None = None, excluded: bool = False
) -> list[QuestionAgreement]:
    """The coefficients of each question that has any, in the order of the form, their options by
    their labels; nothing where the campaign asks the scale from 1 to 5. ``systems`` and
    ``excluded`` as in ``campaign_matrix``."""
    form = form_of_campaign(campaign)
    if form is None:
        return []
    ratings = given_ratings(campaign) if excluded else counted_ratings(campaign)
    if systems is not None:
        of_system = "chat_system" if campaign.kind == Campaign.Kind.INTERACTIVE else "system"
        chosen = Q(**{f"item__{of_system}__name__in": list(systems)})
        if campaign.is_of_pairs:
            other = Q(item__system_b__name__in=list(systems))
            # Of one system, its pairs with all others
            chosen = chosen & other if len(systems) > 1 else chosen | other
        if campaign.kind != Campaign.Kind.SYSTEMS:  # of a list, the chosen ones are compared
            ratings = ratings.filter(chosen)
    answers: dict[int, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    dialogues: dict[int, str] = {}
    listed: dict[int, list[int]] = {}
    for item, dialogue, rater, is_swapped, shown, given in ratings.values_list(
        *("item_id", "item__dialogue_id", "participation_id", "is_swapped", "shown"),
        "current__answers",
    ):
        of_item = in_other_order(form, given or {}) if is_swapped else given or {}
        if shown:
            keys = {str(place): str(key) for place, key in enumerate(shown, start=1)}
            of_item = with_names(form, of_item, keys)
            listed[item] = shown
        answers[item][str(rater)] = of_item
        dialogues[item] = str(dialogue)
    names = systems_of(key for keys in listed.values() for key in keys)
    candidates = {
        item: tuple(str(key) for key in sorted(keys) if systems is None or names[key] in systems)
        for item, keys in listed.items()
    }
    has_spans = any(question.type == "span" for question in form.questions)
    lengths = _lengths_of_texts(campaign, answers) if has_spans else {}
    found = []
    for question in form.questions:
        units = [
            Unit(
                dialogues[item],
                {rater: one[question.key] for rater, one in given.items() if question.key in one},
                lengths.get(item, {}),
                candidates.get(item, ()),
            )
            for item, given in answers.items()
        ]
        labels = {option.key: option.label for option in question.options}
        if coefficients := agreement_of(question, units):
            found.append(
                QuestionAgreement(
                    question=question.key,
                    name=question.name,
                    type=question.type,
                    items=sum(len(unit.answers) >= 2 for unit in units),
                    coefficients=tuple(
                        replace(one, option=labels.get(one.option, "")) for one in coefficients
                    ),
                )
            )
    return found


def _lengths_of_texts(campaign: Campaign, items: Collection[int]) -> dict[int, dict[int, int]]:
    """Of the responses that an item's raters could mark, by their number from 1."""
    found: dict[int, dict[int, int]] = {}
    of_systems: dict[tuple[int, int], list[int]] = defaultdict(list)
    chosen = Item.objects.filter(campaign=campaign, pk__in=list(items))
    for pk, length, system, dialogue in chosen.values_list(
        "pk", Length("response__text"), "system_id", "dialogue_id"
    ):
        if length is not None:
            found[pk] = {1: length}
        elif system is not None:
            of_systems[system, dialogue].append(pk)
    responses = Response.objects.filter(
        system__in={system for system, _ in of_systems},
        turn__dialogue__in={dialogue for _, dialogue in of_systems},
    )
    numbered: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
    for system, dialogue, length in responses.order_by("turn__number").values_list(
        "system_id", "turn__dialogue_id", Length("text")
    ):
        texts = numbered[system, dialogue]
        texts[len(texts) + 1] = length
    return found | {pk: numbered[key] for key, pks in of_systems.items() for pk in pks}
