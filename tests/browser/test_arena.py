"""An arena of two models behind endpoints, in a browser: an organiser opens it, visitors chat and
vote, its leaderboard and the corpus made of it are looked at."""

from __future__ import annotations

import io
import json
import secrets
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import Stage
from tests.browser.visit import Visit
from tests.workers.endpoint import StubEndpoint, stub_endpoint

pytestmark = pytest.mark.slow
ANSWERED = 60_000
"""The worker may have statistics to compute before."""


@pytest.fixture
def endpoints() -> Iterator[tuple[StubEndpoint, StubEndpoint]]:
    with (
        stub_endpoint(lambda _asked: "Gladly: a long walk by the river.") as kind,
        stub_endpoint(lambda _asked: "No.") as curt,
    ):
        yield kind, curt


def open_arena(
    visit: Callable[..., Visit], stage: Stage, endpoints: tuple[StubEndpoint, StubEndpoint]
) -> tuple[Page, str, list[str]]:
    """The organiser's page, the arena's address and the names of its systems."""
    slug = f"arena-{secrets.token_hex(4)}"
    names = [f"{slug} kind", f"{slug} curt"]
    for name, endpoint in zip(names, endpoints, strict=True):
        stage.python(
            "from annotations.campaigns.models import ChatSystem as C;"
            f"C.objects.create(name={name!r}, base_url={endpoint.base_url!r}, model='stub', "
            "instructions='{persona}')"
        )
    page = visit(role="organiser").go("/arenas/new/?source=chat&corpus=demo")
    page.get_by_label("Name").fill("Two models")
    page.get_by_label("Address", exact=True).fill(slug)
    for name in names:
        page.get_by_label(name).check()
    page.get_by_label("Everybody may vote").check()
    assert_everybody_can_use(page)
    page.get_by_role("button", name="Create").click()
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_text("The arena is open.").wait_for()
    return page, slug, names


def say(page: Page, text: str) -> None:
    page.get_by_label("Your message to both").fill(text)
    page.keyboard.press("Enter")


def vote_for_the_kind_one(page: Page, names: list[str]) -> None:
    say(page, "Would you like to talk?")
    page.get_by_text("a long walk by the river").wait_for(timeout=ANSWERED)
    assert not [name for name in names if name in page.content()]
    first = page.locator(".arena-side").first.inner_text()
    side = "1" if "river" in first else "2"
    page.get_by_role("button", name=f"{side} is better").click()
    expect(page.get_by_role("status")).to_contain_text(f"Your vote: {side} is better.")
    shown = page.locator(".arena-heads h2").nth(int(side) - 1)
    expect(shown).to_contain_text("kind")


def test_an_arena_of_two_models_from_its_form_to_its_corpus(
    visit: Callable[..., Visit], stage: Stage, endpoints: tuple[StubEndpoint, StubEndpoint]
) -> None:
    manage, slug, names = open_arena(visit, stage, endpoints)
    address = f"/arenas/{slug}/"
    for number in range(3):
        visitor = visit(script=True, width=390 if number else 1440)
        page = visitor.go(address)
        if not number:
            assert_everybody_can_use(page)
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**/battles/*/")
        if not number:
            assert_everybody_can_use(page)
        vote_for_the_kind_one(page, names)
        assert visitor.scroll_width() <= (390 if number else 1440)
        if not number:
            assert_everybody_can_use(page)
            page.get_by_role("button", name="Next battle").click()
            page.wait_for_url("**/battles/*/")
            vote_for_the_kind_one(page, names)
    board = visit().go(f"{address}leaderboard/")
    expect(board.locator("main")).to_contain_text("4 votes on 4 conversations by 3 raters")
    assert_everybody_can_use(board)
    manage.reload()
    expect(manage.locator(".key-figures")).to_contain_text("Answers asked for")
    assert_everybody_can_use(manage)
    manage.get_by_role("button", name="Close").click()
    manage.get_by_role("button", name="Make a corpus").click()
    manage.get_by_text(f"Stored as {slug}-votes").wait_for()
    preferred = [one for one in exported(manage, slug) if one["type"] == "preference"]
    assert len(preferred) == 4
    assert {
        one["system_a"] if one["preferred"] == "a" else one["system_b"] for one in preferred
    } == {names[0]}


def exported(page: Page, slug: str) -> list[dict[str, Any]]:
    answer = page.context.request.get(f"/corpora/{slug}-votes/export/?format=jsonl")
    assert answer.status == 200
    with zipfile.ZipFile(io.BytesIO(answer.body())) as archive:
        [name] = [one for one in archive.namelist() if one.endswith("corpus.jsonl")]
        return [json.loads(line) for line in archive.read(name).decode().splitlines()]


def test_a_battle_whose_endpoint_fails_is_void(
    visit: Callable[..., Visit], stage: Stage, endpoints: tuple[StubEndpoint, StubEndpoint]
) -> None:
    manage, slug, _names = open_arena(visit, stage, endpoints)
    endpoints[1].answer = lambda _asked: 404
    page = visit().go(f"/arenas/{slug}/")
    page.get_by_role("button", name="Begin").click()
    say(page, "Is anybody there?")
    page.get_by_text("One of the models did not answer. This battle is not counted.").wait_for(
        timeout=ANSWERED
    )
    assert_everybody_can_use(page)
    manage.reload()
    expect(manage.locator("main")).to_contain_text("Answers that did not come")


def test_without_javascript_a_visitor_chats_and_votes(
    visit: Callable[..., Visit], stage: Stage, endpoints: tuple[StubEndpoint, StubEndpoint]
) -> None:
    _manage, slug, _names = open_arena(visit, stage, endpoints)
    page = visit(script=False).go(f"/arenas/{slug}/")
    page.get_by_role("button", name="Begin").click()
    say(page, "Would you like to talk?")
    for _ in range(240):
        if page.get_by_text("a long walk by the river").count():
            break
        page.get_by_role("link", name="Refresh").click()
        page.wait_for_timeout(250)
    page.get_by_role("button", name="A tie").click()
    expect(page.get_by_text("Your vote: A tie.")).to_be_visible()
