"""What holds for every page, wide and narrow, light and dark."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.visit import NARROW, WIDE, Visit

PARTS = ("", "metrics/", "metrics/plots/", "systems/", "agreement/", "dialogues/", "dialogues/0/", "runs/", "judges/")
CHALLENGE = "/challenges/demo-challenge/"
ROUND = f"{CHALLENGE}rounds/practice/"
OPEN_PAGES = [
    "/",
    "/metrics/",
    "/metrics/fbd/",
    "/metrics/word_f1/?corpus=hostile",
    "/accounts/login/",
    "/accounts/sign-up/",
    "/api/v1/docs/",
    "/challenges/",
    CHALLENGE,
    f"{CHALLENGE}rules/",
    ROUND,
    f"{ROUND}board/",
]
PARTICIPANTS_PAGES = [
    "/submissions/",
    "/accounts/",
    "/accounts/tokens/",
    "/accounts/webhooks/",
    "/corpora/demo/metric-scores/",
    f"{CHALLENGE}team/",
    ROUND,
    f"{ROUND}prompt/",
    f"{ROUND}board/",
]
ORGANISERS_PAGES = [
    "/runs/",
    "/corpora/demo/runs/",
    "/corpora/demo/judges/",
    "/corpora/hostile/runs/",
    "/audit/",
    "/judges/",
    "/judges/new/",
    "/challenges/new/",
    f"{CHALLENGE}settings/",
    f"{CHALLENGE}rules/edit/",
    f"{CHALLENGE}teams/",
    f"{CHALLENGE}submissions/",
    f"{CHALLENGE}rounds/new/",
    f"{ROUND}settings/",
    f"{ROUND}board/?part=private",
]
CORPUS_PAGES = [f"/corpora/{slug}/{part}" for slug in ("demo", "hostile") for part in PARTS]
LOOKS = [(width, scheme) for width in (WIDE, NARROW) for scheme in ("light", "dark")]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_every_page_stands_whole_in_its_window(visit: Callable[..., Visit], width: int, scheme: str) -> None:
    """No word or chart reaches out sideways; the browser complains of nothing (the fixture asserts that)."""
    visitor = visit(width=width, scheme=scheme)
    too_wide = {}
    for path in [*OPEN_PAGES, *CORPUS_PAGES]:
        visitor.go(path)
        visitor.see_everything()
        if visitor.scroll_width() > width:
            too_wide[path] = visitor.scroll_width()
    assert too_wide == {}


@pytest.mark.parametrize(("role", "paths"), [("participant", PARTICIPANTS_PAGES), ("organiser", ORGANISERS_PAGES)])
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_pages_of_a_role_stand_whole_in_their_window(
    visit: Callable[..., Visit], width: int, scheme: str, role: str, paths: list[str]
) -> None:
    visitor = visit(width=width, scheme=scheme, role=role)
    too_wide = {}
    for path in paths:
        visitor.go(path)
        if visitor.scroll_width() > width:
            too_wide[path] = visitor.scroll_width()
    assert too_wide == {}


def test_every_page_says_where_one_is(visit: Callable[..., Visit]) -> None:
    """One heading, a title of its own, a way back."""
    visitor = visit()
    titles = []
    for path in [*OPEN_PAGES, *CORPUS_PAGES]:
        page = visitor.go(path)
        titles.append(page.title())
        assert page.locator("h1").count() == 1, path
        assert page.locator("h1").inner_text().strip(), path
        assert page.locator("nav.breadcrumb li").count() >= 1, path
    assert all(title.endswith("dialeval") and len(title) > len("dialeval") for title in titles), titles
    assert len(set(titles)) == len(titles), titles


def test_simulated_ratings_are_called_simulated_wherever_they_are_shown(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    for path in ["/", *(f"/corpora/demo/{part}" for part in PARTS)]:
        badge = visitor.go(path).locator(".badge.simulated").first
        assert badge.is_visible(), path
    for part in PARTS:
        assert visitor.go(f"/corpora/hostile/{part}").locator(".badge.simulated").count() == 0, part


def test_an_address_without_a_page_leads_back(visit: Callable[..., Visit]) -> None:
    visitor = visit()
    page = visitor.go("/corpora/no-such-corpus/", status=404)
    assert page.locator("h1").inner_text() == "No such page"
    page.get_by_role("link", name="Home").click()
    assert page.locator("h1").inner_text() == "Corpora"


def test_the_theme_is_remembered_and_set_before_the_page_is_drawn(visit: Callable[..., Visit]) -> None:
    visitor = visit(scheme="light")
    page = visitor.go("/corpora/demo/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_label("Theme").select_option("dark")
    dark = page.evaluate(background)
    assert dark != light
    visitor.go("/corpora/demo/systems/")
    assert page.evaluate(background) == dark
    assert page.get_by_label("Theme").input_value() == "dark"


def test_the_keyboard_reaches_the_content_first_and_shows_where_it_is(visit: Callable[..., Visit]) -> None:
    page = visit().go("/corpora/demo/metrics/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    assert skip.evaluate("link => link === document.activeElement && getComputedStyle(link).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_every_control_has_a_name(visit: Callable[..., Visit]) -> None:
    visitor = visit(role="organiser")
    nameless = """Array.from(document.querySelectorAll('input:not([type=hidden]), select, textarea'))
      .filter((field) => !field.labels.length && !field.getAttribute('aria-label')).map((field) => field.outerHTML)"""
    for path in [*OPEN_PAGES[:2], *CORPUS_PAGES[:8]]:
        assert visitor.go(path).evaluate(nameless) == [], path


def test_printing_leaves_out_what_paper_cannot_do(visit: Callable[..., Visit]) -> None:
    page = visit(scheme="dark").go("/corpora/demo/metrics/")
    page.emulate_media(media="print")
    assert not page.locator(".site-header").is_visible()
    assert not page.locator(".tabs").is_visible()
    assert page.locator("#table-metric-leaderboard table").is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"


def test_the_administration_works_under_the_policy(visit: Callable[..., Visit]) -> None:
    visitor = visit(role="organiser")
    page = visitor.go("/admin/")
    assert page.locator("h1").first.inner_text() == "Site administration"
    assert page.evaluate("getComputedStyle(document.querySelector('#header')).display") == "flex"
    page.get_by_role("link", name="Corpora", exact=True).first.click()
    page.wait_for_load_state("networkidle")
    assert "demo" in page.locator("#result_list").inner_text()
