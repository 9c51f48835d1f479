"""A large campaign is opened, published, taken back and deleted in short steps: raters of other
campaigns go on, nobody sees half of it, and what a killed process left is taken up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.actions import opening, publishing, setup
from annotations.campaigns.actions.work_queue import CannotJoin, Judgement, fill_queue, join, rate
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Item,
    Participation,
    RatingRevision,
    Slot,
)
from annotations.corpora import staging
from annotations.corpora.queries import counts_of, dialogue_ratings_in, ratings_of
from annotations.corpora.record_stream import records_of
from annotations.models import CorpusVersion, Rater, Rating
from common.roles import ORGANISER
from dialeval_site.tasks import sweep
from tests.at_once import at_once
from tests.campaigns.judged import items_of, rated_and_closed
from tests.campaigns.sets import made_campaign, made_raters, made_user, made_version
from workers.judges.trial_queries import rated_responses

pytestmark = pytest.mark.django_db(transaction=True)

DIALOGUES, TURNS, RATERS = 15, 4, 2
ITEMS = 2 * DIALOGUES * TURNS
"""Of two systems, with as many ratings by each of two raters."""
MOST_ROWS = 30
"""Of the large tables, that one transaction may write here."""
LARGE = {model._meta.db_table for model in (Item, Slot, Assignment, RatingRevision, Rating)}


class Killed(BaseException):
    pass


@pytest.fixture(autouse=True)
def _few_rows_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = staging.ShortTransactions.__init__

    def begin_small(self: staging.ShortTransactions) -> None:
        begin(self)
        self.rows = MOST_ROWS

    monkeypatch.setattr(staging.ShortTransactions, "__init__", begin_small)
    monkeypatch.setattr(staging, "FEWEST_ROWS", MOST_ROWS)
    monkeypatch.setattr(staging, "MOST_ROWS", MOST_ROWS)


def draft() -> Campaign:
    version = made_version(dialogues=DIALOGUES, turns=TURNS)
    return made_campaign(version=version, k=RATERS, slug="large", opened=False)


def rated() -> Campaign:
    """Closed, all of it rated by two people."""
    campaign = made_campaign(dialogues=DIALOGUES, turns=TURNS, k=RATERS, slug="large")
    return rated_and_closed(campaign, RATERS)


def published() -> Campaign:
    campaign = rated()
    publishing.publish(campaign)
    return Campaign.objects.get(pk=campaign.pk)


def delete(campaign: Campaign) -> None:
    setup.delete(campaign, campaign.slug)


STEPS: dict[str, tuple[Callable[[], Campaign], Callable[[Campaign], object]]] = {
    "opened": (draft, setup.open_campaign),
    "published": (rated, publishing.publish),
    "published again": (published, publishing.publish),
    "taken back": (published, publishing.unpublish),
    "deleted": (rated, delete),
}


@contextmanager
def rows_of_transactions() -> Iterator[list[int]]:
    """How many rows of the large tables each transaction of this connection writes."""
    counts: list[int] = []
    is_counted = False

    def end() -> None:
        nonlocal is_counted
        is_counted = False

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal is_counted
        result = execute(sql, params, many, context)
        words = sql.replace('"', " ").split()
        table = next((word for word in words[1:4] if word in LARGE), "")
        if words[0] in ("INSERT", "UPDATE", "DELETE") and table:
            if not is_counted:
                counts.append(0)
                is_counted = connection.in_atomic_block
                if is_counted:
                    connection.on_commit(end)
            counts[-1] += context["cursor"].rowcount
        return result

    with connection.execute_wrapper(count):
        yield counts


@contextmanager
def in_the_middle(act: Callable[[], object], at: int = 3) -> Iterator[None]:
    """``act`` is done once, by another connection, before a step's ``at``-th transaction."""
    begin, begun = staging.ShortTransactions.next, 0

    def next_one(self: staging.ShortTransactions, rows: int | None = None) -> Any:
        nonlocal begun
        begun += 1
        if begun == at:
            (outcome,) = at_once(act)
            if isinstance(outcome, Exception):
                raise outcome
        return begin(self, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging.ShortTransactions, "next", next_one)
        yield
    assert begun >= at, "there was no middle"


def killed_in_the_middle(step: Callable[[], object], at: int = 3) -> None:
    """As by SIGKILL: nothing is tidied up, and the lease runs out."""

    def die(*_: object, **__: object) -> None:
        raise Killed

    begin, begun = staging.ShortTransactions.next, 0

    def next_one(self: staging.ShortTransactions, rows: int | None = None) -> Any:
        nonlocal begun
        begun += 1
        return die() if begun >= at else begin(self, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging.ShortTransactions, "next", next_one)
        with pytest.raises(Killed):
            step()
    past = timezone.now() - timedelta(seconds=1)
    for model in (Campaign, CorpusVersion):
        leased = model._base_manager.exclude(lease_token="")
        leased.update(lease_expires_at=past)


# --- raters go on ------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
def test_no_transaction_writes_much_while_a_large_campaign_is(step: str) -> None:
    """In one transaction SQLite's writer was held for all 120 items or 240 ratings at once."""
    begin, act = STEPS[step]
    campaign = begin()
    with rows_of_transactions() as counts:
        act(campaign)
    if connection.vendor == "sqlite":  # COPY is no statement that is counted
        assert sum(counts) >= ITEMS
    # A rated assignment goes with its rating, after an update that lets it go.
    assert max(counts, default=0) <= 3 * MOST_ROWS


@pytest.mark.parametrize("step", STEPS)
def test_a_rater_of_another_campaign_rates_while_a_large_campaign_is(step: str) -> None:
    begin, act = STEPS[step]
    campaign, other = begin(), made_campaign(dialogues=2)
    (rater,) = made_raters(other, 1)

    def rate_one() -> None:
        (first, *_) = fill_queue(rater).assignments
        guidelines = other.guidelines.get().pk
        rate(rater, first.item.public_id, Judgement(key="k", score=4, guidelines_id=guidelines))

    with in_the_middle(rate_one):
        act(campaign)
    assert RatingRevision.objects.filter(assignment__participation=rater).count() == 1


# --- opening -----------------------------------------------------------------------------------


def test_a_campaign_that_is_being_opened_is_a_draft_that_nobody_joins_changes_or_opens() -> None:
    campaign = draft()
    seen: list[str] = []

    def look() -> None:
        half = Campaign.objects.get(pk=campaign.pk)
        assert half.items.exists()
        seen.append(half.state)
        with pytest.raises(CannotJoin):
            join(half, made_user("ann"))
        with pytest.raises(setup.NotReady, match="is being opened"):
            setup.open_campaign(half)
        with pytest.raises(setup.WrongState, match="is being opened"):
            setup.edit(half, setup.CampaignParams(name="Other", kind="turn", version=half.version))

    with in_the_middle(look):
        opened = setup.open_campaign(campaign)
    assert seen == ["draft"]
    assert (opened.items, opened.slots) == (ITEMS, ITEMS * RATERS)
    assert (campaign.state, campaign.lease_token, campaign.lease_expires_at) == ("open", "", None)


def test_an_opening_that_fails_leaves_the_draft_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = draft()

    def fail(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(opening, "interleave", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        setup.open_campaign(campaign)
    assert not Item.objects.exists()
    monkeypatch.undo()
    assert setup.open_campaign(campaign).items == ITEMS


def test_a_killed_opening_is_taken_up_by_the_next_one() -> None:
    campaign = draft()
    killed_in_the_middle(lambda: setup.open_campaign(campaign), at=7)
    assert 0 < Item.objects.count() + Slot.objects.count() < ITEMS * (1 + RATERS)
    setup.open_campaign(Campaign.objects.get(pk=campaign.pk))
    assert (campaign.items.count(), campaign.slots.count()) == (ITEMS, ITEMS * RATERS)


def test_the_sweep_makes_a_draft_again_of_a_killed_opening_and_keeps_the_training_items() -> None:
    campaign = draft()
    first = campaign.version.dialogues.first()
    assert first is not None
    Item.objects.create(
        campaign=campaign, role=Item.Role.TRAINING, dialogue=first, lowest=1, highest=2
    )
    killed_in_the_middle(lambda: setup.open_campaign(campaign), at=7)
    sweep()
    assert [item.role for item in campaign.items.all()] == ["training"]
    assert not Slot.objects.exists()
    assert setup.open_campaign(Campaign.objects.get(pk=campaign.pk)).items == ITEMS


def test_a_draft_deleted_while_it_is_opened_is_gone_and_who_opens_it_is_told() -> None:
    campaign = draft()
    with (
        pytest.raises(setup.NotReady, match="was deleted"),
        in_the_middle(lambda: setup.delete(Campaign.objects.get(pk=campaign.pk))),
    ):
        setup.open_campaign(campaign)
    assert not Campaign._base_manager.exists()
    assert not Item.objects.exists()


# --- publishing --------------------------------------------------------------------------------


def shown(version: CorpusVersion) -> list[object]:
    """What pages, files and judges' trials have of a version's ratings."""
    version = CorpusVersion.objects.get(pk=version.pk)
    responses = [
        response for system in version.systems.all() for response in system.responses.all()
    ]
    return [
        counts_of(version),
        list(records_of(version)),
        version.aspects,
        ratings_of(responses, "overall"),
        [list(dialogue_ratings_in(dialogue)) for dialogue in version.dialogues.all()],
        rated_responses(version, "overall"),
        version.raters.count(),
    ]


def test_half_a_publication_is_seen_by_nobody() -> None:
    campaign = rated()
    before = shown(campaign.version)
    seen: list[bool] = []

    def look() -> None:
        assert Rating.objects.exists()  # it is under way
        seen.append(shown(campaign.version) == before)

    with in_the_middle(look):
        assert publishing.publish(campaign) == ITEMS * RATERS
    assert seen == [True]
    assert counts_of(CorpusVersion.objects.get()).ratings == ITEMS * RATERS
    assert not CorpusVersion.staged.exists()


def test_a_publication_that_is_taken_back_is_gone_at_once() -> None:
    campaign = published()
    seen: list[tuple[int, int]] = []

    def look() -> None:
        seen.append(
            (counts_of(CorpusVersion.objects.get()).ratings, len(shown(campaign.version)[3]))
        )

    with in_the_middle(look):
        assert publishing.unpublish(campaign) == ITEMS * RATERS
    assert seen == [(0, 0)]
    assert not Rating.objects.exists()
    assert not Rater.objects.exists()


def test_the_former_publication_is_shown_until_the_new_one_takes_its_place() -> None:
    campaign = published()
    before = shown(campaign.version)
    seen: list[bool] = []
    with in_the_middle(lambda: seen.append(shown(campaign.version) == before)):
        publishing.publish(campaign)
    assert seen == [True]
    assert Rating.objects.count() == ITEMS * RATERS


def test_ratings_that_change_while_they_are_published_are_not_published() -> None:
    campaign = rated()
    (first, *_) = items_of(campaign)
    done = Assignment.objects.filter(item=first).first()
    assert done is not None

    def think_again() -> None:
        revision = RatingRevision.objects.create(assignment=done, number=2, key="again", score=5)
        Assignment.objects.filter(pk=done.pk).update(current=revision)

    with in_the_middle(think_again), pytest.raises(publishing.CannotPublish, match="meanwhile"):
        publishing.publish(campaign)
    assert not Rating.objects.exists()
    assert not CorpusVersion.staged.exists()
    assert publishing.publish(campaign) == ITEMS * RATERS


@pytest.mark.parametrize("step", ["published", "published again", "taken back"])
def test_what_a_killed_publication_left_is_removed_and_the_version_is_whole(step: str) -> None:
    begin, act = STEPS[step]
    campaign = begin()
    before = shown(campaign.version)
    killed_in_the_middle(lambda: act(campaign))
    after = shown(campaign.version)
    sweep()
    assert not CorpusVersion.staged.exists()
    assert shown(campaign.version) == after
    is_out = step == "taken back"  # it was out from the first moment on
    assert after == before or is_out
    assert Rating.objects.count() == counts_of(CorpusVersion.objects.get()).ratings


# --- deleting ----------------------------------------------------------------------------------


def test_a_campaign_that_is_being_deleted_is_gone_for_everybody() -> None:
    campaign = rated()
    Campaign.objects.update(state="open", closed_at=None)
    rater = Participation.objects.select_related("user").first()
    assert rater is not None
    seen: list[object] = []

    def look() -> None:
        assert Assignment.objects.exists()  # it is under way
        for user, name in ((rater.user, "rating-start"), (organiser, "campaign")):
            client = Client()
            client.force_login(user)
            seen.append(client.get(reverse(name, args=["large"])).status_code)
            page = client.get(reverse("home")).content.decode()
            assert campaign.name not in page
        with pytest.raises(CannotJoin):
            join(campaign, made_user("ann"))
        asked = setup.CampaignParams(
            name="New", kind="turn", slug="large", version=campaign.version
        )
        with pytest.raises(setup.SlugTaken):  # until the last row is gone
            setup.create(asked)

    organiser = made_user("olga", ORGANISER)
    with in_the_middle(look):
        delete(campaign)
    assert seen == [404, 404]
    for model in (Campaign, Item, Slot, Assignment, RatingRevision, Participation):
        assert not model._base_manager.exists()


def test_a_rating_that_comes_while_its_campaign_is_deleted_is_refused_and_not_acknowledged() -> (
    None
):
    campaign = rated()
    Campaign.objects.update(state="open", closed_at=None)
    rater = Participation.objects.select_related("campaign").first()
    assert rater is not None
    (first, *_) = items_of(campaign)
    refused: list[str] = []

    def rate_again() -> None:
        guidelines = campaign.guidelines.get().pk
        judgement = Judgement(key="late", score=4, guidelines_id=guidelines)
        try:
            rate(rater, first.public_id, judgement)
        except Exception as refusal:
            refused.append(type(refusal).__name__)

    with in_the_middle(rate_again):
        delete(campaign)
    assert refused == ["RatingsClosed"]
    assert not RatingRevision.objects.exists()


def test_the_sweep_finishes_a_killed_deletion() -> None:
    campaign = rated()
    killed_in_the_middle(lambda: delete(campaign))
    assert not Campaign.objects.exists()
    assert Assignment.objects.exists()
    sweep()
    for model in (Campaign, Item, Slot, Assignment, RatingRevision, Participation):
        assert not model._base_manager.exists()
