"""Looking at a campaign's ratings while it runs: where the next ones go, and whether enough are
there."""

from __future__ import annotations

import math
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.actions.terms import NothingToDo
from annotations.campaigns.models import Campaign, Look
from annotations.campaigns.plan.allocation import (
    allocation_weights,
    interim_analyses_due,
    ratings_left,
    reached,
)
from annotations.campaigns.plan.evidence import LOOKS, Standing, standing_of
from annotations.campaigns.plan.pair_choice import pair_chances, standing_of_votes
from annotations.campaigns.queries.allocation import (
    cells_of_campaign,
    meets_target,
    requested_pairs,
    requested_systems,
    votes_of_campaign,
)
from annotations.campaigns.queries.overview import slot_counts

CHECK_SECONDS = 2.0
"""A campaign's ratings are counted at most this often, by whichever rater's request comes by."""


def run_interim_analysis_if_due(campaign: Campaign) -> None:
    """To be called after a rating. One word in the cache where nothing is due; nothing at all for
    other campaigns."""
    if not campaign.is_looked_at or campaign.has_enough:
        return
    if cache.add(f"campaign-counted-{campaign.pk}", 1, CHECK_SECONDS):
        look(campaign)


def look(campaign: Campaign) -> Look | None:
    """The look that is due, stored; None where none is. Of many who come at once one does it and no
    one waits.

    ``campaign`` learns whether its target is met.
    """
    with transaction.atomic():
        stored = (
            Campaign.objects.select_for_update(skip_locked=True, no_key=True)
            .filter(pk=campaign.pk, state=Campaign.State.OPEN)
            .first()
        )
        if stored is None:
            return None
        done, slots, _free = slot_counts(stored)
        wanted = stored.wanted_of(slots)
        number = interim_analyses_due(done, wanted)
        if number < 1 or Look.objects.filter(campaign=stored, number__gte=number).exists():
            return None
        made = _store(stored, number, done, wanted)
        if not stored.past_target and stored.target_met_at is None and meets_target(stored, made):
            stored.target_met_at = timezone.now()
            stored.save(update_fields=["target_met_at"])
            audit.record(
                None,
                "campaign.target_met",
                stored,
                campaign=stored.slug,
                ratings=made.ratings,
                separated=made.separated,
                pairs=made.pairs,
                widest=made.widest,
            )
    campaign.target_met_at, campaign.past_target = stored.target_met_at, stored.past_target
    return made


def _store(campaign: Campaign, number: int, done: int, wanted: int) -> Look:
    systems, chances = requested_systems(campaign), None
    if campaign.is_of_pairs:
        votes = votes_of_campaign(campaign, systems)
        standing = standing_of_votes(votes)
        pairs = requested_pairs(campaign)
        place = {system: index for index, system in enumerate(systems)}
        drawn = pair_chances(
            votes,
            [(place[one], place[other]) for one, other in pairs],
            campaign.target,
            campaign.target_value,
        )
        chances = [[*pair, chance] for pair, chance in zip(pairs, drawn.tolist(), strict=True)]
        weights = [sum(chance for *pair, chance in chances if one in pair) for one in systems]
    else:
        standing = standing_of(cells_of_campaign(campaign, systems))
        weights = allocation_weights(
            standing, wanted / LOOKS, campaign.target, campaign.target_value
        ).tolist()
    found = reached(standing)
    return Look.objects.create(
        campaign=campaign,
        number=number,
        ratings=done,
        pairs=found.pairs,
        separated=found.separated,
        widest=found.widest,
        ratings_left=ratings_left(standing, done, wanted, campaign.target, campaign.target_value),
        systems=_rows(systems, standing, weights),
        chances=chances if campaign.allocation == Campaign.Allocation.ADAPTIVE else None,
    )


def _rows(systems: list[int], standing: Standing, weights: list[float]) -> list[dict[str, Any]]:
    reach = standing.half_width
    return [
        {
            "system": system,
            "ratings": int(standing.count[place]),
            "mean": _number(standing.mean[place]),
            "half_width": _number(reach[place]),
            "weight": weights[place],
        }
        for place, system in enumerate(systems)
    ]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def go_on_to_all(campaign: Campaign, by: Any = None) -> None:
    """Items are handed out again until all are rated, though the target is met. Raises
    ``NothingToDo``."""
    with transaction.atomic():
        found = Campaign.objects.filter(
            pk=campaign.pk, target_met_at__isnull=False, past_target=False
        )
        if not found.update(past_target=True):
            raise NothingToDo(
                _("The target is not met, or the campaign goes on already; nothing was changed.")
            )
        audit.record(by, "campaign.went_past_target", campaign, campaign=campaign.slug)
    campaign.refresh_from_db()
