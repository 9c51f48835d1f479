"""An arena on the demo corpus: to vote in, with some votes by programs to show its pages full."""

from __future__ import annotations

import random
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotations.campaigns.actions import arena as actions
from annotations.campaigns.models import Arena, Battle
from annotations.demo.simulated_raters import PANEL, SimulatedRater, score_prefix
from annotations.models import CorpusVersion, System
from dialeval_site.demo.campaigns import quality_of

SEED, SLUG = 20261127, "demo-arena"
VOTES_EACH = 12
LIMITS = {
    "is_public": True,
    "battles_per_visitor": 50,
    "battles_per_address": 200,
    "answers_per_minute": 60,
    "answers_budget": 2000,
}


def load_demo_arena(version: CorpusVersion) -> None:
    """Idempotent: where it is there, in whatever state, it stays as it is."""
    with transaction.atomic():
        # Systems of the demo's challenge have no ratings to vote by
        quality = quality_of(version)
        rated = System.objects.filter(responses__in=quality, withheld=False).distinct()
        if Arena.objects.filter(slug=SLUG).exists() or rated.count() < 2:
            return
        arena = actions.create(
            actions.ArenaParams(
                name="Try it: which response is better? (first votes by programs)",
                slug=SLUG,
                source=Arena.Source.STORED,
                version=version,
                systems=list(rated.order_by("position")),
                exchanges=1,
                limits=LIMITS,
            )
        )
        actions.open_arena(arena)
        arena.refresh_from_db()
        chance = random.Random(SEED)
        for rater in PANEL:
            address = f"program {rater.name}"
            visitor = actions.join(arena, address)
            for _number in range(VOTES_EACH):
                _vote(actions.begin(arena, visitor, address), rater, quality, chance)


def _vote(
    battle: Battle, rater: SimulatedRater, quality: dict[int, float], chance: random.Random
) -> None:
    """For the response to which the program would give the higher score."""
    a, b = (
        score_prefix(rater, quality[response], f"{SEED} {response}")
        for response in (battle.response_a_id, battle.response_b_id)
    )
    verdict = "a" if a > b else "b" if b > a else "both_bad" if a == 1 else "tie"
    read = timedelta(seconds=chance.lognormvariate(2.2, 0.4))
    Battle.objects.filter(pk=battle.pk).update(created_at=timezone.now() - read)
    actions.vote(battle, verdict)
