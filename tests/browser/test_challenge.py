"""A newcomer in Chromium: account, team, rules, files, the project's own baseline, the upload, the
rank."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import HOSTILE_TEXTS, Stage
from tests.browser.visit import Visit
from tests.site import PROJECT

PASSWORD = "a door of seven colours"
SLUG = "newcomers"
ROUND = f"/challenges/{SLUG}/rounds/round-1/"


@pytest.fixture
def challenge(stage: Stage) -> Iterator[None]:
    """An open round on the demo corpus, and an account whose team is in it."""
    stage.python(
        f"""
from django.contrib.auth import get_user_model
from annotations.models import CorpusVersion
from leaderboard.challenges.actions.teams import found
from leaderboard.challenges.models import Challenge, Round
one = Challenge.objects.create(
    slug={SLUG!r}, name="For newcomers", summary="Answer as B.", rules="# Be fair", state="open"
)
Round.objects.create(
    challenge=one, slug="round-1", name="Round 1", version=CorpusVersion.objects.get(corpus__slug="demo"),
    tracks=["gpu"], metrics=["word_f1", "bleu_4", "rouge_l"], ranking_metric="word_f1", shows_corpus_baselines=False,
)
found(one, get_user_model().objects.create_user("settled", password={PASSWORD!r}), "Settled team")
"""
    )
    yield
    stage.python(
        f"""
import time
from django.contrib.auth import get_user_model
from annotations.models import System
from leaderboard.challenges.models import Challenge, Submission
from leaderboard.models import Analysis
handed_in = Submission.objects.filter(round__challenge__slug={SLUG!r})
systems = list(handed_in.values_list("system", flat=True))
for _ in range(600):  # a worker may be about to store what it found
    if not handed_in.exclude(state__in=["scored", "invalid", "failed", "cancelled"]).exists():
        break
    time.sleep(0.1)
handed_in.delete()
System.objects.filter(pk__in=systems).delete()
Challenge.objects.filter(slug={SLUG!r}).delete()
Analysis.objects.filter(kind="board").delete()
get_user_model().objects.filter(username__in=["newcomer", "settled"]).delete()
"""
    )


def drop(page: Page, path: Path, name: str = "") -> None:
    """As if the file was dragged from the desktop onto the form."""
    dropped = page.evaluate_handle(
        """([text, name]) => {
            const carried = new DataTransfer();
            carried.items.add(new File([text], name, { type: "application/json" }));
            return carried;
        }""",
        [path.read_text(), name or path.name],
    )
    for kind in ("dragenter", "dragover", "drop"):
        page.dispatch_event("[data-drop]", kind, {"dataTransfer": dropped})


def downloaded(page: Page, link: str, folder: Path) -> Path:
    with page.expect_download() as coming:
        page.locator(".files").get_by_role("link", name=link, exact=True).first.click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def baseline(dialogues: Path, name: str) -> Path:
    responses = dialogues.with_name(f"{name}.json")
    command = [
        sys.executable,
        "-m",
        "workers.baselines",
        dialogues,
        "--baseline",
        name,
        "--to",
        responses,
    ]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, timeout=300)
    return responses


@pytest.mark.slow
def test_a_newcomer_gets_from_the_front_door_to_a_rank(
    visit: Callable[..., Visit], challenge: None, tmp_path: Path
) -> None:
    newcomer = visit()
    page = newcomer.go(f"/challenges/{SLUG}/")
    page.locator(".step-panel").get_by_role("link", name="Sign up").click()
    page.get_by_label("Name", exact=True).fill("newcomer")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("For newcomers")

    page.locator(".step-panel").get_by_role("link", name="rules").click()
    expect(page.get_by_role("heading", name="Be fair")).to_be_visible()
    page.go_back()
    page.get_by_label("Name of the team").fill("Newcomers' lab")
    page.get_by_role("button", name="Create team").click()
    invitation = page.get_by_label("Invitation link").input_value()
    assert "/teams/join/" in invitation
    assert_everybody_can_use(visit().go(invitation))

    page.get_by_role("link", name="Overview").click()
    page.get_by_role("link", name="To the task").click()
    expect(page.locator(".attempts")).to_contain_text("5 of 5")
    template = downloaded(page, "CSV", tmp_path)
    assert template.read_text().startswith('"dialog_id","turn","response"')
    dialogues = downloaded(page, "JSON", tmp_path)
    responses = baseline(dialogues, "retrieval")
    assert len(json.loads(responses.read_text())) == len(json.loads(dialogues.read_text())) == 8

    drop(page, responses)
    expect(page.locator("[data-chosen]")).to_contain_text("retrieval.json")
    expect(page.get_by_label("Name of the system")).to_have_value("retrieval")
    page.get_by_label("Name of the system").fill("Nearest neighbour")
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Nearest neighbour")
    # Nobody loaded the page again
    expect(page.locator("li.scored.done")).to_be_visible(timeout=240_000)
    expect(page.locator("#submission-status")).to_have_text("scored")
    # When its board is computed
    expect(page.locator(".standing")).to_contain_text("Rank 1", timeout=240_000)
    expect(page.locator("#table-public-scores tbody tr")).to_have_count(3)
    # It has ended, and so has its board
    expect(page.locator("[hx-trigger]")).to_have_count(0, timeout=240_000)

    assert_everybody_can_use(page)
    page.get_by_role("link", name="See the leaderboard").click()
    expect(page.get_by_role("row", name=re.compile("Newcomers' lab"))).to_be_visible()
    page.goto(ROUND)
    expect(page.locator(".attempts")).to_contain_text("4 of 5")


@pytest.mark.parametrize("script", [True, False], ids=["with-script", "without-script"])
def test_an_invalid_file_is_explained_and_costs_no_attempt(
    visit: Callable[..., Visit], challenge: None, tmp_path: Path, script: bool
) -> None:
    settled = visit(width=390, scheme="dark", script=script)
    settled.log_in("settled", PASSWORD)
    page = settled.go(ROUND)
    path = tmp_path / "broken.jsonl"
    path.write_text('{"dialog_id": "nobody", "turn": 0, "response": "x"}\n', encoding="utf-8")
    page.get_by_label("File of responses").set_input_files(path)
    page.get_by_label("Name of the system").fill("Broken")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Broken")
    for _ in range(160):
        if page.locator("li.invalid.stopped").count():
            break
        page.wait_for_timeout(500)
        if not script:
            page.reload()
    expect(page.locator("#table-problems")).to_contain_text("nobody")
    assert settled.scroll_width() <= 390
    page.get_by_role("link", name="Fix the file and submit again").click()
    expect(page.locator(".attempts")).to_contain_text("5 of 5")


def test_what_can_be_seen_at_once_is_said_before_anything_is_sent(
    visit: Callable[..., Visit], challenge: None, tmp_path: Path
) -> None:
    settled = visit()
    settled.log_in("settled", PASSWORD)
    page = settled.go(ROUND)
    page.on(
        "request", lambda request: sent.append(request.url) if request.method == "POST" else None
    )
    sent: list[str] = []
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_have_text("Choose a file first.")
    empty = tmp_path / "empty.json"
    empty.write_text("")
    drop(page, empty)
    expect(page.get_by_role("alert")).to_have_text("The file is empty.")
    page.evaluate("document.getElementById('upload').dataset.largest = '3'")
    full = tmp_path / "full.json"
    full.write_text("[{}]")
    drop(page, full)
    expect(page.get_by_role("alert")).to_contain_text("larger than")
    assert sent == []


def test_an_upload_that_breaks_off_loses_nothing_that_was_written(
    visit: Callable[..., Visit], challenge: None, tmp_path: Path
) -> None:
    settled = visit()
    settled.log_in("settled", PASSWORD)
    page = settled.go(ROUND)
    page.route("**/submit/", lambda route: route.abort("connectionreset"))
    path = tmp_path / "mine.json"
    path.write_text("[]")
    drop(page, path)
    page.get_by_label("Description").fill("seven words of mine")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was stored")
    expect(page.get_by_label("Description")).to_have_value("seven words of mine")
    expect(page.locator("[data-chosen]")).to_contain_text("mine.json")
    page.unroute("**/submit/")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("mine")
    settled.complaints[:] = [one for one in settled.complaints if "ERR_CONNECTION_RESET" not in one]


def test_who_logged_in_again_elsewhere_sends_the_same_upload(
    visit: Callable[..., Visit], challenge: None, tmp_path: Path
) -> None:
    settled = visit()
    settled.log_in("settled", PASSWORD)
    page = settled.go(ROUND)
    path = tmp_path / "kept over a log-in.json"
    path.write_text("[]")
    drop(page, path)
    page.context.clear_cookies(name="sessionid")
    settled.expected_status = {401}
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("Log in in another tab, then send again.")
    settled.log_in_again("settled", PASSWORD)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("kept over a log-in")


def test_an_upload_whose_answer_is_lost_is_not_called_unstored(
    visit: Callable[..., Visit], challenge: None, tmp_path: Path
) -> None:
    settled = visit()
    settled.log_in("settled", PASSWORD)
    page = settled.go(ROUND)
    path = tmp_path / "arrived.json"
    path.write_text("[]")
    drop(page, path)
    settled.expected_status = {502}
    page.route("**/submit/", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "It may be stored: look among your submissions"
    )
    expect(page.get_by_role("button", name="Submit")).to_be_focused()


def test_an_upload_that_the_site_does_not_take_is_not_called_a_broken_connection(
    visit: Callable[..., Visit], challenge: None, tmp_path: Path
) -> None:
    settled = visit()
    settled.log_in("settled", PASSWORD)
    page = settled.go(ROUND)
    path = tmp_path / "late.json"
    path.write_text("[]")
    drop(page, path)
    settled.expected_status = {404}
    page.route(
        "**/submit/", lambda route: route.fulfill(status=404, body="<h1>Page not found</h1>")
    )
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("The site does not take this here any more.")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_no_page_scrolls_sideways_or_obeys_a_name(
    visit: Callable[..., Visit], stage: Stage, challenge: None, width: int, scheme: str
) -> None:
    stage.python(
        f"""
from leaderboard.challenges.models import *
from leaderboard.challenges.actions.receiving import receive
from leaderboard.challenges.uploads import upload_from_bytes
from tests.browser.stage import HOSTILE_TEXTS, LONG_WORD
team = Team.objects.get(challenge__slug={SLUG!r})
received = receive(team.challenge.rounds.get(), team, team.members.get().user, track="gpu", name=LONG_WORD[:80],
    description=HOSTILE_TEXTS[0], upload=upload_from_bytes(b"{{}}", LONG_WORD + ".json"))
Submission.objects.filter(pk=received.submission.pk).update(public_id="hostile-one")
Team.objects.filter(pk=team.pk).update(name=LONG_WORD[:80])
Challenge.objects.filter(slug={SLUG!r}).update(name=HOSTILE_TEXTS[0], summary=LONG_WORD[:300], rules=LONG_WORD)
Round.objects.filter(challenge__slug={SLUG!r}).update(name=LONG_WORD[:100])
"""
    )
    settled = visit(width=width, scheme=scheme)
    settled.log_in("settled", PASSWORD)
    one = f"/challenges/{SLUG}/"
    for path in (
        "/challenges/",
        one,
        f"{one}rules/",
        f"{one}team/",
        ROUND,
        "/submissions/hostile-one/",
        "/submissions/",
    ):
        page = settled.go(path)
        assert settled.scroll_width() <= width, path
        assert page.title() != "taken over", path
    assert HOSTILE_TEXTS[0] in settled.go(one).locator("h1").inner_text()
    for path in ("/accounts/", "/accounts/password/"):
        settled.go(path)
        assert settled.scroll_width() <= width, path
