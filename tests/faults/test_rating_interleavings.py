"""Organisers intervene while raters work: exclusion, restoration, stakes, pauses, publication,
deletion.

Whatever happens in between, an item never has more than k raters, nothing acknowledged is lost, and
no request of anybody ends in a deadlock or an error that is not the domain's own.
"""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from random import Random

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import connections

from annotations.campaigns.actions import chat, collection, publishing, quality, setup
from annotations.campaigns.actions.work_queue import (
    ItemTaken,
    Judgement,
    NotHanded,
    RatingsClosed,
    fill_queue,
    give_back,
    rate,
    rate_and_refill,
    renew,
    skip,
)
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Item,
    Message,
    Participation,
    RatingRevision,
    Slot,
)
from annotations.campaigns.queries.ratings import counted_ratings, publication_of
from annotations.models import Rating
from tests.campaigns.forms import comparing
from tests.campaigns.sets import made_campaign, made_raters
from tests.conftest import ON_SERVICES

RATERS, SECONDS = (16, 12) if ON_SERVICES else (4, 4)
K = 3


def request(action, *arguments, **named):
    try:
        return action(*arguments, **named)
    finally:
        connections.close_all()


class Crowd:
    """Raters and an organiser at once until time is up. ``broken``: whatever was raised and is no
    answer."""

    def __init__(self, campaign: Campaign, raters: list[Participation]) -> None:
        self.campaign, self.raters = campaign, raters
        self.acknowledged: list[tuple[int, str, str]] = []
        self.broken: list[BaseException] = []
        self.over = threading.Event()

    def judgement(self, key: str, random: Random) -> Judgement:
        return Judgement(key, random.randint(1, 5))

    def run(self, *others) -> None:
        with ThreadPoolExecutor(len(self.raters) + len(others)) as pool:
            for number, rater in enumerate(self.raters):
                pool.submit(self.guarded, self.rate_on, rater, Random(number))
            for number, other in enumerate(others):
                pool.submit(self.guarded, other, Random(100 + number))
            self.over.wait(SECONDS)
            self.over.set()

    def guarded(self, work, *arguments) -> None:
        try:
            work(*arguments)
        except BaseException as problem:
            self.broken.append(problem)

    def rate_on(self, rater: Participation, random: Random) -> None:
        while not self.over.is_set():
            with contextlib.suppress(ItemTaken, NotHanded, RatingsClosed):
                self.one_step(rater, random)

    def one_step(self, rater: Participation, random: Random) -> None:
        desk = request(fill_queue, rater)
        if not desk.assignments:
            time.sleep(0.02)
            return
        item = desk.assignments[0].item.public_id
        chance = random.random()
        if chance < 0.1:
            request(give_back, rater)
        elif chance < 0.2:
            request(renew, rater)
        elif chance < 0.22:
            request(skip, rater, item, "cannot say")
            return
        key = f"{random.random()}"
        store = rate_and_refill if chance > 0.6 else rate
        request(store, rater, item, self.judgement(key, random))
        self.acknowledged.append((rater.pk, item, key))


def places_hold(campaign: Campaign) -> None:
    slots = Slot.objects.filter(campaign=campaign)
    assert slots.count() == K * campaign.items.filter(role=Item.Role.REGULAR).count()
    held = list(
        slots.filter(holder__isnull=False).values_list(
            "item", "holder__item", "holder__participation"
        )
    )
    assert all(item == of_holder for item, of_holder, _rater in held)
    assert len({(item, rater) for item, _, rater in held}) == len(held)
    assert not slots.filter(holder__state__in=["skipped", "returned"]).exists()
    assert not slots.filter(holder__participation__state="excluded").exists()
    leased = Assignment.objects.filter(
        participation__campaign=campaign, state="leased", item__role="regular"
    )
    assert not leased.filter(slot__isnull=True).exists()
    for rater in campaign.participations.all():
        assert rater.rated == rater.assignments.filter(state="done").count()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_nothing_an_organiser_does_breaks_the_places_or_loses_a_rating() -> None:
    campaign = made_campaign(systems=("a", "b", "c"), dialogues=20, turns=2, k=K)
    raters = made_raters(campaign, RATERS)
    crowd = Crowd(campaign, raters)
    systems = list(campaign.systems.all())

    def excludes(random: Random) -> None:
        while not crowd.over.is_set():
            rater = random.choice(raters)
            request(quality.exclude, rater, "a look")
            time.sleep(0.01)
            request(quality.restore, rater)

    def notes_stakes(random: Random) -> None:
        while not crowd.over.is_set():
            rater, system = random.choice(raters), random.choice(systems)
            request(quality.declare_conflict, rater.user, system)
            request(quality.withdraw_conflict, rater.user, system)

    def runs_the_course(random: Random) -> None:
        while not crowd.over.is_set():
            for step in (setup.pause, self_publish, setup_resume):
                request(step, Campaign.objects.get(pk=campaign.pk))
                time.sleep(0.05)

    def self_publish(one: Campaign) -> None:
        try:
            publishing.publish(one)
        except publishing.CannotPublish:
            return
        publishing.unpublish(one)

    def setup_resume(one: Campaign) -> None:
        setup.resume(one)

    crowd.run(excludes, excludes, notes_stakes, runs_the_course)
    assert not crowd.broken
    assert len(crowd.acknowledged) > RATERS
    places_hold(campaign)
    kept = set(
        RatingRevision.objects.values_list(
            "assignment__participation", "assignment__item__public_id", "key"
        )
    )
    assert set(crowd.acknowledged) <= kept
    for rater in raters:
        request(quality.restore, rater)
    setup.close(campaign)
    published = publishing.publish(campaign)
    assert published == counted_ratings(campaign).count() == Rating.objects.count()
    assert not publication_of(campaign).changed_since


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(4) if ON_SERVICES else range(1))
def test_deletion_waits_for_those_who_act_and_ends_them_kindly(attempt: int) -> None:
    """A paused campaign may be deleted while raters finish what they hold and an organiser excludes
    somebody.

    Locked in another order the two wait for each other: PostgreSQL then ends one of them.
    """
    campaign = made_campaign(
        systems=("a", "b", "c"), dialogues=20, turns=2, k=K, slug=f"gone-{attempt}"
    )
    raters = made_raters(campaign, RATERS)
    crowd = Crowd(campaign, raters)

    def excludes(random: Random) -> None:
        while not crowd.over.is_set():
            rater = random.choice(raters)
            request(quality.exclude, rater, "a look")
            request(quality.restore, rater)

    def deletes(_random: Random) -> None:
        time.sleep(1)
        request(setup.pause, campaign)
        request(setup.delete, campaign, campaign.slug)
        crowd.over.set()

    crowd.run(excludes, excludes, deletes)
    assert all(isinstance(one, Participation.DoesNotExist) for one in crowd.broken), crowd.broken
    assert not Campaign.objects.filter(pk=campaign.pk).exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["interactive", "collection"])
def test_deletion_waits_for_who_speaks(kind: str) -> None:
    """A line stored between the look for lines and their deletion would refer to what is gone."""
    for attempt in range(10 if ON_SERVICES else 2):
        campaign = made_campaign(
            kind, dialogues=3, dialogues_per_system=9, utterances=100, slug=f"{kind}-{attempt}"
        )
        raters = made_raters(campaign, 4)
        crowd = Crowd(campaign, raters)
        if kind == "collection":
            places = [collection.meet(rater).public_id for rater in raters]
            speakers = [partial(collection.say, *pair) for pair in zip(raters, places, strict=True)]
        else:
            chats = [chat.conversation_of(fill_queue(rater, 1).assignments[0]) for rater in raters]
            speakers = [partial(chat.say, one) for one in chats]
        crowd.rate_on = partial(speak_until_gone, crowd, dict(zip(raters, speakers, strict=True)))
        crowd.run(partial(delete_soon, crowd))
        assert not crowd.broken, crowd.broken
        assert not Campaign.objects.filter(pk=campaign.pk).exists()


def speak_until_gone(crowd: Crowd, speakers: dict, rater: Participation, random: Random) -> None:
    with contextlib.suppress(collection.NotYourChat, ObjectDoesNotExist):
        while not crowd.over.is_set():
            with contextlib.suppress(
                collection.OutOfTurn, chat.NotYourTurn, chat.ChatOver, collection.ChatClosed
            ):
                request(speakers[rater], "A few words", f"{random.random()}")
            # Each its own: two that update the rows of all in other orders wait for each other
            own = Message.objects.filter(conversation__assignment__participation=rater)
            request(own.filter(speaker="B", state="pending").update, state="done", text="Words")


def delete_soon(crowd: Crowd, random: Random) -> None:
    time.sleep(0.1 + random.random() / 5)
    request(setup.delete, crowd.campaign, crowd.campaign.slug)
    crowd.over.set()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_raters_at_once_never_exceed_the_budget() -> None:
    """Each claims two at a time, gives some back, and is taken out and in again."""
    campaign = comparing(systems=("a", "b", "c"), dialogues=20, turns=1, k=1, budget=25)
    raters = made_raters(campaign, RATERS)
    crowd = Crowd(campaign, raters)
    crowd.judgement = lambda key, _random: Judgement(
        key, None, form=campaign.form, answers={"preference": "a"}
    )
    held = []

    def looks(random: Random) -> None:
        while not crowd.over.is_set():
            held.append(request(campaign.slots.filter(holder__isnull=False).count))
            time.sleep(0.005)

    def excludes(random: Random) -> None:
        while not crowd.over.is_set():
            rater = random.choice(raters)
            request(quality.exclude, rater, "a look")
            time.sleep(0.02)
            request(quality.restore, rater)
            time.sleep(0.1)

    crowd.run(looks, excludes)
    assert not crowd.broken, crowd.broken
    assert max(held) == 25
