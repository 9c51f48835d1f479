"""Every template of questions in Chromium: chosen and opened by an organiser, answered by two
raters, its agreement looked at, published to its leaderboard, exported and imported again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotations.questions import templates
from annotations.questions.schema import Form, Question
from tests.browser.stage import Stage
from tests.browser.visit import Visit
from tests.campaigns.forms import KINDS, answers_to, chosen, ranked
from tests.ci import IS_LONG

RATERS = ("rater", "participant")
PAIR = ("oak", "elm")
SYSTEMS = {"pair": PAIR, "dialogue_pair": PAIR, "systems": (*PAIR, "fir")}
"""Otherwise oak alone."""
ITEMS = 2
"""Two dialogues of one turn."""


def in_turn() -> list[str]:
    """So many templates that each type of question is asked of responses and of dialogues wherever
    one asks it; with ``DIALEVAL_LONG=1`` all. Pairs and lists have tests of their own."""
    names, asked = [], set[tuple[str, str]]()
    for name, kind in KINDS.items():
        types = {(kind, question.type) for question in templates.load(name).questions}
        if IS_LONG or (kind not in SYSTEMS and types - asked):
            names.append(name)
            asked |= types
    return names


PREPARED = f"""
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from tests.campaigns.sets import made_version
group = Group.objects.create(name="two raters")
group.user_set.add(*get_user_model().objects.filter(username__in={list(RATERS)!r}))
for name, kind in {KINDS!r}.items():
    systems = {SYSTEMS!r}.get(kind, ("oak",))
    made_version(systems, dialogues={ITEMS}, turns=1, slug="asks-" + name)
"""


@pytest.fixture(scope="module")
def corpora(stage: Stage) -> None:
    stage.python(PREPARED)


@pytest.mark.slow
@pytest.mark.parametrize("name", in_turn())
@pytest.mark.usefixtures("corpora")
def test_from_template_to_leaderboard_and_back(
    visit: Callable[..., Visit], stage: Stage, tmp_path: Path, name: str
) -> None:
    form, kind = templates.load(name), KINDS[name]
    organiser = visit(role="organiser")
    page = open_campaign(organiser, name, kind)
    for number, role in enumerate(RATERS):
        rate_all(visit(role=role).go(f"/rate/{name}/"), form, number)
    page.get_by_role("button", name="Close", exact=True).click()
    page = organiser.go(f"/campaigns/{name}/agreement/")
    assert_agreement(page, form)
    page = organiser.go(f"/campaigns/{name}/ratings/")
    download(page, tmp_path)
    expected = [answers_to(form, number) for number in range(2) for _ in range(ITEMS)]
    assert answers_in(tmp_path) == expected
    publish(page, form)
    if not IS_LONG:  # files of every template are imported in campaigns/test_import_ratings.py, too
        return
    if has_agreement(form):
        link = page.get_by_role("link", name="See them on the leaderboard")
        page.goto(str(link.get_attribute("href")))  # of one system and aspect a part stays empty
        organiser.see_numbers()
        for system in SYSTEMS.get(kind, ("oak",)):
            expect(page.locator("main")).to_contain_text(system)
    again = f"{name}-again"
    stage.site.manage("import_ratings", tmp_path, "--corpus", f"asks-{name}", "--slug", again)
    assert_agreement(organiser.go(f"/campaigns/{again}/agreement/"), form)
    download(organiser.go(f"/campaigns/{again}/ratings/"), tmp_path)
    assert answers_in(tmp_path) == expected


def open_campaign(organiser: Visit, name: str, kind: str) -> Page:
    page = organiser.go(f"/campaigns/new/?corpus=asks-{name}")
    if kind != "turn":
        page.locator(f"[name=kind][value={kind}]").check()
        expect(page.locator(f"[name=template] option[value={name}]")).to_be_attached()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Template").select_option(name)
    page.locator("#raters > summary").click()
    page.get_by_label("two raters", exact=True).check()
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.get_by_text("The campaign is open")).to_be_visible()
    return page


def rate_all(page: Page, form: Form, rater: int) -> None:
    page.get_by_role("button", name="Take part").click()
    for number in range(1, ITEMS + 1):
        expect(page.locator("#item-heading")).to_have_text(f"Item {number} of {ITEMS}")
        page.wait_for_load_state("load")
        for question in form.questions:
            control = page.locator(f"[data-question={question.key}]")
            if control.is_visible():
                answer(page, question, rater)
        page.locator("#send").click()
    expect(page.get_by_role("heading", name="You have rated all of it")).to_be_visible()


def has_agreement(form: Form) -> bool:
    return any(question.measurement != "text" for question in form.questions)


def assert_agreement(page: Page, form: Form) -> None:
    text = "Agreement on each question" if has_agreement(form) else "Nothing to compare"
    expect(page.locator("#live-agreement")).to_contain_text(text)


def download(page: Page, folder: Path) -> None:
    for link, name in (
        ("Everything about each rating (JSON lines)", "ratings.jsonl"),
        ("What was asked (JSON)", "campaign.json"),
    ):
        address = page.get_by_role("link", name=link).get_attribute("href")
        (folder / name).write_bytes(page.request.get(str(address)).body())


def answers_in(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "ratings.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["answers"] for line in lines]


def publish(page: Page, form: Form) -> None:
    if not has_agreement(form):
        expect(page.locator("main")).to_contain_text("there is nothing to publish")
        return
    page.get_by_role("button", name=f"Publish {2 * ITEMS} ratings").click()
    main = next((one for one in form.scored if one.key == "overall"), (*form.scored, None)[0])
    text = f"human scores as {main.name}" if main else "preferences are part of the corpus"
    expect(page.locator("main")).to_contain_text(text)


def answer(page: Page, question: Question, rater: int) -> None:
    name = f"q.{question.key}"
    match question.type:
        case "scale" | "yes_no" | "choice" | "preference":
            value = chosen(question, rater)
            encoded = str(value).lower() if isinstance(value, bool) else value
            page.locator(f'[name="{name}"][value="{encoded}"]').focus()
            page.keyboard.press(question.keyboard[value])
        case "choices":
            page.locator(f'[name="{name}"][value="{question.options[rater].key}"]').check()
        case "utterance_labels":
            label = question.options[rater].key
            box = page.locator(f'[name="{name}.1"][value="{label}"]:visible')
            page.keyboard.press(str(rater + 1)) if rater else box.check()
            expect(box).to_be_checked()
        case "span":
            page.evaluate(
                """() => {
                  const text = document.querySelector("#item-place .judged [data-text]").firstChild;
                  document.getSelection().setBaseAndExtent(text, 0, text, 6);
                }"""
            )
            list_of_severities = page.get_by_label("Severity of words 1")
            if rater:  # the label, then the severity
                page.keyboard.press("1")
                page.keyboard.press(str(rater + 1))
            else:
                page.get_by_role("button", name="Add the selected words").click()
                list_of_severities.select_option(question.severities[rater].label)
            expect(list_of_severities).to_have_value(question.severities[rater].key)
        case "ranking" | "best_worst":
            page.locator(f"[data-question={question.key}] input").first.focus()
            for place in ranked(question, rater):
                page.keyboard.press(place)
        case _:
            page.locator(f'[name="{name}"]').fill("Better said.")
