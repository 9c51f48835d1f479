"""Templates that a campaign of single responses or dialogues can begin with, in Chromium: chosen by
an organiser, answered by two raters, published, its agreement and its file looked at."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotations.campaigns.templates_of_forms import templates_for
from annotations.questions import templates
from annotations.questions.answers import visible
from annotations.questions.schema import Form, Question, Value
from tests.browser.stage import Stage
from tests.browser.visit import Visit
from tests.ci import IS_LONG

RATERS = ("rater", "participant")
NAMES = {
    form.name: kind for kind in ("turn", "dialogue") for form in templates_for(kind) if form.scored
}
"""Those that have a score to publish."""


def of_every_kind() -> list[str]:
    """So many templates that each type of question is asked of responses and of dialogues wherever
    one asks it; with ``DIALEVAL_LONG=1`` all."""
    chosen, asked = [], set[tuple[str, str]]()
    for name, kind in NAMES.items():
        types = {(kind, question.type) for question in templates.load(name).questions}
        if IS_LONG or types - asked:
            chosen.append(name)
            asked |= types
    return chosen


PREPARED = f"""
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from tests.campaigns.sets import made_version
group = Group.objects.create(name="two raters")
group.user_set.add(*get_user_model().objects.filter(username__in={list(RATERS)!r}))
for name in {list(NAMES)!r}:
    made_version(["one"], dialogues=2, turns=1, slug="asks-" + name)
"""
ITEMS = 2
"""One system, two dialogues of one turn."""


@pytest.fixture(scope="module")
def corpora(stage: Stage) -> None:
    stage.python(PREPARED)


@pytest.mark.slow
@pytest.mark.parametrize("name", of_every_kind())
@pytest.mark.usefixtures("corpora")
def test_from_template_to_published_scores(visit: Callable[..., Visit], name: str) -> None:
    form, kind = templates.load(name), NAMES[name]
    organiser = visit(role="organiser")
    page = open_campaign(organiser, name, kind)
    for number, role in enumerate(RATERS):
        rate_all(visit(role=role).go(f"/rate/{name}/"), form, number)
    page.get_by_role("button", name="Close", exact=True).click()
    page = organiser.go(f"/campaigns/{name}/agreement/")
    expect(page.locator("#live-agreement")).to_contain_text("with intervals")
    page = organiser.go(f"/campaigns/{name}/ratings/")
    page.get_by_role("button", name=f"Publish {2 * ITEMS} ratings").click()
    main = next((one for one in form.scored if one.key == "overall"), form.scored[0])
    expect(page.locator("main")).to_contain_text(f"human scores as {main.name}")
    lines = page.request.get(f"/campaigns/{name}/ratings/export/?format=jsonl").text()
    answers = [json.loads(line)["answers"] for line in lines.splitlines()]
    expected = [expected_answers(form, number) for number in range(2) for _ in range(ITEMS)]
    assert answers == expected


def open_campaign(organiser: Visit, name: str, kind: str) -> Page:
    page = organiser.go(f"/campaigns/new/?corpus=asks-{name}")
    if kind == "dialogue":
        page.locator("[name=kind][value=dialogue]").check()
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


# --- what a rater answers -------------------------------------------------------------------------


def chosen(question: Question, rater: int) -> Value:
    """The first rater chooses the last point of a scale and "no", the second one below and "yes"."""
    return question.values[-1 - rater] if question.type != "yes_no" else bool(rater)


def answer(page: Page, question: Question, rater: int) -> None:
    name = f"q.{question.key}"
    match question.type:
        case "scale" | "yes_no" | "choice":
            value = chosen(question, rater)
            encoded = str(value).lower() if isinstance(value, bool) else value
            page.locator(f'[name="{name}"][value="{encoded}"]').focus()
            page.keyboard.press(question.keyboard[value])
        case "choices":
            page.locator(f'[name="{name}"][value="{question.options[rater].key}"]').check()
        case "utterance_labels":
            label = question.options[rater].key
            page.locator(f'[name="{name}.1"][value="{label}"]:visible').check()
        case "span":
            page.evaluate(
                """() => {
                  const text = document.querySelector("#item-place .judged [data-text]").firstChild;
                  document.getSelection().setBaseAndExtent(text, 0, text, 6);
                }"""
            )
            page.get_by_role("button", name="Add the selected words").click()
            severity = question.severities[rater].label
            page.get_by_label("Severity of words 1").select_option(severity)
        case _:
            page.locator(f'[name="{name}"]').fill("Better said.")


def expected_answers(form: Form, rater: int) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for question in form.questions:
        if question in visible(form, answers):
            answers[question.key] = expected_answer(question, rater)
        elif question.if_hidden is not None:
            answers[question.key] = question.if_hidden
    return answers


def expected_answer(question: Question, rater: int) -> Any:
    match question.type:
        case "scale" | "yes_no" | "choice":
            return chosen(question, rater)
        case "choices":
            return [question.options[rater].key]
        case "utterance_labels":
            return {"1": [question.options[rater].key]}
        case "span":
            label, severity = question.options[0].key, question.severities[rater].key
            place = {"utterance": 1, "start": 0, "end": 6}
            return [place | {"label": label, "severity": severity}]
        case _:
            return "Better said."
