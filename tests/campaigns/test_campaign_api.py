"""Campaigns through the API: what is asked and answered, and setting one up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotations.campaigns.actions import quality
from annotations.campaigns.actions.adjudication import adjudicate, set_rule
from annotations.campaigns.actions.forms import write_form
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate
from annotations.campaigns.models import Campaign, Participation
from annotations.models import AuditEntry
from annotations.questions import templates
from annotations.questions.answers import Material, check
from annotations.questions.reading import form_of
from annotations.questions.schema import to_data
from common.roles import ORGANISER
from leaderboard.pages.raters.query import stored_agreement
from leaderboard.results.computing import answer_of
from tests.api_client import Program, all_items, program_of
from tests.campaigns.forms import KINDS, answers_to, asking, comparing, made_form
from tests.campaigns.judged import items_of, judge, judge_all
from tests.campaigns.sets import made_campaign, made_raters, made_user, made_version

pytestmark = pytest.mark.django_db

STARS = {"key": "stars", "type": "scale", "text": "How many?", "maximum": 3}


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


@pytest.fixture
def organiser() -> Program:
    return program_of(made_user("olga", ORGANISER), "organise")


def answered(rater: Participation, number: int = 0) -> None:
    """All that this rater gets, as the first or second of two."""
    campaign = rater.campaign
    form = campaign.form.parsed()
    answers = check(form, answers_to(form, number), Material({1: "Answer"}, ("1", "2", "3")))
    while held := fill_queue(rater).assignments:
        given = Judgement(f"{held[0].pk}", None, form=campaign.form, answers=answers)
        with transaction.atomic():
            rate(rater, held[0].item.public_id, given)


def exported(slug: str, folder: Path, **options: Any) -> list[dict[str, Any]]:
    call_command("export_ratings", slug, to=folder, format="jsonl", **options)
    return [json.loads(line) for line in (folder / "ratings.jsonl").read_text().splitlines()]


def by_work(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda one: (one["rater"], one["position"]))


# --- reading --------------------------------------------------------------------------------------


def test_campaigns_are_listed_with_their_progress(organiser: Program) -> None:
    made_campaign(slug="b", opened=False)
    campaign = made_campaign(slug="a", systems=["one"], dialogues=1, turns=2, k=2)
    judge(made_raters(campaign, 1)[0], items_of(campaign)[0], 4)
    made_campaign("collection", slug="c", dialogues_per_system=5)
    listed = all_items(organiser, "/campaigns", limit=1)
    names = ("slug", "kind", "state", "raters", "done", "wanted")
    assert [tuple(one[name] for name in names) for one in listed] == [
        ("a", "turn", "open", 1, 1, 4),  # 2 turns times 2 raters
        ("b", "turn", "draft", 0, 0, 0),
        ("c", "collection", "open", 0, 0, 5),
    ]
    assert (listed[0]["corpus"], listed[2]["corpus"]) == (campaign.version.corpus.slug, None)


def test_a_list_of_campaigns_takes_as_many_queries_as_a_list_of_one(
    organiser: Program, django_assert_num_queries: Any
) -> None:
    version = made_version()
    made_campaign(version=version)
    organiser.get("/campaigns")  # the first request of a process reads more
    with CaptureQueriesContext(connection) as one:
        organiser.get("/campaigns")
    for _ in range(5):
        made_campaign(version=version)
    with django_assert_num_queries(len(one)):
        organiser.get("/campaigns")


def test_a_campaign_has_every_version_of_its_form_with_measurement_levels(
    organiser: Program,
) -> None:
    campaign = asking("usr", slug="usr-study", systems=["one"], dialogues=1, turns=1)
    answered(made_raters(campaign, 1)[0])
    data = to_data(templates.load("usr"))
    second = {**data, "questions": [*data["questions"], {**STARS, "required": False}]}
    write_form(campaign, form_of(second))
    document = organiser.get("/campaigns/usr-study").json()
    assert [(one["version"], one["ratings"]) for one in document["forms"]] == [(2, 0), (1, 1)]
    assert (document["form"], document["scale"]) == (2, None)
    assert document["forms"][1]["form"] == data
    assert document["forms"][0]["form"]["questions"][-1]["key"] == "stars"
    levels = {one["key"]: one["measurement"] for one in document["forms"][1]["questions"]}
    assert levels == {
        "understandable": "nominal",
        "natural": "ordinal",
        "maintains_context": "ordinal",
        "engaging": "ordinal",
        "uses_knowledge": "nominal",
        "overall": "ordinal",
    }


def test_a_campaign_without_a_form_has_the_scale(organiser: Program) -> None:
    made_campaign(slug="pilot", axes_below=3)
    document = organiser.get("/campaigns/pilot").json()
    assert (document["form"], document["forms"], document["scale"]["axes_below"]) == (None, [], 3)
    assert len(document["scale"]["labels"]) == 5
    assert document["guidelines"] == [{"version": 1, "text": "Read the whole dialogue first."}]


def test_ratings_are_the_lines_of_the_export(organiser: Program, tmp_path: Path) -> None:
    campaign = made_campaign(slug="pilot", systems=["one"], dialogues=2, turns=2, axes_below=3)
    first, second = made_raters(campaign, 2)
    items = items_of(campaign)
    judge_all(first, items, [1, 2, 3, 4])
    judge_all(second, items, [2, 2, 3, 4])
    judge(first, items[1], 5, comment="After all", flagged=True)
    listed = all_items(organiser, "/campaigns/pilot/ratings", limit=3)
    assert by_work(listed) == exported("pilot", tmp_path / "one")
    assert (listed[-1]["rater"], listed[-1]["score"], len(listed[-1]["revisions"])) == (
        "rater 1",
        5,
        2,
    )


@pytest.mark.parametrize("name", ["usr", "pairwise", "acute-eval", "ranking"])
def test_answers_are_those_of_the_export(organiser: Program, tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    systems = ("ash", "birch", "cedar")[: 3 if kind == "systems" else 2]
    make = asking if kind in ("turn", "dialogue") else comparing
    campaign = make(name, kind, slug="study", systems=systems, dialogues=1, turns=1)
    for number, rater in enumerate(made_raters(campaign, 2)):
        answered(rater, number)
    listed = all_items(organiser, "/campaigns/study/ratings")
    assert len(listed) == (4 if kind in ("turn", "dialogue") else 2)  # items times raters
    assert by_work(listed) == exported("study", tmp_path / "one")
    assert all(one["form"] == 1 for one in listed)


def test_a_rating_that_comes_meanwhile_is_on_a_later_page(organiser: Program) -> None:
    campaign = made_campaign(slug="pilot", systems=["one"], dialogues=2, turns=2)
    (rater,) = made_raters(campaign, 1)
    items = items_of(campaign)
    judge_all(rater, items[:3], [1, 2, 3])
    page = organiser.get("/campaigns/pilot/ratings", limit=2).json()
    judge(rater, items[3], 4)
    judge(rater, items[0], 5)  # changed: it comes once more
    rest = organiser.get("/campaigns/pilot/ratings", cursor=page["next"]).json()
    assert [one["score"] for one in page["items"]] == [1, 2]
    assert [one["score"] for one in rest["items"]] == [3, 4, 5]
    assert rest["next"] is None


def test_ratings_that_do_not_count_come_when_asked_for(organiser: Program, tmp_path: Path) -> None:
    campaign = made_campaign(
        slug="pilot", systems=["one"], dialogues=1, turns=1, attention=[(5, 5)]
    )
    first, second = made_raters(campaign, 2)
    for rater in (first, second):
        judge(rater, items_of(campaign)[0], 3)
    judge(first, items_of(campaign, "attention")[0], 1)
    quality.exclude(second, "too fast")
    (counted,) = all_items(organiser, "/campaigns/pilot/ratings")
    assert (counted["rater"], counted["counts"]) == ("rater 1", True)
    everything = all_items(organiser, "/campaigns/pilot/ratings", all="true")
    assert by_work(everything) == exported("pilot", tmp_path / "one", include_excluded=True)
    assert [(one["role"], one["rater_state"]) for one in by_work(everything)] == [
        ("regular", "active"),
        ("attention", "active"),
        ("regular", "excluded"),
    ]


def test_a_page_of_ratings_takes_as_many_queries_as_a_page_of_one(
    organiser: Program, django_assert_num_queries: Any
) -> None:
    campaign = made_campaign(slug="pilot", systems=["one"], dialogues=5, turns=4, k=1)
    (rater,) = made_raters(campaign, 1)
    judge_all(rater, items_of(campaign), [3] * 20)
    organiser.get("/campaigns/pilot/ratings", limit=1)
    with CaptureQueriesContext(connection) as one:
        organiser.get("/campaigns/pilot/ratings", limit=1)
    with django_assert_num_queries(len(one)):
        assert len(organiser.get("/campaigns/pilot/ratings").json()["items"]) == 20


def test_adjudicated_values_stand_apart(organiser: Program) -> None:
    campaign = asking(made_form(STARS), slug="pilot", systems=["one"], dialogues=1, turns=1)
    for number, rater in enumerate(made_raters(campaign, 2)):
        answered(rater, number)
    set_rule(campaign, 1)
    (item,) = items_of(campaign)
    adjudicate(campaign, item.public_id, form=campaign.form, answers={"stars": 1})
    (one,) = all_items(organiser, "/campaigns/pilot/adjudications")
    assert (one["item"], one["form"], one["answers"], one["decided_by"]) == (
        item.public_id,
        1,
        {"stars": 1},
        "organiser",
    )
    ratings = all_items(organiser, "/campaigns/pilot/ratings")
    assert [rating["answers"]["stars"] for rating in ratings] == [3, 2]
    assert organiser.get("/campaigns/pilot").json()["adjudicates_from"] == 1


def test_agreement_is_that_of_the_page(organiser: Program) -> None:
    campaign = asking("usr", slug="usr-study", systems=["one"], dialogues=4, turns=1)
    for number, rater in enumerate(made_raters(campaign, 2)):
        answered(rater, number)
    chosen = {"campaign": campaign.pk, "aspect": "overall", "system": "", "excluded": False}
    stored = answer_of(campaign.version, stored_agreement, **chosen)
    document = organiser.get("/campaigns/usr-study/agreement").json()
    assert (document["campaign"], document["aspect"], document["ratings"]) == (
        "usr-study",
        "overall",
        8,
    )
    assert [one["question"] for one in document["questions"]] == [
        one.question for one in stored.questions
    ]
    ordinal = stored.krippendorff_alpha["ordinal"]
    assert document["krippendorff_alpha"]["ordinal"]["value"] == ordinal.value


@pytest.mark.parametrize(
    ("query", "code"), [({"aspect": "charm"}, "aspect"), ({"system": "nobody"}, "systems")]
)
def test_agreement_on_what_is_not_there_is_refused(
    organiser: Program, query: dict[str, str], code: str
) -> None:
    made_campaign(slug="pilot")
    refused = organiser.get("/campaigns/pilot/agreement", **query)
    assert (refused.status_code, refused.json()["code"]) == (422, code)


@pytest.mark.parametrize("part", ["", "/ratings", "/adjudications", "/agreement"])
def test_there_is_no_such_campaign(organiser: Program, part: str) -> None:
    refused = organiser.get(f"/campaigns/nothing{part}")
    assert (refused.status_code, refused.json()["code"]) == (404, "campaign")


@pytest.mark.parametrize("part", ["/ratings", "/adjudications", "/agreement"])
def test_nothing_is_rated_in_a_collection(organiser: Program, part: str) -> None:
    made_campaign("collection", slug="talks", dialogues_per_system=5)
    assert organiser.get("/campaigns/talks").json()["items"] == 0
    refused = organiser.get(f"/campaigns/talks{part}")
    assert (refused.status_code, refused.json()["code"]) == (404, "campaign")


def test_a_cursor_of_another_campaign_s_ratings_is_no_way_in(organiser: Program) -> None:
    for slug in ("one", "other"):
        campaign = made_campaign(slug=slug, systems=["one"], dialogues=1, turns=2)
        judge_all(made_raters(campaign, 1)[0], items_of(campaign), [3, 3])
    page = organiser.get("/campaigns/other/ratings", limit=1).json()
    found = organiser.get("/campaigns/one/ratings", cursor=page["next"]).json()["items"]
    assert {one["campaign"] for one in found} <= {"one"}


# --- setting up -----------------------------------------------------------------------------------


def test_a_campaign_is_made_of_a_template_and_opened(organiser: Program) -> None:
    made_version(("one", "two"), dialogues=2, turns=2, slug="talks")
    body = {"name": " A study ", "corpus": "talks", "template": "usr", "systems": ["two"]}
    made = organiser.post("/campaigns", {**body, "raters_per_item": 3, "seed": 5})
    document = made.json()
    assert made.status_code == 201
    assert (document["slug"], document["name"], document["state"], document["kind"]) == (
        "a-study",
        "A study",
        "draft",
        "turn",
    )
    opened = organiser.post("/campaigns/a-study/state", {"to": "open"}).json()
    # 1 system, 2 dialogues of 2 turns; 3 raters each
    assert (opened["state"], opened["items"], opened["wanted"]) == ("open", 4, 12)
    entries = AuditEntry.objects.filter(campaign="a-study").order_by("pk")
    assert [(one.actor, one.action) for one in entries] == [
        ("olga", "campaign.created"),
        ("olga", "form.written"),
        ("olga", "guidelines.written"),
        ("olga", "campaign.opened"),
    ]


@pytest.mark.parametrize("name", KINDS)
def test_every_template_makes_a_campaign_that_opens(organiser: Program, name: str) -> None:
    made_version(("ash", "birch", "cedar"), dialogues=1, turns=1, slug="talks")
    organiser.post("/campaigns", {"name": "Study", "corpus": "talks", "template": name})
    opened = organiser.post("/campaigns/study/state", {"to": "open"}).json()
    assert (opened["state"], opened["kind"]) == ("open", KINDS[name])
    assert opened["forms"][0]["form"] == to_data(templates.load(name))


FORM = {
    "name": "mine",
    "title": "Mine",
    "level": "response",
    "guidelines": "Read.",
    "questions": [STARS],
}


@pytest.mark.parametrize("form", [FORM, json.dumps(FORM), yaml.safe_dump(FORM)])
def test_a_form_is_an_object_or_the_text_of_its_file(organiser: Program, form: Any) -> None:
    made_version(slug="talks")
    body = {"name": "Mine", "corpus": "talks", "form": form, "slug": "own-form"}
    assert organiser.post("/campaigns", body).status_code == 201
    document = organiser.post("/campaigns/own-form/state", {"to": "open"}).json()
    assert (document["forms"][0]["form"]["questions"], document["state"]) == ([STARS], "open")
    assert document["guidelines"] == [{"version": 1, "text": "Read."}]


def asked(**fields: Any) -> dict[str, Any]:
    return {**FORM, **fields}


LOOP = [
    {**STARS, "when": {"question": "why", "is": True}},
    {"key": "why", "type": "yes_no", "text": "Why?", "when": {"question": "stars", "below": 2}},
]


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"name": "  "}, "body.name", "name"),
        ({"name": "x" * 201}, "body.name", None),
        ({"name": "a\0b"}, "body.name", None),
        ({"slug": "taken"}, "body.slug", "slug"),
        ({"slug": "new"}, "body.slug", "slug"),
        ({"slug": "../x"}, "body.slug", None),
        ({"template": "usr"}, "body.form", "form"),  # beside the form
        ({"form": None}, "body.form", "form"),
        ({"form": None, "template": "no-such"}, "body.template", "form"),
        ({"form": "{"}, "body.form", "form"),
        ({"form": "a: &b [*b]"}, "body.form", "form"),
        ({"form": {}}, "body.form.name", "form"),
        ({"form": asked(schema=2)}, "body.form.schema", "form"),
        ({"form": asked(level="utterances")}, "body.form.level", "form"),
        ({"form": asked(questions=[STARS, STARS])}, "body.form.questions[1].key", "form"),
        ({"form": asked(questions=LOOP)}, "body.form.questions[0].when", "form"),
        (
            {"form": asked(questions=[{**STARS, "maximum": 10**6}])},
            "body.form.questions[0].maximum",
            "form",
        ),
        ({"form": asked(level="systems", compares="conversation")}, "body.form", "form"),
        ({"systems": ["northwind", "nobody"]}, "body.systems", "systems"),
        ({"pairs": 3}, "body.pairs", "form"),
        ({"raters_per_item": 51}, "body.raters_per_item", None),
        ({"dialogues": 0}, "body.dialogues", None),
        ({"seed": 2**40}, "body.seed", None),
        ({"axes": []}, "body.axes", None),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    organiser: Program, changes: dict[str, Any], field: str, code: str | None
) -> None:
    version = made_version(slug="talks")
    made_campaign(slug="taken", version=version)
    body = {"name": "Mine", "corpus": "talks", "form": FORM, **changes}
    refused = organiser.post("/campaigns", body)
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (422, code)
    assert field in [one["field"].removesuffix(".str") for one in problem["errors"]]
    assert Campaign.objects.count() == 1
    assert not AuditEntry.objects.filter(campaign="mine").exists()


def test_a_campaign_on_no_corpus_is_refused(organiser: Program) -> None:
    body = {"name": "Mine", "corpus": "nothing", "template": "usr"}
    refused = organiser.post("/campaigns", body)
    assert (refused.status_code, refused.json()["code"]) == (404, "corpus")


def test_a_draft_that_lacks_something_is_not_opened(organiser: Program) -> None:
    made_version(("one",), slug="talks")
    organiser.post("/campaigns", {"name": "Duel", "corpus": "talks", "template": "pairwise"})
    refused = organiser.post("/campaigns/duel/state", {"to": "open"})
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (409, "state")
    assert "Choose at least two systems" in problem["detail"]
    assert organiser.get("/campaigns/duel").json()["state"] == "draft"


def test_a_campaign_is_paused_opened_again_and_closed(organiser: Program) -> None:
    made_campaign(slug="pilot")
    for to in ("paused", "open", "closed"):
        assert organiser.post("/campaigns/pilot/state", {"to": to}).json()["state"] == to
    refused = organiser.post("/campaigns/pilot/state", {"to": "paused"})
    assert (refused.status_code, refused.json()["code"]) == (409, "state")
