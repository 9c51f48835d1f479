"""Many raters at once in a campaign that spreads its ratings adaptively, and one that stops when it
knows enough."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random

import pytest

from annotations.campaigns.actions import allocation
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate_and_refill
from annotations.campaigns.models import Assignment, Campaign, Look, Participation, Slot
from annotations.campaigns.plan.evidence import LOOKS
from tests.campaigns.sets import made_campaign, made_raters
from tests.conftest import ON_SERVICES
from tests.faults.chance import few
from tests.faults.test_rating_crowd import (
    Person,
    everything_acknowledged_is_there,
    places_of_items,
    request,
)

RATERS, DIALOGUES, K = (40, few(18, of=30), 4) if ON_SERVICES else (6, 6, 2)
SYSTEMS = ("low", "middle", "centre", "high")
SCORES = {"low": 1, "middle": 3, "centre": 3, "high": 5}
PATIENCE = 600

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _counted_after_every_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation, "CHECK_SECONDS", 0)


def adaptive(dialogues: int = DIALOGUES, **fields: object) -> Campaign:
    return made_campaign(
        systems=SYSTEMS, dialogues=dialogues, turns=1, k=K, allocation="adaptive", **fields
    )


def test_a_crowd_fills_every_item_whatever_order_they_come_in() -> None:
    campaign = adaptive()
    people = [
        Person(rater, Random(n), stays=n % 2 == 0)
        for n, rater in enumerate(made_raters(campaign, RATERS))
    ]
    deadline = time.monotonic() + PATIENCE
    with ThreadPoolExecutor(RATERS) as crowd:
        ends = Counter(crowd.map(lambda person: person.work(deadline), people))
    assert set(ends) <= {"finished", "gone"}, ends
    assert places_of_items(campaign) == dict.fromkeys(
        campaign.items.values_list("pk", flat=True), K
    )
    for person in people:
        everything_acknowledged_is_there(person)
    looks_stand_in_a_row(campaign)
    probabilities_are_of_the_looks(campaign)


def looks_stand_in_a_row(campaign: Campaign) -> None:
    looks = list(Look.objects.filter(campaign=campaign).order_by("number"))
    assert len(looks) >= LOOKS // 4  # of several that pass at once the last is made
    assert [look.ratings for look in looks] == sorted(look.ratings for look in looks)
    assert looks[-1].number == LOOKS
    for look in looks:
        assert sum(one["weight"] for one in look.systems) == pytest.approx(1)
        assert sum(one["ratings"] for one in look.systems) <= campaign.slots.count()


def probabilities_are_of_the_looks(campaign: Campaign) -> None:
    """Of each draw from all systems the stored probability is a look's weight, or a quarter before
    the first one."""
    drawn = Assignment.objects.filter(item__campaign=campaign, system_propensity__isnull=False)
    weights = {system: {0.25} for system in campaign.systems.values_list("pk", flat=True)}
    for look in Look.objects.filter(campaign=campaign):
        for one in look.systems:
            weights[one["system"]].add(one["weight"])
    known = 0
    for system, of_system, of_item in drawn.values_list(
        "item__system", "system_propensity", "propensity"
    ):
        assert 0 < of_item <= of_system <= 1
        known += any(abs(of_system - weight) < 1e-9 for weight in weights[system])
    # Towards the end systems are used up, and the others share their chance
    assert known >= drawn.count() / 4


def test_a_crowd_goes_home_when_the_target_is_met() -> None:
    # Of 48 ratings, as many as six dialogues take, the target needs all in some runs.
    campaign = adaptive(max(DIALOGUES, 18), target="pairs", target_value=80)
    with ThreadPoolExecutor(RATERS) as crowd:
        ends = Counter(crowd.map(until_nothing_is_left, made_raters(campaign, RATERS)))
    assert set(ends) == {"finished"}
    campaign.refresh_from_db()
    assert campaign.target_met_at is not None
    assert Slot.objects.filter(campaign=campaign, holder__isnull=True).count() > 0
    assert max(places_of_items(campaign).values()) <= K
    late = campaign.target_met_at + timedelta(seconds=2)  # what was being handed out at that moment
    assert not Assignment.objects.filter(item__campaign=campaign, claimed_at__gt=late).exists()
    assert Look.objects.filter(campaign=campaign).count() <= LOOKS


def until_nothing_is_left(rater: Participation) -> str:
    random, deadline = Random(rater.pk), time.monotonic() + PATIENCE
    desk = request(fill_queue, rater)
    while time.monotonic() < deadline:
        if desk.why_empty == "finished":
            return "finished"
        if not desk.assignments:
            time.sleep(0.5)
            desk = request(fill_queue, rater)
            continue
        given = desk.assignments[0]
        score = min(max(SCORES[given.item.system.name] + random.choice((-1, 0, 0, 0, 1)), 1), 5)
        judgement = Judgement(f"{random.random()}", score)
        _, desk = request(rate_and_refill, rater, given.item.public_id, judgement)
    return "still waiting"
