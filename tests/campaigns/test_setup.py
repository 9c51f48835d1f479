"""From a draft to an open campaign and back out: what is stored, what is refused, and what two at
once do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db.models import Model
from django.utils import timezone

from annotations.accounts import NameTaken
from annotations.campaigns.actions import checks, invitations, setup, work_queue
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    ChatSystem,
    Item,
    RatingRevision,
    Slot,
)
from annotations.campaigns.plan.check_items import CheckItem
from annotations.campaigns.queries import overview
from annotations.campaigns.queries.planning import planned_items, question_of
from annotations.corpora.actions import CorpusHasResults, delete_corpus
from annotations.models import CorpusVersion, Response
from tests.at_once import at_once
from tests.campaigns.sets import made_campaign, made_raters, made_user, made_version

pytestmark = pytest.mark.django_db


def draft(version: CorpusVersion, kind: str = "turn", **asked: Any) -> Campaign:
    asked.setdefault("systems", list(version.systems.all()))
    campaign = setup.create(setup.CampaignParams(name="Talk", kind=kind, version=version, **asked))
    setup.write_guidelines(campaign, "Read first.")
    return campaign


# --- drafts ---------------------------------------------------------------------------------------


def test_the_address_is_made_from_the_name_and_made_once() -> None:
    version = made_version()
    slugs = [
        setup.create(setup.CampaignParams(name="Über Talk!", kind="turn", version=version)).slug
        for _ in range(3)
    ]
    assert slugs == ["uber-talk", "uber-talk-2", "uber-talk-3"]


def test_a_name_without_latin_letters_still_gets_an_address() -> None:
    assert (
        setup.create(setup.CampaignParams(name="評価", kind="turn", version=made_version())).slug
        == "campaign"
    )


def test_the_name_new_is_not_the_address_of_the_form() -> None:
    assert (
        setup.create(setup.CampaignParams(name="New", kind="turn", version=made_version())).slug
        == "new-2"
    )


def test_an_address_that_is_taken_is_refused() -> None:
    version = made_version()
    draft(version, slug="talk")
    with pytest.raises(setup.SlugTaken):
        draft(version, slug="talk")


def test_systems_of_another_corpus_are_refused() -> None:
    with pytest.raises(ValueError, match="corpus version"):
        draft(made_version(), systems=list(made_version().systems.all()))
    assert not Campaign.objects.exists()


def test_a_draft_can_be_changed_wholly() -> None:
    campaign = draft(made_version())
    other = made_version()
    setup.edit(
        campaign,
        setup.CampaignParams(
            name="B", kind="dialogue", slug="b", version=other, raters_per_item=3, seed=5
        ),
    )
    campaign.refresh_from_db()
    assert (
        campaign.name,
        campaign.kind,
        campaign.slug,
        campaign.version,
        campaign.raters_per_item,
        campaign.seed,
    ) == (
        *("B", "dialogue", "b", other),
        *(3, 5),
    )


def test_of_an_open_campaign_only_name_dates_and_groups_change() -> None:
    campaign = made_campaign(k=2)
    ends = timezone.now() + timedelta(days=3)
    group = Group.objects.get(name="rater")
    setup.edit(
        campaign,
        setup.CampaignParams(
            name="New name", kind="dialogue", raters_per_item=9, closes_at=ends, groups=[group]
        ),
    )
    campaign.refresh_from_db()
    assert (campaign.name, campaign.closes_at, list(campaign.groups.all())) == (
        "New name",
        ends,
        [group],
    )
    assert (campaign.kind, campaign.raters_per_item, campaign.systems.count()) == ("turn", 2, 2)


def test_guidelines_get_a_version_only_when_they_change() -> None:
    campaign = draft(made_version())
    assert setup.write_guidelines(campaign, "Read first.\r\n")[1] is False
    stored, is_new = setup.write_guidelines(campaign, "Read twice.")
    assert (stored.number, is_new, campaign.guidelines.count()) == (2, True, 2)


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "x" * 50_001])
def test_guidelines_that_cannot_be_stored_are_refused(text: str) -> None:
    campaign = draft(made_version())
    with pytest.raises(ValueError, match="the text"):
        setup.write_guidelines(campaign, text)


# --- opening --------------------------------------------------------------------------------------


def test_a_turn_campaign_has_an_item_for_each_response_and_k_slots_for_each_item() -> None:
    """2 systems × 3 dialogues × 2 turns = 12 items; × 3 raters = 36 slots with the ordinals 0 …
    35."""
    campaign = draft(made_version(dialogues=3, turns=2), raters_per_item=3)
    opened = setup.open_campaign(campaign)
    assert (opened.items, opened.slots) == (12, 36)
    slots = list(Slot.objects.filter(campaign=campaign).values_list("item", "place", "ordinal"))
    assert sorted(ordinal for _, _, ordinal in slots) == list(range(36))
    assert Counter(item for item, _, _ in slots) == dict.fromkeys(
        campaign.items.values_list("pk", flat=True), 3
    )
    assert Counter(place for _, place, _ in slots) == {1: 12, 2: 12, 3: 12}
    assert campaign.state == "open"
    assert campaign.opened_at is not None
    assert all(
        item.response_id and item.turn_id and item.system_id for item in campaign.items.all()
    )


def test_a_missing_response_is_no_item() -> None:
    version = made_version(dialogues=3, turns=2)
    Response.objects.first().delete()
    campaign = draft(version)
    planned = planned_items(question_of(campaign))
    assert (planned.items, planned.left_out) == (11, 1)
    assert setup.open_campaign(campaign).items == 11


def test_at_dialogue_level_a_system_must_have_answered_every_turn() -> None:
    """2 systems × 3 dialogues; one system misses a turn of one dialogue: 5 items."""
    version = made_version(dialogues=3, turns=2)
    gone = Response.objects.select_related("turn").first()
    gone.delete()
    campaign = draft(version, "dialogue")
    planned = planned_items(question_of(campaign))
    assert (planned.items, planned.left_out) == (5, 1)
    setup.open_campaign(campaign)
    pairs = set(campaign.items.values_list("system", "dialogue"))
    assert len(pairs) == 5
    assert (gone.system_id, gone.turn.dialogue_id) not in pairs
    assert not campaign.items.filter(turn__isnull=False).exists()


def test_all_systems_are_asked_the_same_drawn_dialogues() -> None:
    campaign = draft(made_version(dialogues=10, turns=2), dialogues_per_system=4, seed=11)
    assert planned_items(question_of(campaign)).items == 2 * 4 * 2
    setup.open_campaign(campaign)
    asked = [
        set(campaign.items.filter(system=system).values_list("dialogue", flat=True))
        for system in campaign.systems.all()
    ]
    assert asked[0] == asked[1]
    assert len(asked[0]) == 4


def test_the_plan_counts_what_opening_makes() -> None:
    for kind in ("turn", "dialogue"):
        campaign = draft(made_version(dialogues=7, turns=3), kind, dialogues_per_system=5)
        assert planned_items(question_of(campaign)).items == setup.open_campaign(campaign).items


def test_an_interactive_campaign_asks_each_system_to_play_each_dialogue() -> None:
    chat = ChatSystem.objects.create(name="c", instructions="You are {persona}")
    campaign = draft(made_version((), dialogues=3), "interactive", systems=(), chat_systems=[chat])
    assert setup.open_campaign(campaign).items == 3
    assert set(campaign.items.values_list("chat_system", flat=True)) == {chat.pk}


def test_a_collection_opens_without_items() -> None:
    campaign = setup.create(
        setup.CampaignParams(name="Write", kind="collection", dialogues_per_system=5)
    )
    setup.write_guidelines(campaign, "Talk.")
    assert setup.open_campaign(campaign).items == 0
    assert campaign.state == "open"


def test_what_is_missing_is_said_and_nothing_is_made() -> None:
    campaign = setup.create(setup.CampaignParams(name="Talk", kind="turn", version=made_version()))
    with pytest.raises(setup.NotReady) as refused:
        setup.open_campaign(campaign)
    assert [sentence.split()[0] for sentence in refused.value.missing] == ["Write", "Choose"]
    assert (campaign.items.count(), Campaign.objects.get().state) == (0, "draft")


def test_settings_that_make_no_items_do_not_open() -> None:
    version = made_version()
    Response.objects.all().delete()
    campaign = draft(version)
    with pytest.raises(setup.NotReady, match="no items"):
        setup.open_campaign(campaign)
    campaign.refresh_from_db()
    assert campaign.state == "draft"


def test_more_slots_than_a_campaign_takes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotations.campaigns.actions.opening.MOST_SLOTS", 20)
    campaign = draft(made_version(dialogues=3, turns=2))
    with pytest.raises(setup.NotReady, match="more than a campaign takes"):
        setup.open_campaign(campaign)
    assert not Item.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_opened_four_times_at_once_there_is_one_set() -> None:
    campaign = draft(made_version(dialogues=3, turns=2))
    outcomes = at_once(*[lambda: setup.open_campaign(Campaign.objects.get(pk=campaign.pk))] * 4)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NotReady"] * 3 + ["Opened"]
    assert (campaign.items.count(), campaign.slots.count()) == (12, 24)


@pytest.mark.django_db(transaction=True)
def test_guidelines_written_four_times_at_once_are_numbered_in_turn() -> None:
    campaign = draft(made_version())
    texts = iter(["a", "b", "c", "d"])
    outcomes = at_once(*[lambda: setup.write_guidelines(campaign, next(texts))] * 4)
    assert sorted(stored.number for stored, _ in outcomes) == [2, 3, 4, 5]


# --- its course -----------------------------------------------------------------------------------


def test_pause_resume_close_and_open_again() -> None:
    campaign = made_campaign()
    for step, state in (
        (setup.pause, "paused"),
        (setup.resume, "open"),
        (setup.close, "closed"),
        (setup.resume, "open"),
    ):
        step(campaign)
        assert campaign.state == state
    assert campaign.closed_at is None


@pytest.mark.parametrize(
    ("opened", "step"), [(True, setup.resume), (False, setup.pause), (False, setup.close)]
)
def test_a_step_from_another_state_is_refused(
    opened: bool, step: Callable[[Campaign], None]
) -> None:
    campaign = made_campaign(opened=opened)
    with pytest.raises(setup.WrongState):
        step(campaign)


def test_who_saw_an_old_page_is_told() -> None:
    campaign = made_campaign()
    setup.close(Campaign.objects.get(pk=campaign.pk))
    with pytest.raises(setup.WrongState, match="closed"):
        setup.pause(campaign)


def test_published_ratings_keep_the_campaign_closed() -> None:
    campaign = made_campaign()
    setup.close(campaign)
    Campaign.objects.update(published_aspect="overall", published_at=timezone.now())
    with pytest.raises(setup.WrongState):
        setup.resume(Campaign.objects.get())
    with pytest.raises(setup.WrongState):
        setup.resume(campaign)  # a page from before the publication


# --- deleting -------------------------------------------------------------------------------------


def rated_campaign() -> Campaign:
    campaign = made_campaign()
    (rater,) = made_raters(campaign, 1)
    (first, *_) = work_queue.fill_queue(rater).assignments
    work_queue.rate(
        rater,
        first.item.public_id,
        work_queue.Judgement(
            key="k1", score=4, guidelines_id=campaign.guidelines.get().pk, active_ms=12_000
        ),
    )
    return campaign


def test_a_campaign_without_answers_is_deleted() -> None:
    campaign = made_campaign(training=[(1, 2)])
    made_raters(campaign, 2)
    setup.delete(campaign)
    assert not Campaign.objects.exists()
    assert not Item.objects.exists()


def test_answers_are_deleted_only_with_the_address_typed() -> None:
    campaign = rated_campaign()
    for typed in ("", "other"):
        with pytest.raises(setup.CannotDelete, match="Type"):
            setup.delete(campaign, typed)
    setup.delete(campaign, campaign.slug)
    assert not Campaign.objects.exists()


def test_nothing_else_hangs_on_rows_that_a_deletion_takes_without_a_look() -> None:
    """Whoever adds a key to one of these models adds its rows to ``setup.delete``."""

    def referring(model: type[Model]) -> set[str]:
        keys = model._meta.get_fields(include_hidden=True)
        return {
            f"{key.related_model.__name__}.{key.field.name}"
            for key in keys
            if key.auto_created and not key.concrete
        }

    assert referring(RatingRevision) == {"Assignment.current"}
    assert referring(Item) == {"Adjudication.item", "Assignment.item", "Slot.item"}
    assert referring(Assignment) == {
        *("Slot.holder", "RatingRevision.assignment", "Conversation.assignment"),
        "Adjudication.assignment",
    }


def test_published_ratings_keep_their_campaign() -> None:
    campaign = rated_campaign()
    Campaign.objects.update(published_aspect="overall", published_at=timezone.now())
    with pytest.raises(setup.CannotDelete, match="published"):
        setup.delete(campaign, campaign.slug)


@pytest.mark.parametrize("force", [False, True])
def test_a_corpus_with_campaigns_stays(force: bool) -> None:
    campaign = made_campaign(slug="talk")
    with pytest.raises(CorpusHasResults, match=r"used by these rating campaigns: talk\."):
        delete_corpus(campaign.version.corpus, force)
    setup.delete(campaign)
    delete_corpus(campaign.version.corpus)


# --- invitations ----------------------------------------------------------------------------------


def test_an_account_made_through_a_link_is_a_rater_s_and_joins() -> None:
    campaign = made_campaign()
    invitation = invitations.invite(campaign, "class", most_uses=1)
    participation = invitations.join_with_new_account(invitation, "ada", "long enough words")
    assert participation.user.groups.get().name == "rater"
    assert participation.user.check_password("long enough words")
    invitation.refresh_from_db()
    assert (invitation.uses, overview.why_unusable(invitation)) == (1, "used_up")


def test_no_account_is_left_where_joining_fails() -> None:
    invitation = invitations.invite(made_campaign(opened=False))
    with pytest.raises(work_queue.CannotJoin):
        invitations.join_with_new_account(invitation, "ada", "long enough words")
    assert not overview.takes_part(made_user("ada"), invitation.campaign)


@pytest.mark.parametrize("name", ["ada", "Ada"])
def test_a_name_that_is_taken_is_refused(name: str) -> None:
    """In whatever case: the form looked a moment before, and another may have come in between."""
    made_user("ada")
    with pytest.raises(NameTaken):
        invitations.join_with_new_account(
            invitations.invite(made_campaign()), name, "long enough words"
        )


def test_a_link_is_revoked_once() -> None:
    invitation = invitations.invite(made_campaign())
    assert invitations.revoke(invitation) is True
    assert invitations.revoke(invitation) is False
    invitation.refresh_from_db()
    assert overview.why_unusable(invitation) == "revoked"


def test_a_link_expires() -> None:
    invitation = invitations.invite(
        made_campaign(), expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert overview.why_unusable(invitation) == "expired"


# --- checks ---------------------------------------------------------------------------------------


def test_checks_are_stored_in_the_file_s_order_even_while_raters_work() -> None:
    campaign = made_campaign()
    made = checks.add_checks(
        campaign,
        [
            CheckItem("training", "file-1", 0, "northwind", (), 1, 2, "Short."),
            CheckItem("training", "file-0", 1, None, ("Mine.",), 5, 5),
        ],
    )
    assert [item.position for item in made] == [1, 2]
    first, second = overview.checks_of(campaign)
    assert first.response.system.name == "northwind"
    assert (second.texts, second.turn.number, second.system) == (["Mine."], 1, None)


def test_a_check_that_is_there_is_refused_and_nothing_is_stored() -> None:
    campaign = made_campaign()
    known = CheckItem("training", "file-1", 0, "northwind", (), 1, 2)
    checks.add_checks(campaign, [known])
    with pytest.raises(checks.CheckKnown) as refused:
        checks.add_checks(
            campaign, [CheckItem("training", "file-0", 0, "northwind", (), 1, 2), known]
        )
    assert refused.value.place == 2
    assert len(overview.checks_of(campaign)) == 1


def test_a_check_that_raters_were_given_stays() -> None:
    campaign = made_campaign(training=[(1, 2)])
    (rater,) = made_raters(campaign, 1)
    work_queue.fill_queue(rater)
    (item,) = overview.checks_of(campaign)
    with pytest.raises(checks.CheckInUse):
        checks.delete_check(item)
    assert overview.checks_of(campaign) == [item]


def test_another_corpus_makes_the_checks_void() -> None:
    campaign = made_campaign(opened=False, training=[(1, 2)])
    setup.edit(campaign, setup.CampaignParams(name="Talk", kind="turn", version=made_version()))
    assert overview.checks_of(campaign) == []


# --- how far --------------------------------------------------------------------------------------


def test_progress_counts_ratings_and_complete_items() -> None:
    """2 systems × 3 dialogues × 2 turns = 12 items, k = 2: 24 wanted. One rater rates all 12,
    another one of them: 13 done, and that one item is complete."""
    campaign = made_campaign()
    first, second = made_raters(campaign, 2)
    for rater, number in ((first, 12), (second, 1)):
        for turn in range(number):
            (held, *_) = work_queue.fill_queue(rater).assignments
            work_queue.rate(
                rater, held.item.public_id, work_queue.Judgement(key=f"k{turn}", score=3)
            )
    work_queue.give_back(first)
    work_queue.give_back(second)
    progress = overview.progress_of(campaign)
    assert (progress.done, progress.wanted, progress.items, progress.items_complete) == (
        13,
        24,
        12,
        1,
    )
    listed = overview.with_progress(Campaign.objects.filter(pk=campaign.pk)).get()
    assert (listed.done, listed.wanted) == (13, 24)


def test_what_is_in_hand_is_neither_done_nor_complete() -> None:
    campaign = made_campaign(k=1, dialogues=1, turns=1, systems=("northwind",))
    (rater,) = made_raters(campaign, 1)
    work_queue.fill_queue(rater)
    progress = overview.progress_of(campaign)
    assert (progress.done, progress.wanted, progress.items_complete) == (0, 1, 0)


def test_without_ratings_there_is_no_end_and_a_reason() -> None:
    progress = overview.progress_of(made_campaign())
    assert progress.expected_end is None
    assert "no rating" in progress.basis


def test_a_draft_has_nothing_to_do_yet() -> None:
    progress = overview.progress_of(made_campaign(opened=False))
    assert (progress.done, progress.wanted, progress.items, progress.share) == (0, 0, 0, None)


def test_the_pace_is_this_campaign_s_once_it_has_ten_ratings() -> None:
    campaign = made_campaign()
    assert overview.response_time_of("turn", campaign).basis == "assumed"
    (rater,) = made_raters(campaign, 1)
    for number in range(10):
        (held, *_) = work_queue.fill_queue(rater).assignments
        work_queue.rate(
            rater,
            held.item.public_id,
            work_queue.Judgement(key=f"k{number}", score=3, active_ms=1000 * (number + 1)),
        )
    own, other = (
        overview.response_time_of("turn", campaign),
        overview.response_time_of("turn", made_campaign()),
    )
    assert (own.basis, own.seconds, own.ratings) == ("campaign", 5.5, 10)
    assert (other.basis, other.seconds) == ("kind", 5.5)
    assert overview.response_time_of("dialogue").basis == "assumed"


def test_the_next_step_leads_from_the_draft_to_the_end() -> None:
    def next_step(campaign: Campaign) -> str:
        campaign.refresh_from_db()
        return next(
            step.key
            for step in overview.steps_of(campaign, overview.progress_of(campaign))
            if step.is_next
        )

    version = made_version()
    campaign = setup.create(
        setup.CampaignParams(
            name="T", kind="turn", version=version, systems=list(version.systems.all())
        )
    )
    assert next_step(campaign) == "guidelines"
    setup.write_guidelines(campaign, "Read.")
    assert next_step(campaign) == "invite"
    invitations.invite(campaign)
    assert next_step(campaign) == "open"
    setup.open_campaign(campaign)
    assert next_step(campaign) == "rate"


@pytest.mark.parametrize("step", ["create", "edit"])
def test_of_two_who_ask_for_one_address_at_once_the_second_is_told(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both looked before either stored: only the database sees that the address is taken."""
    made_campaign(slug="taken")
    draft = setup.create(
        setup.CampaignParams(name="Other", kind="collection", dialogues_per_system=2)
    )
    monkeypatch.setattr(setup, "_free_slug", lambda asked: "taken")
    asked = setup.CampaignParams(
        name="Third", kind="collection", slug="taken", dialogues_per_system=2
    )
    with pytest.raises(setup.SlugTaken):
        setup.create(asked) if step == "create" else setup.edit(draft, asked)
    assert sorted(Campaign.objects.values_list("name", flat=True))[-1] == "Other"
