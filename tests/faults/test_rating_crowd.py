"""Many raters at one campaign at the same time, who crash, come back late, click twice and send
again.

Every item ends with exactly k raters, nobody rates an item twice, and every rating that was
acknowledged is there.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import pytest
from django.db import connections, transaction
from django.utils import timezone

from annotations.agreement.report import agreement_report
from annotations.campaigns.actions.work_queue import (
    ItemTaken,
    Judgement,
    Stored,
    fill_queue,
    rate,
    skip,
)
from annotations.campaigns.models import Assignment, Campaign, Participation, RatingRevision, Slot
from annotations.campaigns.queries.ratings import campaign_matrix
from tests.campaigns.sets import made_campaign, made_raters
from tests.conftest import ON_SERVICES
from tests.faults.chance import few

RATERS, ITEMS, K = (60, few(40, of=100), 6) if ON_SERVICES else (8, 20, 3)
PATIENCE = 600
GONE_FOR_GOOD, FALLS_SILENT, BREAKS_OFF, CLICKS_TWICE, SENDS_AGAIN, SECOND_THOUGHT, SKIPS = (
    0.01, 0.06, 0.08, 0.12, 0.12, 0.08, 0.02,
)  # fmt: skip


class PowerCut(Exception):
    """The server dies before its transaction is over."""


@dataclass
class Person:
    """One rater in front of a page, and what the page saw acknowledged."""

    participation: Participation
    random: Random
    stays: bool
    acknowledged: list[tuple[str, str, int]] = field(default_factory=list)
    refused: int = 0

    def work(self, deadline: float) -> str:
        while time.monotonic() < deadline:
            desk = request(fill_queue, self.participation)
            if desk.why_empty == "finished":
                return "finished"
            if not desk.assignments:
                time.sleep(1)
            elif self.do_something_with(desk.assignments[0].item.public_id) == "gone":
                self.let_leases_end()
                return "gone"
        return "still waiting"

    def do_something_with(self, item: str) -> str:
        key, score = f"{self.random.random()}", self.random.randint(1, 5)
        if not self.stays and self.happens(GONE_FOR_GOOD):
            return "gone"
        if self.happens(SKIPS):
            request(skip, self.participation, item, "not for me")
            return ""
        if self.happens(FALLS_SILENT):
            self.let_leases_end()
            time.sleep(self.random.random())  # perhaps somebody else gets the item meanwhile
        if self.happens(BREAKS_OFF):
            request(self.break_off, item, Judgement(key, score))
        if self.happens(CLICKS_TWICE):
            other = threading.Thread(target=self.submit, args=(item, key, score))
            other.start()
            self.submit(item, key, score)
            other.join()
        else:
            self.submit(item, key, score)
        if self.happens(SENDS_AGAIN):
            self.submit(item, key, score)
        if self.happens(SECOND_THOUGHT):
            self.submit(item, f"{key} again", 6 - score)
        return ""

    def let_leases_end(self) -> None:
        past = timezone.now() - timedelta(seconds=1)
        held = Assignment.objects.filter(participation=self.participation, state="leased")
        request(held.update, lease_expires_at=past)

    def happens(self, probability: float) -> bool:
        return self.random.random() < probability

    def submit(self, item: str, key: str, score: int) -> None:
        try:
            request(rate, self.participation, item, Judgement(key, score))
        except ItemTaken:
            self.refused += 1
        else:
            self.acknowledged.append((item, key, score))

    def break_off(self, item: str, judgement: Judgement) -> None:
        try:
            with transaction.atomic():
                rate(self.participation, item, judgement)
                raise PowerCut
        except (PowerCut, ItemTaken):
            pass


def request(action, *arguments, **named):
    """As a web server does it: a connection from the pool for one action, then back."""
    try:
        return action(*arguments, **named)
    finally:
        connections.close_all()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_crowd_fills_every_item_with_exactly_k_raters() -> None:
    campaign = made_campaign(systems=("a", "b"), dialogues=ITEMS // 4, turns=2, k=K)
    people = [
        Person(participation, Random(number), stays=number % 2 == 0)
        for number, participation in enumerate(made_raters(campaign, RATERS))
    ]
    deadline = time.monotonic() + PATIENCE
    with ThreadPoolExecutor(RATERS) as crowd:
        ends = Counter(crowd.map(lambda person: person.work(deadline), people))
    assert set(ends) <= {"finished", "gone"}, (
        ends,
        Counter(Assignment.objects.values_list("state", flat=True)),
    )
    assert campaign.items.count() == ITEMS
    assert places_of_items(campaign) == dict.fromkeys(
        campaign.items.values_list("pk", flat=True), K
    )
    nobody_rated_twice(campaign)
    for person in people:
        everything_acknowledged_is_there(person)


def places_of_items(campaign: Campaign) -> dict[int, int]:
    """How many raters' ratings count for each item."""
    counted = Assignment.objects.filter(state="done", slot__campaign=campaign).values_list(
        "item", "participation"
    )
    assert len(set(counted)) == len(counted)
    return Counter(item for item, _ in counted)


def nobody_rated_twice(campaign: Campaign) -> None:
    done = Assignment.objects.filter(item__campaign=campaign, state="done")
    pairs = list(done.values_list("participation", "item"))
    assert len(set(pairs)) == len(pairs) == Slot.objects.filter(campaign=campaign).count()
    for assignment in done.prefetch_related("revisions"):
        numbers = sorted(revision.number for revision in assignment.revisions.all())
        assert numbers == list(range(1, len(numbers) + 1))


def everything_acknowledged_is_there(person: Person) -> None:
    """Once each, whatever was sent how often; and what is there was acknowledged."""
    kept = RatingRevision.objects.filter(
        assignment__participation=person.participation, assignment__state="done"
    )
    stored = list(kept.values_list("assignment__item__public_id", "key", "score"))
    assert sorted(stored) == sorted(set(person.acknowledged))


@pytest.mark.slow
@pytest.mark.django_db
def test_six_raters_who_agree_on_everything_agree_perfectly_under_partial_overlap() -> None:
    """Items of two raters each: every pair of raters shares some of them, and says the same of
    each."""
    dialogues = few(10, of=30)
    campaign = made_campaign(systems=("a", "b"), dialogues=dialogues, turns=5, k=2)
    raters = made_raters(campaign, 6)
    random = Random(3)
    working = list(raters)
    while working:
        rater = random.choice(working)
        given = fill_queue(rater).assignments
        if given:
            truth = given[0].item_id % 5 + 1
            assert isinstance(rate(rater, given[0].item.public_id, Judgement("k", truth)), Stored)
        else:
            working.remove(rater)
    matrix = campaign_matrix(campaign).matrix
    report = agreement_report(matrix, resamples=100)
    assert (report.items, report.raters, report.ratings) == (10 * dialogues, 6, 20 * dialogues)
    assert report.krippendorff_alpha["ordinal"].value == pytest.approx(1)
    assert report.krippendorff_alpha["nominal"].value == pytest.approx(1)
    assert report.cohen_kappa["unweighted"].mean.value == pytest.approx(1)
    assert report.cohen_kappa["quadratic"].mean.value == pytest.approx(1)
