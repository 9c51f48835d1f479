"""An organiser writes a judge in a browser: faults while typing, a new version, a trial, the way to
a run."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.for_everybody import violations
from tests.browser.stage import Stage
from tests.browser.visit import NARROW, WIDE, Visit

WORKED = """
from workers.judges.models import Trial
trial = Trial.objects.get(pk={pk})
claim = Trial.objects.claim(trial.pk)
Trial.objects.owned(claim).finish(results=[
    {{"score": 1.0 + place % 5, "reason": "", "remark": "", "trace": {{}}}} for place in range(len(trial.responses))
], examples_done=len(trial.responses))
"""


def write(page: Page, title: str) -> None:
    page.goto("/judges/new/?start=simple")
    page.get_by_label("Title").fill(title)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("heading", name=title, level=1).wait_for()


def wait_for_a_trial(stage: Stage, title: str) -> int:
    """A trial of which no worker is told within ten minutes (``hints.due``)."""
    made = stage.python(
        "from workers.judges import trial_actions as trials, trial_queries\n"
        "from common.jobs import models as jobs\n"
        "jobs.notify_workers = lambda task, rows, priority: []\n"
        "from workers.judges.models import PromptVersion, Trial\n"
        "from workers.metrics.common.configuration import parse\n"
        f"version = PromptVersion.objects.get(prompt__title={title!r})\n"
        "from annotations.models import CorpusVersion\n"
        "corpus = CorpusVersion.objects.get(corpus__slug='demo')\n"
        "from django.db import transaction\n"
        "from django.utils import timezone\n"
        "with transaction.atomic():\n"
        "    trial = trials.start(version, corpus, parse(f'judge[prompt={version}]'), 'overall')\n"
        "    Trial.objects.filter(pk=trial.pk).update(hinted_at=timezone.now(), hints=16)\n"
        "print(trial.pk)"
    )
    return int(made)


@pytest.mark.slow
def test_faults_are_told_while_one_types_and_a_sound_prompt_is_shown(
    visit: Callable[..., Visit],
) -> None:
    visitor = visit(role="organiser")
    page = visitor.go("/judges/new/?start=simple")
    look = page.locator("#judge-look")
    look.get_by_text("sound").wait_for()
    text = page.get_by_label("Prompt file")
    good = text.input_value()
    text.fill(good.replace("{history}", "{story}"))
    look.get_by_text("It cannot be used yet").wait_for()
    assert look.get_by_text("{story}").count()
    text.fill(good)
    look.get_by_text("Response 1 of").wait_for()
    # The first of the list may be another test's, of fewer responses
    page.get_by_label("Corpus", exact=True).select_option(label="Demo (simulated ratings)")
    page.get_by_label("Response", exact=True).fill("9")
    look.get_by_text("Response 9 of").wait_for()
    assert page.url.endswith("/judges/new/?start=simple")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_a_judge_is_written_changed_tried_and_led_to_a_run(
    visit: Callable[..., Visit], stage: Stage, width: int, scheme: str
) -> None:
    visitor = visit(width=width, scheme=scheme, role="organiser")
    title = f"Kindness {secrets.token_hex(4)}"
    page = visitor.page
    write(page, title)
    assert visitor.scroll_width() <= width
    assert violations(page) == []
    page.get_by_role("link", name="Write a new version").click()
    text = page.get_by_label("Prompt file")
    text.fill(text.input_value().replace("### Instruction:", "### What to do:"))
    assert violations(page) == []
    page.get_by_role("button", name="Save as a new version").click()
    page.get_by_text("Compare two versions").click()
    assert page.locator(".difference .added").inner_text().strip().endswith("### What to do:")
    stage.python(
        "from workers.judges.models import "
        f"*\nPromptVersion.objects.filter(prompt__title={title!r}, number=2).delete()"
    )
    pk = wait_for_a_trial(stage, title)
    visitor.go(f"{page.url.partition('?')[0]}trials/{pk}/")
    page.get_by_text("Waiting for a worker").wait_for()
    stage.python(WORKED.format(pk=pk))
    page.get_by_role("heading", name="Run it on the corpus").wait_for()
    page.get_by_text("448 calls").wait_for()
    assert page.locator(".judged-list > li").count() == 10
    assert visitor.scroll_width() <= width
    assert violations(page) == []
    page.get_by_role("link", name="Set a budget and start").click()
    page.wait_for_url("**/corpora/demo/judges/**")


def test_without_script_a_judge_is_looked_at_stored_and_its_trial_stopped(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    visitor = visit(role="organiser", script=False)
    title = f"Plainness {secrets.token_hex(4)}"
    page = visitor.go("/judges/new/?start=empty")
    page.get_by_label("Title").fill(title)
    page.get_by_role("button", name="Preview").click()
    assert page.get_by_label("Title").input_value() == title
    expect(page.get_by_text("Response 1 of")).to_have_count(1)
    page.get_by_role("button", name="Save", exact=True).click()
    pk = wait_for_a_trial(stage, title)
    visitor.go(f"{page.url}trials/{pk}/")
    assert page.get_by_role("link", name="Refresh").count() == 1
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped by organiser")).to_have_count(1)
