"""What a campaign's ratings say of its systems so far, and what the latest look at them found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Case, Count, F, FloatField, Q, Sum, Value, When
from django.db.models.functions import Cast, Sqrt

from annotations.campaigns.models import Campaign, Item, Look
from annotations.campaigns.plan.allocation import Reached
from annotations.campaigns.plan.draw import Systems
from annotations.campaigns.plan.evidence import LOOKS, POCOCK_20, Cells
from annotations.campaigns.plan.pair_choice import Votes
from annotations.campaigns.queries.ratings import (
    counted_ratings,
    form_of_campaign,
    main_aspect,
    scored_aspect,
)
from annotations.campaigns.scale import HIGHEST, LOWEST
from annotations.models import System
from annotations.questions.answers import preferred

WON = {"a": 1.0, "b": 0.0, "tie": 0.5, "both_bad": 0.5}
"""The share that goes to the response shown first."""


def requested_systems(campaign: Campaign) -> list[int]:
    """Keys of the systems that have regular items, in the corpus's order."""
    regular = Item.objects.filter(campaign=campaign, role=Item.Role.REGULAR, system__isnull=False)
    return list(
        System.objects.filter(
            Q(pk__in=regular.values("system")) | Q(pk__in=regular.values("system_b"))
        )
        .order_by("position")
        .values_list("pk", flat=True)
    )


def requested_pairs(campaign: Campaign) -> list[tuple[int, int]]:
    """Keys of every two systems that have an item of a campaign of pairs."""
    regular = Item.objects.filter(campaign=campaign, role=Item.Role.REGULAR)
    return list(regular.order_by("system", "system_b").values_list("system", "system_b").distinct())


def compared_question(campaign: Campaign) -> str | None:
    """Key of the preference by which systems are ranked while raters work: the question
    ``overall``, else the first that asks for one; None where none does."""
    form = form_of_campaign(campaign)
    keys = [one.key for one in form.questions if one.type == "preference"] if form else []
    return "overall" if "overall" in keys else next(iter(keys), None)


def votes_of_campaign(campaign: Campaign, systems: Sequence[int]) -> Votes:
    """The comparisons that count. Raters who could not judge gave none."""
    key, place = compared_question(campaign), {one: index for index, one in enumerate(systems)}
    votes = []
    for first, second, is_swapped, dialogue, answers in (
        counted_ratings(campaign)
        .order_by("pk")
        .values_list(
            *("item__system", "item__system_b", "is_swapped", "item__dialogue"),
            "current__answers",
        )
        .iterator(chunk_size=10_000)
    ):
        answer = (answers or {}).get(key)
        if answer is not None and (which := preferred(answer)) is not None:
            won = 1.0 - WON[which] if is_swapped else WON[which]
            votes.append((place[first], place[second], won, dialogue))
    columns = list(zip(*votes, strict=True)) or [(), (), (), ()]
    first_of, second_of, dialogue_of = (
        np.asarray(columns[number], dtype=np.int64) for number in (0, 1, 3)
    )
    dialogue_of = np.unique(dialogue_of, return_inverse=True)[1].reshape(-1)
    won_of = np.asarray(columns[2], dtype=np.float64)
    return Votes(len(systems), first_of, second_of, won_of, dialogue_of)


def cells_of_campaign(campaign: Campaign, systems: Sequence[int]) -> Cells:
    """Sums over the ratings that count, by system and dialogue; of a form, over the answers to its
    main question that have a score.

    A rating weighs 1/√p, p the probability with which its system was drawn; 1 where no system was
    drawn first.
    """
    rows = _sums_of_scores(campaign) if campaign.form is None else _sums_of_answers(campaign)
    place = {system: index for index, system in enumerate(systems)}
    dialogues = {dialogue: index for index, dialogue in enumerate(sorted({row[1] for row in rows}))}
    sums = np.zeros((4, len(systems), max(len(dialogues), 1)))
    for system, dialogue, *values in rows:
        if system in place:
            sums[:, place[system], dialogues[dialogue]] = values
    return Cells(*sums)


Sums = tuple[int, int, int, float, float, float]
"""System, dialogue, count, and the sums of weights, weighted scores and squared weights."""


def _sums_of_answers(campaign: Campaign) -> list[Sums]:
    scored = scored_aspect(campaign, main_aspect(campaign))
    sums: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * 4)
    for system, dialogue, propensity, answers in (
        counted_ratings(campaign)
        .order_by("pk")
        .values_list(
            *("item__system", "item__dialogue", "system_propensity", "current__answers"),
        )
        .iterator(chunk_size=10_000)
    ):
        if (score := scored.score(answers or {})) is not None:
            weight = 1.0 if propensity is None else propensity**-0.5
            for column, value in enumerate((1, weight, weight * score, weight * weight)):
                sums[system, dialogue][column] += value
    return [
        (*pair, int(count), weight, score, square)
        for pair, (count, weight, score, square) in sums.items()
    ]


def _sums_of_scores(campaign: Campaign) -> list[Sums]:
    """Made by the database: one row a pair of system and dialogue."""
    weight = Case(
        When(system_propensity__isnull=True, then=Value(1.0)),
        default=1.0 / Sqrt(F("system_propensity")),
        output_field=FloatField(),
    )
    score = Cast(F("current__score"), FloatField())
    return list(
        counted_ratings(campaign)
        .order_by()
        .values("item__system", "item__dialogue")
        .annotate(
            count=Count("pk"),
            weight=Sum(weight),
            score=Sum(weight * score, output_field=FloatField()),
            square=Sum(weight * weight, output_field=FloatField()),
        )
        .values_list("item__system", "item__dialogue", "count", "weight", "score", "square")
    )


def weights_now(campaign: Campaign) -> dict[Systems, float]:
    """With which probability each system, or every two of them, is drawn; empty before the first
    look: then all alike."""
    looks = Look.objects.filter(campaign=campaign).order_by("-number")
    systems, chances = looks.values_list("systems", "chances").first() or ((), None)
    if chances is not None:
        return {(one, other): chance for one, other, chance in chances}
    return {one["system"]: one["weight"] for one in systems}


@dataclass(frozen=True, slots=True)
class SystemNow:
    name: str
    ratings: int
    mean: float | None
    half_width: float | None
    weight: float | None
    """The chance that the next rating is this system's; None where ratings are spread evenly."""
    ends: tuple[float, float] = (LOWEST, HIGHEST)
    """Of the scale: intervals are cut where no mean can lie."""

    @property
    def low(self) -> float | None:
        return (
            None
            if self.mean is None or self.half_width is None
            else max(self.mean - self.half_width, self.ends[0])
        )

    @property
    def high(self) -> float | None:
        return (
            None
            if self.mean is None or self.half_width is None
            else min(self.mean + self.half_width, self.ends[1])
        )


@dataclass(frozen=True, slots=True)
class Certainty:
    """What an organiser reads: the latest look, and when the next one is."""

    look: Look | None
    systems: tuple[SystemNow, ...]
    next_at: int | None
    """How many ratings the next look needs; None after the last one."""
    met_with: int | None
    """With how many ratings the target was met first, where it was."""
    most: float
    """The largest weight, for the length of the bars."""
    looks: int = LOOKS
    critical: float = POCOCK_20


def certainty_of(campaign: Campaign, wanted: int) -> Certainty | None:
    """None for a campaign that does not look at its ratings while it runs."""
    if not campaign.is_looked_at:
        return None
    interim_analysis = Look.objects.filter(campaign=campaign).order_by("-number").first()
    found = interim_analysis.systems if interim_analysis is not None else []
    names = dict(
        System.objects.filter(pk__in=[one["system"] for one in found]).values_list("pk", "name")
    )
    adaptive = campaign.allocation == Campaign.Allocation.ADAPTIVE
    low, high = (
        (None, None)
        if campaign.is_of_pairs
        else scored_aspect(campaign, main_aspect(campaign)).scale
    )
    ends = (-np.inf if low is None else low, np.inf if high is None else high)
    systems = tuple(
        SystemNow(
            names.get(one["system"], "–"),
            one["ratings"],
            one["mean"],
            one["half_width"],
            one["weight"] if adaptive else None,
            ends,
        )
        for one in found
    )
    number = interim_analysis.number if interim_analysis is not None else 0
    next_at = -(-(number + 1) * wanted // LOOKS) if number < LOOKS and wanted else None
    met_with = None
    if campaign.target_met_at is not None:
        analyses = Look.objects.filter(campaign=campaign).order_by("number")
        met_with = next((one.ratings for one in analyses if meets_target(campaign, one)), None)
    return Certainty(
        interim_analysis,
        systems,
        next_at,
        met_with,
        max((one.weight or 0.0 for one in systems), default=0.0),
    )


def meets_target(campaign: Campaign, interim_analysis: Look) -> bool:
    return Reached(
        interim_analysis.pairs, interim_analysis.separated, interim_analysis.widest
    ).meets(campaign.target, campaign.target_value)
