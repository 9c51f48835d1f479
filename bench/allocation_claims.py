"""What adaptive allocation costs those who rate: ``python -m bench.allocation --only claims``.

A campaign of ComperDial's size (99 systems × 15 dialogues × 7 turns, k = 2: 20,790 ratings) on
PostgreSQL, ratings spread evenly and adaptively. A pair is ``rate_and_refill``: the rating stored
and the next item in hand. A look is what one request in a twentieth of the campaign's does besides:
sums of all ratings, weights, one row.
"""

from __future__ import annotations

import random
import secrets
import time
from typing import Any

import numpy as np

from bench.made_corpus import home_of_its_own

SYSTEMS, DIALOGUES, TURNS, K = 99, 15, 7, 2
PAIRS, LOOKS_TIMED = 200, 5
STAGES = (0, 500, 900)
"""Thousandths of the slots that are rated."""


def claims() -> None:
    print(
        f"\n{SYSTEMS} systems × {DIALOGUES} dialogues × {TURNS} turns, k = {K}; milliseconds, one "
        "rater at a time"
    )
    print(f"{'':<34}{'pair p50':>10}{'p95':>8}{'look':>10}", flush=True)
    with home_of_its_own(True):
        from bench.rating_site import rate_slots, raters
        from tests.campaigns.sets import made_campaign, made_version

        version = made_version([f"system {one}" for one in range(SYSTEMS)], DIALOGUES, TURNS)
        for allocation in ("uniform", "adaptive"):
            campaign = made_campaign(version=version, k=K, allocation=allocation)
            old = raters(campaign, K)
            done = 0
            for stage in STAGES:
                if stage:
                    rate_slots(campaign, stage, old)
                done = stage
                pairs = _pairs(raters(campaign, 1)[0])
                look = (
                    f"{_look(campaign):>10.1f}"
                    if allocation == "adaptive" and done
                    else f"{'–':>10}"
                )
                print(
                    f"{allocation:<12}{done / 10:>4.0f} % rated{'':<11}"
                    f"{np.median(pairs):>10.1f}{np.quantile(pairs, 0.95):>8.1f}{look}",
                    flush=True,
                )


def _pairs(rater: Any) -> list[float]:
    from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate_and_refill

    held = fill_queue(rater).assignments
    spent = []
    for _ in range(PAIRS):
        judgement = Judgement(key=secrets.token_hex(8), score=random.randint(1, 5))
        start = time.perf_counter()
        _, desk = rate_and_refill(rater, held[0].item.public_id, judgement)
        spent.append(1000 * (time.perf_counter() - start))
        held = desk.assignments
    return spent


def _look(campaign: Any) -> float:
    """The median of some, each made anew."""
    from annotations.campaigns.actions.allocation import look
    from annotations.campaigns.models import Look

    spent = []
    for _ in range(LOOKS_TIMED):
        Look.objects.filter(campaign=campaign).delete()
        start = time.perf_counter()
        made = look(campaign)
        spent.append(1000 * (time.perf_counter() - start))
        if made is None:
            raise RuntimeError("no look was due")
    return float(np.median(spent))
