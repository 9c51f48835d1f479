"""Campaigns of pairs: what is laid out, who gets what in which order, what is published."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotations.campaigns.actions import opening, quality
from annotations.campaigns.actions.forms import FormDoesNotFit, remove_form, write_form
from annotations.campaigns.actions.opening import NotReady, open_campaign
from annotations.campaigns.actions.publishing import CannotPublish, publish, unpublish
from annotations.campaigns.actions.setup import WrongState
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, give_back, rate
from annotations.campaigns.models import Assignment, Campaign, Item, Participation, RatingRevision
from annotations.campaigns.plan.draw import interleave
from annotations.campaigns.plan.pairs import count_pairs
from annotations.campaigns.queries.planning import first_item, planned_items, question_of
from annotations.campaigns.queries.question_agreement import question_agreement
from annotations.campaigns.queries.ratings import publication_of, rated_systems
from annotations.campaigns.queries.work_queue import assignment_views, item_view
from annotations.corpora.actions import CorpusHasResults, delete_corpus
from annotations.models import CorpusVersion, Preference, Response, System
from annotations.questions import templates
from leaderboard.queries.preferences import preference_questions
from tests.campaigns.forms import comparing, made_form
from tests.campaigns.sets import made_campaign, made_raters, made_version

pytestmark = pytest.mark.django_db

THREE = ("ash", "birch", "cedar")


def compare(rater: Participation, choose: Any, key: str = "preference") -> None:
    """All that the rater is given: ``choose`` names the answer, of the systems as shown."""
    while held := fill_queue(rater).assignments:
        one = held[0]
        item = Item.objects.select_related("system", "system_b").get(pk=one.item_id)
        shown = [item.system.name, item.system_b.name]
        answers = {key: choose(*(shown[::-1] if one.is_swapped else shown))}
        rate(
            rater,
            item.public_id,
            Judgement(f"key-{one.pk}", None, form=rater.campaign.form, answers=answers),
        )


def first_name(one: str, other: str) -> str:
    """Prefers the system whose name comes first in the alphabet, wherever it is shown."""
    return "a" if one < other else "b"


def closed(campaign: Campaign) -> Campaign:
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    return Campaign.objects.select_related("form", "version__corpus").get(pk=campaign.pk)


# --- what is laid out -----------------------------------------------------------------------------


def test_every_two_responses_at_a_turn_are_an_item() -> None:
    campaign = comparing(systems=THREE, dialogues=3, turns=2)
    items = list(campaign.items.select_related("response", "response_b"))
    assert len(items) == 3 * 2 * count_pairs(3) == planned_items(question_of(campaign)).items
    assert all(
        one.response.turn_id == one.response_b.turn_id == one.turn_id
        and (one.response.system_id, one.response_b.system_id) == (one.system_id, one.system_b_id)
        for one in items
    )


def test_every_two_systems_in_a_dialogue_are_an_item() -> None:
    campaign = comparing("acute-eval", "dialogue_pair", systems=THREE, dialogues=4)
    assert (
        campaign.items.count() == 4 * count_pairs(3) == planned_items(question_of(campaign)).items
    )
    assert not campaign.items.exclude(turn=None).exists()


def test_a_missing_response_makes_no_pair_and_is_counted() -> None:
    version = made_version(THREE, dialogues=2, turns=2)
    Response.objects.filter(system__name="ash", turn__number=1).delete()
    campaign = comparing(version=version)
    planned = planned_items(question_of(campaign))
    # two turns of three pairs, two of one
    assert (campaign.items.count(), planned.items, planned.left_out) == (8, 8, 4)
    whole = comparing("acute-eval", "dialogue_pair", version=made_version(THREE, dialogues=2))
    assert planned_items(question_of(whole)).left_out == 0


def test_a_draw_connects_the_systems_and_is_made_again_from_its_seed() -> None:
    version = made_version([f"s{number}" for number in range(6)], dialogues=4)
    drawn = [comparing(version=version, pairs=5, seed=seed) for seed in (3, 3, 4)]
    pairs = [list(one.items.values_list("response", "response_b")) for one in drawn]
    assert [len(one) for one in pairs] == [5, 5, 5]
    assert pairs[0] == pairs[1] != pairs[2]
    assert rated_systems(drawn[0]) == [f"s{number}" for number in range(6)]


def test_the_orders_are_balanced_for_every_two_systems() -> None:
    campaign = comparing(systems=THREE, dialogues=3, turns=2, k=3)
    orders = Counter(campaign.slots.values_list("item__system", "item__system_b", "is_swapped"))
    assert set(orders.values()) == {9}  # 6 turns × 3 places, half of them each way
    by_item = Counter(campaign.slots.values_list("item", "is_swapped"))
    assert set(by_item.values()) == {1, 2}


def test_other_campaigns_have_no_order() -> None:
    campaign = made_campaign(opened=False)
    open_campaign(campaign)
    assert set(campaign.slots.values_list("is_swapped", flat=True)) == {None}


# --- what is refused ------------------------------------------------------------------------------


def refusal(campaign: Campaign) -> str:
    with pytest.raises(NotReady) as refused:
        open_campaign(campaign)
    assert not campaign.items.exists()
    assert Campaign.objects.get(pk=campaign.pk).state == "draft"
    return str(refused.value)


def draft(kind: str = "pair", **fields: Any) -> Campaign:
    campaign = made_campaign(kind, opened=False, **fields)
    write_form(campaign, templates.load("pairwise" if kind == "pair" else "acute-eval"))
    return campaign


def test_one_system_makes_no_pair() -> None:
    assert "at least two systems" in refusal(draft(systems=["ash"]))


def test_pairs_without_questions_are_refused() -> None:
    assert "Choose a template" in refusal(made_campaign("pair", opened=False))


def test_fewer_pairs_than_connect_the_systems_are_refused() -> None:
    assert "at least 2 pairs" in refusal(draft(systems=THREE, pairs=1))


def test_systems_that_never_answered_together_are_named() -> None:
    version = made_version([*THREE, "dogwood"], dialogues=2, turns=1)
    Response.objects.filter(system__name__in=["ash", "birch"], turn__dialogue__position=1).delete()
    Response.objects.filter(
        system__name__in=["cedar", "dogwood"], turn__dialogue__position=0
    ).delete()
    for campaign in (draft(version=version), draft("dialogue_pair", version=version)):
        assert "ash, birch; cedar, dogwood" in refusal(campaign)
        assert first_item(question_of(campaign)) is None


def test_a_form_about_one_response_or_whole_dialogues_is_refused() -> None:
    campaign = made_campaign("pair", opened=False)
    for name in ("usr", "acute-eval"):
        with pytest.raises(FormDoesNotFit, match="two responses, side by side"):
            write_form(campaign, templates.load(name))
    with pytest.raises(FormDoesNotFit):
        write_form(made_campaign("turn", opened=False), templates.load("pairwise"))


def test_pairs_keep_their_form() -> None:
    with pytest.raises(WrongState, match="compare by a form"):
        remove_form(draft())


def test_a_corpus_is_not_deleted_under_a_campaign_that_is_being_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = draft(systems=THREE, dialogues=2, turns=1)

    def deleted_meanwhile(*given: Any) -> Any:
        with pytest.raises(CorpusHasResults, match="campaigns"):
            delete_corpus(campaign.version.corpus, force=True)
        return interleave(*given)

    monkeypatch.setattr(opening, "interleave", deleted_meanwhile)
    assert open_campaign(campaign).items == 2 * count_pairs(3)
    assert Response.objects.count() == 6  # 3 systems, 2 dialogues of one turn


@pytest.mark.parametrize("change", ["same system", "turned", "one response", "twice"])
def test_the_database_refuses_what_is_no_pair(change: str) -> None:
    item = comparing(dialogues=1, turns=1).items.get()
    item.pk, item.public_id = None, "another"
    match change:
        case "same system":
            item.system_b, item.response_b = item.system, item.response
        case "turned":
            item.system, item.system_b = item.system_b, item.system
            item.response, item.response_b = item.response_b, item.response
        case "one response":
            item.response_b = None
    with pytest.raises(IntegrityError), transaction.atomic():
        item.save(force_insert=True)


def test_the_database_wants_a_form_of_open_pairs_and_pairs_of_pairs_only() -> None:
    campaign = comparing()
    with pytest.raises(IntegrityError), transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(form=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Campaign.objects.filter(pk=made_campaign().pk).update(pairs=3)


# --- who gets what --------------------------------------------------------------------------------


def test_every_pair_gets_k_raters_and_both_orders() -> None:
    campaign = comparing(systems=THREE, dialogues=2, turns=2, k=2)
    for rater in made_raters(campaign, 3):
        compare(rater, first_name)
    done = Assignment.objects.filter(state="done", slot__isnull=False)
    assert set(Counter(done.values_list("item", flat=True)).values()) == {2}
    assert set(Counter(done.values_list("item", "is_swapped")).values()) == {1}


def test_the_page_shows_the_two_in_the_order_that_is_stored() -> None:
    campaign = comparing(dialogues=2, turns=1)
    (rater,) = made_raters(campaign, 1)
    held = fill_queue(rater).assignments
    for view, one in zip(assignment_views(held), held, strict=True):
        item = Item.objects.get(pk=one.item_id)
        texts = [item.response.text, item.response_b.text]
        (part,) = view.parts
        assert [line.text for line in part.pair] == (texts[::-1] if one.is_swapped else texts)
        assert [line.place for line in part.pair] == [1, 2]
        assert not any(line.judged for line in part.stacked)


def test_a_whole_dialogue_shows_the_history_once_and_one_system_on_each_side() -> None:
    campaign = comparing("acute-eval", "dialogue_pair", dialogues=1, turns=2)
    item = campaign.items.get()
    one = Assignment(item=item, is_swapped=True)
    for view, systems in (
        (item_view(item), [item.system, item.system_b]),
        (assignment_views([one])[0], [item.system_b, item.system]),
    ):
        for number, part in enumerate(view.parts):
            texts = [
                Response.objects.get(system=system, turn__number=number).text for system in systems
            ]
            assert [line.text for line in part.pair] == texts
            assert [line.place for line in part.pair] == [2 * number + 1, 2 * number + 2]
        assert view.judged == 2
        said = [line.text for part in view.parts for line in part.stacked]
        assert len(said) == len(set(said)) == 3  # A, then B's own answer and A again


def test_a_pair_that_comes_again_keeps_its_order() -> None:
    campaign = comparing(dialogues=1, turns=1, k=2)
    (rater,) = made_raters(campaign, 1)
    (first,) = fill_queue(rater).assignments
    give_back(rater)
    # The place with this order goes to somebody else
    (other,) = made_raters(campaign, 1, cursor=0)
    campaign.slots.filter(is_swapped=not first.is_swapped).update(ordinal=7)
    (its,) = fill_queue(other).assignments
    assert its.is_swapped == first.is_swapped
    (again,) = fill_queue(rater).assignments
    assert (again.pk, again.is_swapped) == (first.pk, first.is_swapped)
    assert again.slot.is_swapped != again.is_swapped


@pytest.mark.parametrize("name", THREE)
def test_who_has_a_stake_in_either_system_gets_no_pair_of_it(name: str) -> None:
    campaign = comparing(systems=THREE, dialogues=2, turns=1)
    (rater,) = made_raters(campaign, 1)
    compare(rater, first_name)
    assert rater.rated == 6  # 2 turns × 3 pairs
    system = campaign.version.systems.get(name=name)
    assert quality.declare_conflict(rater.user, system) == 4  # two of the three pairs, at both
    assert quality.withdraw_conflict(rater.user, system).counted == 4
    (other,) = made_raters(campaign, 1)
    quality.declare_conflict(other.user, system)
    compare(other, first_name)
    assert other.rated == 2
    given = Item.objects.filter(assignments__participation=other)
    assert not given.filter(system=system).exists()
    assert not given.filter(system_b=system).exists()


# --- what is published ----------------------------------------------------------------------------


def rated(form: Any = "pairwise", choose: Any = first_name, **fields: Any) -> Campaign:
    campaign = comparing(form, systems=THREE, dialogues=2, turns=1, k=2, **fields)
    for rater in made_raters(campaign, 2):
        compare(rater, choose)
    return closed(campaign)


def test_what_was_shown_first_is_arm_a_of_the_published_preference() -> None:
    campaign = rated()
    assert publish(campaign) == 12  # 2 turns × 3 pairs × 2 raters
    rows = Preference.objects.select_related("response_a__system", "response_b__system")
    assert rows.count() == 12
    for one in rows:
        names = one.response_a.system.name, one.response_b.system.name
        assert one.preferred == first_name(*names)
    assert Counter(rows.values_list("preferred", flat=True)) == {"a": 6, "b": 6}
    (question,) = preference_questions(campaign.version)
    assert (question.aspect, question.level, question.votes) == ("Preference", "turn", 12)


def test_a_published_campaign_changes_no_scores_and_is_undone() -> None:
    campaign = rated()
    before = CorpusVersion.objects.values("aspects", "scales", "main_aspect").get()
    publish(campaign, "better")
    campaign = closed(campaign)
    assert CorpusVersion.objects.values("aspects", "scales", "main_aspect").get() == before
    found = publication_of(campaign)
    assert (found.aspect, found.published, found.changed_since) == ("better", 12, False)
    assert publish(campaign, "best") == 12  # in the place of the former ones
    assert set(Preference.objects.values_list("aspect", flat=True)) == {"best"}
    assert unpublish(closed(campaign)) == 12
    assert not Preference.objects.exists()
    assert not campaign.version.raters.exists()


def test_whole_dialogues_become_preferences_of_systems_for_each_question() -> None:
    campaign = comparing("acute-eval", "dialogue_pair", systems=THREE, dialogues=2, k=1)
    (rater,) = made_raters(campaign, 1)
    compare(rater, first_name, key="engaging")
    assert publish(closed(campaign), "engaging") == 6
    one = Preference.objects.select_related("system_a", "system_b").first()
    assert one.preferred == first_name(one.system_a.name, one.system_b.name)
    assert one.response_a is None
    assert [two.level for two in preference_questions(campaign.version)] == ["dialogue"]


def test_graded_answers_are_published_with_their_degree() -> None:
    graded = made_form(
        {"key": "preference", "type": "preference", "text": "?", "points": 7, "both_bad": True},
        level="pair",
    )
    campaign = rated(graded, lambda one, other: "a3" if one < other else "both_bad")
    publish(campaign)
    kinds = Counter((one.preferred, one.metadata["answer"]) for one in Preference.objects.all())
    assert kinds == {("a", "a3"): 6, ("both_bad", "both_bad"): 6}


def test_who_could_not_judge_gave_no_preference() -> None:
    unsure = made_form(
        {"key": "preference", "type": "preference", "text": "?", "cannot_judge": True}, level="pair"
    )
    campaign = rated(unsure, lambda one, other: "cannot_judge" if "ash" in (one, other) else "tie")
    assert publish(campaign) == 4  # of six, the pair without ash, twice
    assert set(Preference.objects.values_list("preferred", flat=True)) == {"tie"}


def test_a_name_that_other_preferences_have_is_refused_and_one_of_scores_is_not() -> None:
    campaign = rated()
    publish(campaign, "overall")  # the aspect of scores
    other = rated(version=campaign.version)
    for name in ("overall", "Overall"):
        with pytest.raises(CannotPublish, match="has preferences named"):
            publish(other, name)
    assert publish(other) == 12


def test_preferences_of_a_withheld_system_are_on_no_board() -> None:
    campaign = rated()
    System.objects.filter(name="ash").update(withheld=True)
    assert publish(campaign) == 12
    (question,) = preference_questions(campaign.version)
    assert question.votes == 4  # birch and cedar, at two turns, by two raters


def test_a_form_of_pairs_without_a_preference_cannot_be_published() -> None:
    why = made_form({"key": "why", "type": "text", "text": "What differs?"}, level="pair")
    campaign = rated(why, lambda one, other: "Tone.")
    with pytest.raises(CannotPublish, match="no question of the form has a preference"):
        publish(campaign)


def test_agreement_compares_what_was_chosen_not_where_it_stood() -> None:
    ranks = {"birch": 0, "ash": 1, "cedar": 2}
    campaign = rated(choose=lambda one, other: "a" if ranks[one] < ranks[other] else "b")
    (preference,) = question_agreement(campaign)
    alpha = next(one for one in preference.coefficients if one.name == "alpha_nominal")
    assert alpha.estimate.value == 1.0  # both prefer the same system, in opposite orders
    assert set(RatingRevision.objects.values_list("answers__preference", flat=True)) == {"a", "b"}


def test_agreement_of_chosen_systems_reads_the_pairs_among_them() -> None:
    campaign = rated()
    for systems, items in ((["ash", "birch"], 2), (["ash"], 4), (list(THREE), 6)):
        (preference,) = question_agreement(campaign, systems)
        assert preference.items == items
