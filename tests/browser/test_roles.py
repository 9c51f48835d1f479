"""What people of each role are shown, and the one path that starts work from the browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import TimeoutError, expect

from tests.browser.stage import Stage
from tests.browser.visit import COMPUTED_WITHIN, Visit

COMPUTE = "Compute for all systems"


@pytest.mark.parametrize("role", ["rater", "participant"])
def test_raters_and_participants_read_but_start_nothing(
    visit: Callable[..., Visit], role: str
) -> None:
    visitor = visit(role=role)
    page = visitor.go("/corpora/demo/runs/")
    assert page.get_by_role("button", name=COMPUTE).count() == 0
    # The corpus's tab, none in the header
    assert page.get_by_role("link", name="Runs").count() == 1
    assert page.get_by_role("link", name="Admin").count() == 0
    page = visitor.go("/runs/", status=403)
    assert page.locator("h1").count() == 1


def test_a_wrong_pass_word_is_said_and_lets_nobody_in(visit: Callable[..., Visit]) -> None:
    page = visit().go("/accounts/login/")
    page.get_by_label("Username").fill("organiser")
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Log in").click()
    assert "is wrong" in page.get_by_role("alert").inner_text()
    assert page.get_by_role("link", name="Log in").is_visible()


def test_the_log_in_page_shows_the_demo_accounts_and_leads_back(
    visit: Callable[..., Visit],
) -> None:
    page = visit().go("/corpora/demo/agreement/")
    header = page.get_by_role("navigation", name="Account")
    header.get_by_role("link", name="Log in").click()
    expect(page.locator(".demo-accounts code").nth(1)).to_have_text("demo-organiser")
    assert page.locator(".demo-accounts code").first.inner_text() == "organiser"
    page.get_by_label("Username").fill("rater")
    page.get_by_label("Password").fill("demo-rater")
    page.get_by_role("button", name="Log in").click()
    assert page.url.endswith("/corpora/demo/agreement/")
    page.get_by_role("button", name="Log out").click()
    header.get_by_role("link", name="Log in").wait_for()


def test_a_form_that_stayed_open_across_a_log_in_is_taken(visit: Callable[..., Visit]) -> None:
    """Two tabs with the log-in page: the first log-in makes the second page's token void."""
    visitor = visit()
    page = visitor.go("/accounts/login/")
    visitor.log_in("rater", "demo-rater")
    page.get_by_label("Username").fill("participant")
    page.get_by_label("Password").fill("demo-participant")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("button", name="Log out").wait_for()


def test_of_two_tokens_that_of_this_host_alone_is_sent(visit: Callable[..., Visit]) -> None:
    """The other is left from before the site was on HTTPS, or comes from another site of the
    domain."""
    page = visit().go("/accounts/login/")
    both = "csrftoken=left; __Host-csrftoken=ours"
    page.evaluate("both => Object.defineProperty(document, 'cookie', {get: () => both})", both)
    assert page.evaluate("dialevalToken()") == "ours"


@pytest.mark.slow
def test_an_organiser_computes_a_metric_and_the_leaderboard_gains_it(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    """The whole way: form, row, message, worker process, page that follows it, leaderboard."""
    configuration = "rouge_l[stem=true]"
    visitor = visit(role="organiser")
    page = visitor.go("/corpora/hostile/metrics/")
    assert page.get_by_role("link", name=configuration, exact=True).count() == 0
    page.get_by_role("link", name="Runs").last.click()
    page.get_by_label("Other configurations").fill(configuration)
    page.get_by_role("button", name=COMPUTE).click()
    progress = page.locator("#run-progress")
    try:
        progress.get_by_text("Nothing is running or queued").wait_for(timeout=240_000)
    except TimeoutError as late:
        raise AssertionError(f"{progress.inner_text()}\n{stage.site.logs()}") from late
    # 3 systems, scored by three metrics before
    assert "12 of 12 runs done" in progress.inner_text()
    page = visitor.go("/corpora/hostile/metrics/")
    gained = page.get_by_role("link", name=configuration, exact=True)
    # The board shows the older ones until then
    newer = page.get_by_role("link", name="Show them").first
    gained.or_(newer).first.wait_for(timeout=COMPUTED_WITHIN)
    if not gained.count():
        newer.click()
    gained.wait_for()


def test_a_metric_that_does_not_exist_is_refused_in_words(visit: Callable[..., Visit]) -> None:
    visitor = visit(role="organiser")
    page = visitor.go("/corpora/demo/runs/")
    visitor.expected_status = {422}
    page.get_by_label("Other configurations").fill("no_such_metric")
    page.get_by_role("button", name=COMPUTE).click()
    assert "no_such_metric" in page.locator(".field .errors").inner_text()
    assert page.get_by_label("Other configurations").input_value() == "no_such_metric"
