"""Exported ratings read again: the same answers on another corpus, and faults with their line."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from annotations.campaigns.actions import importing, publishing
from annotations.campaigns.actions.quality import exclude
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate
from annotations.campaigns.models import (
    Campaign,
    FormVersion,
    Item,
    Participation,
    RatingRevision,
)
from annotations.campaigns.queries.question_agreement import question_agreement
from annotations.campaigns.queries.ratings import campaign_agreement
from annotations.models import AuditEntry
from annotations.questions import templates
from annotations.questions.answers import Material, check
from annotations.questions.reading import form_of
from common.roles import ORGANISER
from leaderboard.queries.preference_board import preference_leaderboard
from tests.campaigns.forms import KINDS, answers_to, asking, comparing, made_form
from tests.campaigns.rating_browser import address, browser_of, in_hand
from tests.campaigns.sets import made_campaign, made_raters, made_user, made_version

pytestmark = pytest.mark.django_db

STARS = {"key": "stars", "type": "scale", "text": "How many?", "maximum": 3}
SPAN = {"key": "errors", "type": "span", "text": "Where?", "options": [{"key": "fluency"}]}
WHY = {
    "key": "why",
    "type": "yes_no",
    "text": "Is it clear why?",
    "when": {"question": "stars", "below": 2},
    "if_hidden": False,
    "cannot_judge": True,
}
THREE = ("ash", "birch", "cedar")
SPANS = [{"utterance": 1, "start": 1, "end": 3, "label": "fluency"}]


def answered_by(rater: Participation, **raw: Any) -> None:
    item = in_hand(rater)[0]
    form = form_of(rater.campaign.form.schema)
    answers = check(form, raw, Material({1: "Answer"}))
    with transaction.atomic():
        judgement = Judgement(item[:20], None, form=rater.campaign.form, answers=answers)
        rate(rater, item, judgement)


@pytest.fixture
def asked() -> Campaign:
    """One system, one turn in each of two dialogues, two raters, one of whom is excluded later."""
    campaign = asking(
        made_form(STARS, SPAN, WHY), slug="pilot", systems=["one"], dialogues=2, turns=1
    )
    first, second = made_raters(campaign, 2)
    for stars in (1, 3):
        answered_by(first, stars=stars, errors=SPANS, why="cannot_judge")
        answered_by(second, stars=4 - stars, errors=[], why=True)
    exclude(second, "too fast")
    return campaign


def exported(slug: str, folder: Path) -> list[dict[str, Any]]:
    call_command("export_ratings", slug, to=folder, format="jsonl", include_excluded=True)
    return [json.loads(line) for line in (folder / "ratings.jsonl").read_text().splitlines()]


def read_again(folder: Path, slug: str = "again", systems: Sequence[str] = ("one",)) -> Campaign:
    made_version(systems, dialogues=2, turns=1, slug="elsewhere")
    call_command("import_ratings", folder, corpus="elsewhere", slug=slug, stdout=io.StringIO())
    return Campaign.objects.get(slug=slug)


@pytest.mark.usefixtures("asked")
def test_the_same_answers_times_and_raters_are_exported_again(tmp_path: Path) -> None:
    before = exported("pilot", tmp_path / "one")
    campaign = read_again(tmp_path / "one")
    after = exported("again", tmp_path / "two")
    elsewhere = ("campaign", "corpus", "item")
    assert len(before) == 4
    assert [{key: row[key] for key in row if key not in elsewhere} for row in after] == [
        {key: row[key] for key in row if key not in elsewhere} for row in before
    ]
    forms = [json.loads((tmp_path / one / "campaign.json").read_text()) for one in ("one", "two")]
    assert forms[0]["forms"] == forms[1]["forms"]
    assert (campaign.state, campaign.kind) == ("closed", "turn")


def test_agreement_is_the_same_and_the_ratings_can_be_published(
    asked: Campaign, tmp_path: Path
) -> None:
    exported("pilot", tmp_path / "one")
    campaign = read_again(tmp_path / "one")
    was, found = (campaign_agreement(one, excluded=True) for one in (asked, campaign))
    names = {"campaign": "again", "corpus": "elsewhere", "corpus_version": found["corpus_version"]}
    assert found == was | names
    assert question_agreement(campaign, excluded=True) == question_agreement(asked, excluded=True)
    assert publishing.publish(campaign) == 2  # of the rater who was not excluded


@pytest.mark.parametrize("name", KINDS)
def test_answers_to_every_template_come_back(tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    systems = THREE if kind == "systems" else THREE[:2]
    make = asking if kind in ("turn", "dialogue") else comparing
    campaign = make(name, kind, slug="pilot", systems=systems, dialogues=1, turns=1)
    form = templates.load(name)
    for number, rater in enumerate(made_raters(campaign, 2)):
        answers = check(form, answers_to(form, number), Material({1: "Answer"}, ("1", "2", "3")))
        while held := fill_queue(rater).assignments:
            judgement = Judgement(f"{held[0].pk}", None, form=campaign.form, answers=answers)
            rate(rater, held[0].item.public_id, judgement)
    before = exported("pilot", tmp_path / "one")
    made_version(systems, dialogues=1, turns=1, slug="elsewhere")
    call_command("import_ratings", tmp_path / "one", corpus="elsewhere", slug="again")
    after = exported("again", tmp_path / "two")
    assert [row["answers"] for row in after] == [row["answers"] for row in before]
    assert len(before) == (4 if kind in ("turn", "dialogue") else 2)  # items times raters


def test_scores_from_1_to_5_come_back_with_their_axes(tmp_path: Path) -> None:
    campaign = made_campaign(slug="pilot", systems=["one"], dialogues=2, turns=1, k=1, axes_below=3)
    (rater,) = made_raters(campaign, 1)
    for score, low in ((1, ("fluency",)), (4, None)):
        rate(rater, in_hand(rater)[0], Judgement("a-key", score, low, comment="Ünal"))
    exported("pilot", tmp_path / "one")
    read_again(tmp_path / "one")
    found = RatingRevision.objects.filter(assignment__item__campaign__slug="again")
    assert list(found.order_by("score").values_list("score", "low_axes", "comment")) == [
        (1, ["fluency"], "Ünal"),
        (4, None, "Ünal"),
    ]


def set_in(row: dict[str, Any], path: str, value: Any) -> None:
    *names, last = path.split(".")
    at: Any = row
    for name in names:
        at = at[int(name) if name.isdigit() else name]
    at[last] = value


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("dialogue", "nowhere", "ratings.jsonl:1: dialogue: the corpus has no 'nowhere'"),
        ("system", "two", "system: the corpus has no 'two'"),
        ("turn", 7, "turn: 'one' has no response there"),
        ("turn", None, "turn: must be a whole number"),
        ("rater", "Ann", "rater: must be a pseudonym"),
        ("counts", "yes", "counts: must be true or false"),
        ("propensity", 2, "propensity: must be above 0"),
        ("position", 1, "position: is that of line"),
        ("revisions", [], "revisions: is empty"),
        ("revisions.0.revision", 2, "revisions: must be numbered from 1"),
        ("revisions.0.form", 9, "form: the campaign has no version 9 of its form"),
        ("revisions.0.answers.stars", 4, "answers.stars: Choose a number from 1 to 3."),
        ("revisions.0.answers.unknown", 4, "The form has no question 'unknown'"),
        ("revisions.0.answers.stars", "1", "are not as the form's questions have them"),
        ("revisions.0.answers.errors", [{**SPANS[0], "end": 999}], "outside its text"),
        ("revisions.0.comment", "a\x00", "comment: "),
        ("revisions.0.created_at", "yesterday", "must be a moment in ISO 8601"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_a_fault_is_told_with_its_line_and_nothing_is_stored(
    tmp_path: Path, path: str, value: Any, says: str
) -> None:
    lines = exported("pilot", tmp_path / "one")
    set_in(lines[0], path, value)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "one" / "ratings.jsonl").write_text(text)
    with pytest.raises(CommandError) as refused:
        read_again(tmp_path / "one")
    assert says in str(refused.value)
    assert not Campaign.objects.filter(slug="again").exists()


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("kind", "interactive", "campaign.json: $.kind: must be one of turn, dialogue"),
        ("raters_per_item", 10**6, "must lie between 1 and 50"),
        ("forms.0.form.schema", 99, "forms[0].form.schema: the form is written in version 99"),
        ("forms.0.form.level", "conversation", "is not what raters of this kind see"),
        ("forms.0.form.questions", [STARS, STARS], "both have the key stars"),
        ("forms.0.form.questions.0.maximum", 10**6, "1,000,000 points"),
        (
            "forms.0.form.questions",
            [{**STARS, "when": {"question": "why", "is": True}}, {**WHY, "if_hidden": None}],
            "the conditions form a cycle: stars → why → stars",
        ),
        ("guidelines", "read", "guidelines: must be a list"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_a_fault_in_what_was_asked_is_told_with_its_path(
    tmp_path: Path, path: str, value: Any, says: str
) -> None:
    exported("pilot", tmp_path / "one")
    document = json.loads((tmp_path / "one" / "campaign.json").read_text())
    set_in(document, path, value)
    (tmp_path / "one" / "campaign.json").write_text(json.dumps(document))
    with pytest.raises(CommandError) as refused:
        read_again(tmp_path / "one")
    assert says in str(refused.value)


# --- pairs ----------------------------------------------------------------------------------------


def compared(kind: str, form: str) -> Campaign:
    """Three systems; the first rater prefers the first in the alphabet, the second the last."""
    campaign = comparing(form, kind, systems=THREE, dialogues=2, turns=1)
    for rater, wants_first in zip(made_raters(campaign, 2), (True, False), strict=True):
        while held := fill_queue(rater).assignments:
            one = held[0]
            which = "a" if one.is_swapped != wants_first else "b"
            answers = {question["key"]: which for question in campaign.form.schema["questions"]}
            judgement = Judgement(f"{one.pk}", None, form=campaign.form, answers=answers)
            rate(rater, one.item.public_id, judgement)
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=campaign.opened_at)
    return Campaign.objects.get(pk=campaign.pk)


@pytest.mark.parametrize(("kind", "form"), [("pair", "pairwise"), ("dialogue_pair", "acute-eval")])
def test_pairs_come_back_with_their_order_and_give_the_same_board(
    tmp_path: Path, kind: str, form: str
) -> None:
    campaign = compared(kind, form)
    before = exported(campaign.slug, tmp_path / "one")
    read_again(tmp_path / "one", systems=THREE[::-1])
    after = exported("again", tmp_path / "two")
    elsewhere = ("campaign", "corpus", "item")
    assert len(before) == 12  # 2 dialogues × 3 pairs × 2 raters
    assert [{key: row[key] for key in row if key not in elsewhere} for row in after] == [
        {key: row[key] for key in row if key not in elsewhere} for row in before
    ]
    boards = []
    for slug in (campaign.slug, "again"):
        one = Campaign.objects.get(slug=slug)
        publishing.publish(one, "better")
        found = preference_leaderboard(one.version)
        boards.append(
            sorted((row.system, row.strength.value, row.wins, row.battles) for row in found.systems)
        )
    assert boards[0] == boards[1]
    assert boards[0][0][2:] == (4, 8)  # of ash: one rater each way


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("system_b", "two", "system_b: the corpus has no 'two'"),
        ("system_b", None, "system_b"),
        ("revisions.0.answers.preference", "best", "answers.preference"),
    ],
)
def test_a_fault_in_a_pair_is_told_with_its_line(
    tmp_path: Path, path: str, value: Any, says: str
) -> None:
    campaign = compared("pair", "pairwise")
    lines = exported(campaign.slug, tmp_path / "one")
    set_in(lines[0], path, value)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "one" / "ratings.jsonl").write_text(text)
    with pytest.raises(CommandError) as refused:
        read_again(tmp_path / "one", systems=THREE)
    assert says in str(refused.value)
    assert not Campaign.objects.filter(slug="again").exists()


def test_a_system_does_not_meet_itself(tmp_path: Path) -> None:
    campaign = compared("pair", "pairwise")
    lines = exported(campaign.slug, tmp_path / "one")
    lines[0]["system_b"] = lines[0]["system"]
    (tmp_path / "one" / "ratings.jsonl").write_text(json.dumps(lines[0]))
    with pytest.raises(CommandError, match="system_b: is the system itself"):
        read_again(tmp_path / "one", systems=THREE)


# --- what is left of an import that fails ---------------------------------------------------------


@pytest.mark.usefixtures("asked")
def test_an_import_that_dies_at_its_last_rows_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported("pilot", tmp_path / "one")
    models = (Campaign, Item, Participation, RatingRevision, FormVersion, AuditEntry)
    before = [model.objects.count() for model in models]

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importing, "_store_slots", killed)
    with pytest.raises(KeyboardInterrupt):
        read_again(tmp_path / "one")
    assert [model.objects.count() for model in models] == before


@pytest.mark.usefixtures("asked")
def test_more_ratings_than_an_item_has_places_are_refused(tmp_path: Path) -> None:
    exported("pilot", tmp_path / "one")
    document = json.loads((tmp_path / "one" / "campaign.json").read_text())
    lines = [json.loads(one) for one in (tmp_path / "one" / "ratings.jsonl").open()]
    for line in lines:
        line["counts"] = True
    (tmp_path / "one" / "ratings.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "one" / "campaign.json").write_text(json.dumps({**document, "raters_per_item": 1}))
    with pytest.raises(CommandError, match="one more than the 1 ratings of an item"):
        read_again(tmp_path / "one")


@pytest.mark.parametrize("text", ["", "[1]", "\x00", "{", '{"kind": "turn"}', "\xff"])
@pytest.mark.usefixtures("asked")
def test_files_of_something_else_are_refused(tmp_path: Path, text: str) -> None:
    exported("pilot", tmp_path / "one")
    (tmp_path / "one" / "campaign.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(CommandError, match=r"campaign\.json"):
        read_again(tmp_path / "one")


@pytest.mark.usefixtures("asked")
def test_an_address_that_is_taken_is_refused(tmp_path: Path) -> None:
    exported("pilot", tmp_path / "one")
    with pytest.raises(CommandError, match="the address pilot is taken"):
        read_again(tmp_path / "one", "pilot")


def test_allocation_target_and_budget_come_back(tmp_path: Path) -> None:
    spread = {"allocation": "adaptive", "target": "width", "target_value": 150, "budget": 20}
    campaign = comparing("pairwise", systems=THREE, dialogues=2, turns=1, slug="pilot", **spread)
    (rater,) = made_raters(campaign, 1)
    item = in_hand(rater)[0]
    judgement = Judgement("k", None, form=campaign.form, answers={"preference": "a"})
    rate(rater, item, judgement)
    exported("pilot", tmp_path / "one")
    again = read_again(tmp_path / "one", systems=THREE)
    assert {key: getattr(again, key) for key in spread} == spread
    page = browser_of(made_user("", ORGANISER)).get(address("campaign", again)).content.decode()
    assert "Target: no interval wider than 150 points of the rating." in " ".join(page.split())


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"allocation": ["adaptive"]}, "$.allocation: must be one of uniform, adaptive"),
        ({"target": "soon"}, "$.target: must be one of none, pairs, width"),
        ({"target": "pairs"}, "$.target_value"),
        ({"target": "pairs", "target_value": 101}, "$.target_value: must be above 0 and at most"),
        ({"target": "width", "target_value": 4.1}, "$.target_value: must be above 0 and at most 4"),
        ({"budget": 5}, "$.budget: must be 1 to"),
        ({"kind": "systems", "allocation": "adaptive"}, "$.allocation: must be uniform"),
    ],
)
def test_how_ratings_were_spread_is_checked(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    exported("pilot", tmp_path / "one")
    path = tmp_path / "one" / "campaign.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(CommandError) as refusal:
        read_again(tmp_path / "one")
    assert says in str(refusal.value)
    assert Campaign.objects.count() == 1


@pytest.mark.usefixtures("asked")
def test_a_file_of_an_older_version_says_nothing_of_allocation(tmp_path: Path) -> None:
    exported("pilot", tmp_path / "one")
    path = tmp_path / "one" / "campaign.json"
    new = ("allocation", "target", "target_value", "budget")
    document = {key: one for key, one in json.loads(path.read_text()).items() if key not in new}
    path.write_text(json.dumps(document))
    assert read_again(tmp_path / "one").allocation == "uniform"
