"""Campaigns of lists: all systems' responses to one point, ranked, or the best and the worst."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from annotations.campaigns.actions import quality
from annotations.campaigns.actions.forms import FormDoesNotFit, write_form
from annotations.campaigns.actions.importing import import_ratings
from annotations.campaigns.actions.opening import NotReady, open_campaign
from annotations.campaigns.actions.publishing import publish, unpublish
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, give_back, rate
from annotations.campaigns.models import Assignment, Campaign, Item, Participation, RatingRevision
from annotations.campaigns.plan.lists import shown_order
from annotations.campaigns.queries.planning import planned_items, question_of
from annotations.campaigns.queries.question_agreement import question_agreement
from annotations.campaigns.queries.rating_stream import ratings_to_export
from annotations.campaigns.queries.ratings import rated_systems
from annotations.campaigns.queries.work_queue import assignment_views
from annotations.formats.importers.base import ImportFailed
from annotations.models import Preference, Response
from annotations.questions import templates
from annotations.questions.answers import preferences_in, with_names
from common.roles import ORGANISER
from tests.campaigns.forms import comparing
from tests.campaigns.rating_browser import JSON, a_rater, address, browser_of, in_hand
from tests.campaigns.sets import made_campaign, made_raters, made_user, made_version

THREE = ("ash", "birch", "cedar")


def listing(form: str = "ranking", **fields: Any) -> Campaign:
    return comparing(form, "systems", **{"systems": THREE, "dialogues": 2, "turns": 1, **fields})


def named(one: Assignment) -> list[str]:
    """The systems, as this rater sees them."""
    names = Response.objects.in_bulk(one.shown)
    return [names[key].system.name for key in one.shown]


def judge(rater: Participation, order: str, best_worst: bool = False) -> None:
    """All that the rater is given: ``order`` has the systems' first letters, best first; those in
    brackets are tied."""
    while held := fill_queue(rater).assignments:
        one = held[0]
        places = {name[0]: str(place) for place, name in enumerate(named(one), start=1)}
        if best_worst:
            answer: Any = {"best": places[order[0]], "worst": places[order[-1]]}
        else:
            answer = {places[letter]: 1 + order.index(letter) for letter in order}
        key = rater.campaign.form.schema["questions"][0]["key"]
        judgement = Judgement(
            f"key-{one.pk}", None, form=rater.campaign.form, answers={key: answer}
        )
        rate(rater, Item.objects.get(pk=one.item_id).public_id, judgement)


def closed(campaign: Campaign) -> Campaign:
    Campaign.objects.filter(pk=campaign.pk).update(state="closed")
    return Campaign.objects.select_related("form", "version__corpus").get(pk=campaign.pk)


# --- pure -----------------------------------------------------------------------------------------


def test_as_many_raters_as_responses_see_each_at_every_place() -> None:
    orders = [shown_order([5, 3, 9], 1, place, 7) for place in (1, 2, 3)]
    assert [sorted(column) for column in zip(*orders, strict=True)] == [[3, 5, 9]] * 3
    assert shown_order([9, 5, 3], 1, 4, 7) == orders[0]
    assert len({tuple(shown_order([5, 3, 9], item, 1, 7)) for item in range(20)}) > 1


def test_a_ranking_is_all_preferences_between_two() -> None:
    ranks = {"1": 2, "2": 1, "3": 2}
    assert preferences_in(ranks, ["1", "2", "3"]) == [
        ("1", "2", "b"),
        ("1", "3", "tie"),
        ("2", "3", "a"),
    ]


def test_best_and_worst_of_four_are_five_preferences() -> None:
    """2 n − 3: the best with three others, the worst with the two left; nothing of the middle."""
    found = preferences_in({"best": "3", "worst": "1"}, ["1", "2", "3", "4"])
    assert found == [
        ("1", "2", "b"),
        ("1", "3", "b"),
        ("1", "4", "b"),
        ("2", "3", "b"),
        ("3", "4", "a"),
    ]


def test_answers_are_named_anew() -> None:
    names = {"1": "x", "2": "y", "3": "z"}
    ranked = with_names(templates.load("ranking"), {"rank": {"1": 2, "2": 1, "3": 3}}, names)
    assert ranked == {"rank": {"x": 2, "y": 1, "z": 3}}
    ends = {"choice": {"best": "3", "worst": "1"}}
    assert with_names(templates.load("best-worst"), ends, names) == {
        "choice": {"best": "z", "worst": "x"}
    }


# --- what is laid out and handed out --------------------------------------------------------------


@pytest.mark.django_db
def test_every_turn_that_all_systems_answered_is_an_item() -> None:
    version = made_version(THREE, dialogues=2, turns=2)
    Response.objects.filter(system__name="ash", turn__number=1, turn__dialogue__position=0).delete()
    campaign = listing(version=version)
    planned = planned_items(question_of(campaign))
    assert (campaign.items.count(), planned.items, planned.left_out) == (3, 3, 1)
    assert campaign.slots.count() == 6
    assert rated_systems(campaign) == list(THREE)


@pytest.mark.django_db
def test_k_raters_a_list_each_once_in_another_order_that_is_stored_and_shown() -> None:
    campaign = listing(k=3)
    for rater in made_raters(campaign, 4):
        held = fill_queue(rater).assignments
        for view, one in zip(assignment_views(held), held, strict=True):
            texts = Response.objects.in_bulk(one.shown)
            assert [line.text for line in view.parts[0].pair] == [texts[k].text for k in one.shown]
            assert [line.place for line in view.parts[0].pair] == [1, 2, 3]
            assert not any(line.judged for line in view.parts[0].stacked)
        judge(rater, "abc")
    done = Assignment.objects.filter(state="done", slot__isnull=False)
    assert set(Counter(done.values_list("item", flat=True)).values()) == {3}
    firsts = Counter((one.item_id, one.shown[0]) for one in done)
    assert set(firsts.values()) == {1}


@pytest.mark.django_db
def test_a_list_that_comes_again_keeps_its_order() -> None:
    (rater,) = made_raters(listing(dialogues=1), 1)
    (first,) = fill_queue(rater).assignments
    give_back(rater)
    rater.campaign.slots.filter(place=1).update(ordinal=7)
    (again,) = fill_queue(rater).assignments
    assert (again.pk, again.shown) == (first.pk, first.shown)


@pytest.mark.django_db
def test_who_has_a_stake_in_a_system_gets_no_list_with_it() -> None:
    campaign = listing()
    (rater,) = made_raters(campaign, 1)
    judge(rater, "abc")
    birch = campaign.version.systems.get(name="birch")
    assert quality.declare_conflict(rater.user, birch) == 2
    (other,) = made_raters(campaign, 1)
    quality.declare_conflict(other.user, birch)
    assert not fill_queue(other).assignments
    assert quality.withdraw_conflict(rater.user, birch).counted == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("systems", "fault"),
    [(("ash",), "at least two"), ([f"s{number}" for number in range(11)], "at most 10 systems")],
)
def test_so_many_systems_are_refused(systems: Any, fault: str) -> None:
    campaign = made_campaign("systems", opened=False, systems=systems)
    write_form(campaign, templates.load("ranking"))
    with pytest.raises(NotReady, match=fault):
        open_campaign(campaign)


@pytest.mark.django_db
def test_lists_need_a_form_about_them() -> None:
    campaign = made_campaign("systems", opened=False, systems=THREE)
    with pytest.raises(NotReady, match="compare by a form"):
        open_campaign(campaign)
    with pytest.raises(FormDoesNotFit):
        write_form(campaign, templates.load("pairwise"))
    with pytest.raises(FormDoesNotFit):
        write_form(made_campaign("turn", opened=False), templates.load("ranking"))


@pytest.mark.django_db
def test_the_database_takes_one_list_a_turn() -> None:
    item = listing(dialogues=1).items.get()
    item.pk, item.public_id = None, "another"
    with pytest.raises(IntegrityError), transaction.atomic():
        item.save(force_insert=True)


# --- results --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_agreement_of_rankings_whatever_order_each_rater_saw() -> None:
    """W of abc, abc, cba: rank sums 5, 6, 7, Σ (R − 6)² = 2, 12 · 2 / (9 · 24) = 1/9. Mean τ of
    1, −1 and −1: −1/3."""
    campaign = listing(k=3)
    for rater, order in zip(made_raters(campaign, 3), ("abc", "abc", "cba"), strict=True):
        judge(rater, order)
    (found,) = question_agreement(campaign)
    values = {one.name: one.estimate.value for one in found.coefficients}
    assert values["kendall_w"] == pytest.approx(1 / 9)
    assert values["mean_tau"] == pytest.approx(-1 / 3)
    (of_two,) = question_agreement(campaign, ["ash", "birch"])
    tau = next(one for one in of_two.coefficients if one.name == "mean_tau")
    assert tau.estimate.value == pytest.approx(-1 / 3)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("ranking", {("ash", "birch"): 4, ("ash", "cedar"): 4, ("birch", "cedar"): 4}),
        ("best-worst", {("ash", "birch"): 4, ("ash", "cedar"): 4, ("birch", "cedar"): 4}),
    ],
)
def test_answers_are_published_as_preferences_and_taken_back(form: str, expected: Any) -> None:
    campaign = listing(form)
    for rater in made_raters(campaign, 2):
        judge(rater, "abc", best_worst=form == "best-worst")
    campaign = closed(campaign)
    publish(campaign)
    won: Counter[tuple[str, str]] = Counter()
    for one in Preference.objects.select_related("response_a__system", "response_b__system"):
        pair = (one.response_a.system.name, one.response_b.system.name)
        won[pair if one.preferred == "a" else pair[::-1]] += 1
        assert one.response_a.turn_id == one.response_b.turn_id
    assert won == expected
    unpublish(campaign)
    assert not Preference.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["ranking", "best-worst"])
def test_what_is_left_of_a_list_is_published_where_a_system_is_gone(form: str) -> None:
    """Of 2 lists of ash, birch and cedar each: cedar is gone, ash is better than birch."""
    campaign = listing(form, k=1)
    (rater,) = made_raters(campaign, 1)
    judge(rater, "abc", best_worst=form == "best-worst")
    campaign = closed(campaign)
    campaign.version.systems.get(name="cedar").delete()
    assert publish(campaign) == 2
    for one in Preference.objects.all():
        names = (one.response_a.system.name, one.response_b.system.name)
        assert names[one.preferred == "b"] == "ash"


@pytest.mark.django_db
def test_files_name_the_systems_in_the_order_shown(tmp_path: Any) -> None:
    campaign = listing(dialogues=1, k=1)
    (rater,) = made_raters(campaign, 1)
    judge(rater, "cab")
    shown = named(Assignment.objects.get())
    (one,) = ratings_to_export(campaign)
    assert (one.system, one.systems) == (None, tuple(shown))
    call_command("export_ratings", campaign.slug, "--to", str(tmp_path / "j"), "--format", "jsonl")
    line = json.loads((tmp_path / "j" / "ratings.jsonl").read_text().splitlines()[0])
    assert line["systems"] == shown
    ranks = {name: line["answers"]["rank"][str(n)] for n, name in enumerate(shown, start=1)}
    assert ranks == {"cedar": 1, "ash": 2, "birch": 3}
    call_command("export_ratings", campaign.slug, "--to", str(tmp_path / "c"), "--format", "csv")
    assert json.dumps(shown).replace('"', '""') in (tmp_path / "c" / "ratings.csv").read_text()


# --- pages ----------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("form", "given", "wrong"),
    [
        (
            "ranking",
            {"q.rank.1": "2", "q.rank.2": "1", "q.rank.3": "3"},
            [{"q.rank.1": "1"}, {"q.rank.1": "1", "q.rank.2": "2", "q.rank.9": "3"}],
        ),
        (
            "best-worst",
            {"q.choice.best": "2", "q.choice.worst": "3"},
            [{"q.choice.best": "2", "q.choice.worst": "2"}, {"q.choice.best": "4"}],
        ),
    ],
)
def test_a_rater_answers_on_the_page_and_learns_nothing_of_the_systems(
    form: str, given: dict[str, str], wrong: list[dict[str, str]]
) -> None:
    campaign = listing(form)
    rater, browser = a_rater(campaign)
    page = browser.get(address("rating-work", campaign)).content.decode()
    assert not [name for name in THREE if name in page.lower()]
    assert page.count('class="arm"') >= 3
    for name in given:
        assert f'name="{name}"' in page
    item = in_hand(rater)[0]
    sent = {"item": item, "key": "k", "form": "1", "guidelines": "1"}
    submit = address("rating-submit", campaign)
    for one in wrong:
        assert browser.post(submit, sent | one, **JSON).status_code == 422
    assert not RatingRevision.objects.exists()
    assert browser.post(submit, sent | given, **JSON).status_code == 200
    assert RatingRevision.objects.count() == 1
    own = browser.get(address("own-ratings", campaign)).content.decode()
    assert not [name for name in THREE if name in own.lower()]


@pytest.mark.django_db
def test_organisers_pages_of_a_list() -> None:
    campaign = listing()
    (rater,) = made_raters(campaign, 1)
    judge(rater, "abc")
    browser = browser_of(made_user("", ORGANISER))
    for name in (
        "campaign",
        "campaign-settings",
        "campaign-plan",
        "campaign-form",
        "campaign-checks",
        "campaign-agreement",
    ):
        assert browser.get(address(name, campaign)).status_code == 200
    preview = browser.get(address("campaign-preview", campaign)).content.decode()
    assert preview.count('class="arm"') == 3
    table = browser.get(address("campaign-ratings", campaign)).content.decode()
    assert " | ".join(named(Assignment.objects.filter(state="done").first())) in table
    raters = browser.get(address("campaign-raters", campaign))
    assert raters.status_code == 200


@pytest.mark.django_db
def test_a_draft_of_lists_is_made_on_the_page() -> None:
    version = made_version(THREE)
    given = {
        "name": "Ranks",
        "kind": "systems",
        "version": version.pk,
        "systems": [system.pk for system in version.systems.all()],
        "template": "best-worst",
        "seed": "7",
        "raters_per_item": "2",
    }
    browser = browser_of(made_user("", ORGANISER))
    assert browser.post("/campaigns/new/", given).status_code == 302
    campaign = Campaign.objects.get()
    assert (campaign.kind, campaign.form.schema["name"]) == ("systems", "best-worst")
    assert open_campaign(campaign).items == 6


# --- read again -----------------------------------------------------------------------------------


def exported(folder: Path, form: str = "ranking") -> tuple[Campaign, list[dict[str, Any]]]:
    campaign = listing(form)
    for rater, order in zip(made_raters(campaign, 2), ("abc", "cba"), strict=True):
        judge(rater, order, best_worst=form == "best-worst")
    call_command("export_ratings", campaign.slug, "--to", str(folder), "--format", "jsonl")
    lines = (folder / "ratings.jsonl").read_text().splitlines()
    return campaign, [json.loads(line) for line in lines]


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["ranking", "best-worst"])
def test_exported_lists_are_read_again_with_orders_and_agreement(form: str, tmp_path: Path) -> None:
    campaign, _lines = exported(tmp_path, form)
    read, count = import_ratings(campaign.version, tmp_path, "again")
    assert count == 4
    kept = ("system", "systems", "answers", "rater", "position", "counts", "turn")
    call_command("export_ratings", "again", "--to", str(tmp_path / "b"), "--format", "jsonl")
    both = [
        [
            {name: json.loads(line)[name] for name in kept}
            for line in (folder / "ratings.jsonl").read_text().splitlines()
        ]
        for folder in (tmp_path, tmp_path / "b")
    ]
    assert both[0] == both[1]
    (one,), (other,) = question_agreement(campaign), question_agreement(read)
    assert [c.estimate.value for c in one.coefficients] == [
        c.estimate.value for c in other.coefficients
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("systems", "fault"),
    [
        (["ash"], "must be 2 to 10 names, each once"),
        (["ash", "ash", "birch"], "must be 2 to 10 names, each once"),
        (["ash", "birch"], "must be those of the first line"),
        (["ash", "birch", "oak"], "must be those of the first line"),
        (None, "systems"),
        ("ash", "systems"),
    ],
)
def test_a_line_with_other_systems_is_refused(systems: Any, fault: str, tmp_path: Path) -> None:
    campaign, lines = exported(tmp_path)
    lines[-1]["systems"] = systems
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "ratings.jsonl").write_text(text)
    with pytest.raises(ImportFailed, match=fault):
        import_ratings(campaign.version, tmp_path, "again")
    assert Campaign.objects.count() == 1
