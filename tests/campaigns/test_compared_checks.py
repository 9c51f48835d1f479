"""Training and attention items where responses are compared: texts from the best to the worst."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotations.campaigns.actions.checks import add_checks
from annotations.campaigns.actions.opening import what_is_missing
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, give_back, rate
from annotations.campaigns.models import Assignment, Campaign, Item, Participation
from annotations.campaigns.plan.check_items import RIGHT, BadCheckFile, read_check_items
from annotations.campaigns.queries.planning import answers_in, is_of_turns, responses_of_check
from annotations.campaigns.queries.quality import raters_of
from annotations.campaigns.queries.work_queue import assignment_views
from annotations.questions import templates
from annotations.questions.answers import has_right_ends
from common.roles import ORGANISER
from tests.campaigns.forms import comparing
from tests.campaigns.rating_browser import JSON, a_rater, address, browser_of, in_hand
from tests.campaigns.sets import made_raters, made_user

THREE = ("ash", "birch", "cedar")


def file_of(campaign: Campaign, *records: dict[str, Any]) -> bytes:
    dialogue = campaign.version.dialogues.first().external_id
    turn = {"turn": 0} if is_of_turns(campaign) else {}
    lines = [{"role": "training", "dialogue": dialogue, **turn, **one} for one in records]
    return "\n".join(map(json.dumps, lines)).encode()


def added(campaign: Campaign, *records: dict[str, Any]) -> list[Item]:
    level = "turn" if is_of_turns(campaign) else "dialogue"
    data, compared = file_of(campaign, *records), responses_of_check(campaign)
    corpus = answers_in(campaign.version)
    return add_checks(campaign, read_check_items(data, level, corpus, (RIGHT, RIGHT), compared))


def texts_of(one: Assignment) -> list[str]:
    """What is compared, as this rater sees it."""
    (view,) = assignment_views([one])
    return [line.text for line in view.parts[0].pair]


def answer(rater: Participation, one: Assignment, value: Any) -> None:
    form = rater.campaign.form
    key = form.schema["questions"][0]["key"]
    rate(
        rater,
        one.item.public_id,
        Judgement(f"key-{one.pk}", None, form=form, answers={key: value}),
    )


# --- pure -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "value", "shown", "is_right"),
    [
        ("pairwise", "a", (0, 1), True),
        ("pairwise", "a", (1, 0), False),
        ("pairwise-graded-7", "b1", (1, 0), True),
        ("pairwise", "tie", (0, 1), False),
        ("ranking", {"1": 3, "2": 1, "3": 2}, (2, 0, 1), True),
        ("ranking", {"1": 2, "2": 1, "3": 3}, (2, 0, 1), False),
        ("ranking", {"1": 3, "2": 1, "3": 1}, (2, 0, 1), False),
        ("ranking", {"1": 2, "2": 1, "3": 2}, (2, 0, 1), False),
        ("best-worst", {"best": "2", "worst": "1"}, (2, 0, 1), True),
        ("best-worst", {"best": "2", "worst": "3"}, (2, 0, 1), False),
        ("pairwise", None, (0, 1), None),
        ("pairwise", "cannot_judge", (0, 1), None),
    ],
)
def test_right_is_the_first_text_first_and_the_last_last(
    template: str, value: Any, shown: tuple[int, ...], is_right: bool | None
) -> None:
    assert has_right_ends(templates.load(template).questions[0], value, shown) is is_right


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"texts": ["Good.", "Bad."], "lowest": 1}, "lowest: does not belong here"),
        ({"text": "Good."}, "text: does not belong here"),
        ({"system": "ash"}, "system: does not belong here"),
        ({}, "texts: must be a list of 2, from the best to the worst"),
        ({"texts": "Good."}, "texts: must be a list of 2"),
        ({"texts": ["Good.", "Fair.", "Bad."]}, "texts: must be a list of 2"),
        ({"texts": ["Good.", 1]}, "texts: must be text"),
        ({"texts": ["Good.", "Good."]}, "texts: the best and the worst must differ"),
        ({"texts": ["Good.", "a\x00b"]}, "texts: "),
    ],
)
@pytest.mark.django_db
def test_a_file_of_pairs_has_two_texts_and_nothing_else(more: Any, fault: str) -> None:
    campaign = comparing()
    with pytest.raises(BadCheckFile, match=f"line 1, {fault}"):
        added(campaign, more)
    assert not campaign.items.exclude(role="regular").exists()


# --- raters ---------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(("knows", "qualification"), [(True, "passed"), (False, "failed")])
def test_who_prefers_the_better_text_passes_in_whichever_order_it_stands(
    knows: bool, qualification: str
) -> None:
    campaign = comparing(pass_mark=1.0)
    added(campaign, *({"texts": [f"Good {n}.", f"Bad {n}."]} for n in range(6)))
    (rater,) = made_raters(campaign, 1)
    orders = set()
    while rater.qualification == "open" and (held := fill_queue(rater).assignments):
        first = texts_of(held[0])[0]
        orders.add(first[:3])
        answer(rater, held[0], "a" if first.startswith("Good") is knows else "b")
        rater.refresh_from_db()
    assert orders == {"Goo", "Bad"}  # 6 items: one order only by a chance of 2 / 2⁶
    assert rater.qualification == qualification


@pytest.mark.django_db
def test_the_feedback_says_what_was_right_as_the_rater_saw_it() -> None:
    campaign = comparing("ranking", "systems", systems=THREE, dialogues=1, turns=1)
    added(campaign, {"texts": ["Good.", "Fair.", "Bad."], "feedback": "Bad answers nothing."})
    rater, browser = a_rater(campaign)
    (item, *_) = in_hand(rater)
    seen = texts_of(rater.assignments.get(item__public_id=item))
    ranks = {f"q.rank.{seen.index(text) + 1}": rank for rank, text in enumerate(seen, start=1)}
    given = {"item": item, "key": "k", "guidelines": 1, "form": 1, **ranks}
    feedback = browser.post(address("rating-submit", campaign), given, **JSON).json()["feedback"]
    best, worst = seen.index("Good.") + 1, seen.index("Bad.") + 1
    assert f"response {best} best, response {worst} worst" in feedback
    assert ("Not as expected" in feedback) is (seen != ["Good.", "Fair.", "Bad."])
    assert "response 1 &gt; response 2 &gt; response 3" in feedback
    assert "Bad answers nothing." in feedback


@pytest.mark.django_db
def test_attention_items_of_lists_are_counted_and_are_in_no_statistic() -> None:
    campaign = comparing(
        "best-worst", "systems", systems=THREE, dialogues=6, turns=1, k=1, attention_every=2
    )
    added(campaign, *({"role": "attention", "texts": [f"G{n}", f"F{n}", f"B{n}"]} for n in (1, 2)))
    (rater,) = made_raters(campaign, 1)
    checks = 0
    while held := fill_queue(rater).assignments:
        seen = texts_of(held[0])
        assert len(seen) == 3
        if held[0].item.role == "attention":
            checks += 1
            ends = {text[0]: str(place) for place, text in enumerate(seen, start=1)}
            best, worst = ("G", "B") if checks == 1 else ("B", "G")
            answer(rater, held[0], {"best": ends[best], "worst": ends[worst]})
        else:
            answer(rater, held[0], {"best": "1", "worst": "2"})
    (quality,) = raters_of(campaign, intervals=False)
    assert (checks, quality.attention.passed, quality.attention.judged) == (2, 1, 2)
    assert quality.done == campaign.items.filter(role="regular").count() == 6


@pytest.mark.django_db
def test_an_item_that_comes_again_stands_in_the_same_order() -> None:
    campaign = comparing("ranking", "systems", systems=THREE, dialogues=1, turns=1)
    added(campaign, {"texts": ["Good.", "Fair.", "Bad."]})
    rater, other = made_raters(campaign, 2)
    seen = texts_of(fill_queue(rater).assignments[0])
    give_back(rater)
    assert texts_of(fill_queue(rater).assignments[0]) == seen
    # From rater to rater it turns by one place
    assert texts_of(fill_queue(other).assignments[0]) == [*seen[1:], seen[0]]


@pytest.mark.django_db
def test_of_whole_dialogues_each_arm_has_a_text_for_each_turn() -> None:
    campaign = comparing("acute-eval", "dialogue_pair", dialogues=1, turns=2)
    added(campaign, {"texts": [["Good 1.", "Good 2."], ["Bad 1.", "Bad 2."]]})
    (rater,) = made_raters(campaign, 1)
    (view,) = assignment_views(fill_queue(rater).assignments[:1])
    shown = [[line.text for line in part.pair] for part in view.parts]
    assert [sorted(texts) for texts in shown] == [["Bad 1.", "Good 1."], ["Bad 2.", "Good 2."]]
    assert shown[0][0][:3] == shown[1][0][:3]


# --- organisers -----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_file_is_taken_on_the_page_and_a_mistake_shown_there() -> None:
    campaign = comparing()
    browser = browser_of(made_user("olga", ORGANISER))
    for texts, status in ((["Good."], 422), (["Good.", "Bad."], 302)):
        upload = SimpleUploadedFile("checks.jsonl", file_of(campaign, {"texts": texts}))
        page = browser.post(address("campaign-checks", campaign), {"file": upload})
        assert page.status_code == status
        assert status == 302 or "must be a list of 2" in page.content.decode()
    page = browser.get(address("campaign-checks", campaign)).content.decode()
    assert "from best to worst" in page
    assert "Good." in page


@pytest.mark.django_db
def test_a_draft_whose_systems_changed_opens_without_items_of_another_number() -> None:
    campaign = comparing("ranking", "systems", systems=THREE, dialogues=2, turns=1)
    added(campaign, {"texts": ["Good.", "Fair.", "Bad."]})
    assert what_is_missing(campaign) == []
    campaign.systems.remove(campaign.systems.first())
    (missing,) = what_is_missing(campaign)
    assert "show something else" in missing
