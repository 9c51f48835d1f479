"""An organiser sets up a challenge from the plan, changes a round and opens it, in Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.stage import Stage
from tests.browser.visit import Visit


@pytest.fixture(autouse=True)
def no_challenge_is_left(stage: Stage) -> Iterator[None]:
    yield
    stage.python(
        "from leaderboard.challenges.models import Challenge, Submission\n"
        "mine = Challenge.objects.filter(slug__startswith='organised')\n"
        "Submission.objects.filter(round__challenge__in=mine).delete()\n"
        "mine.delete()"
    )


@pytest.mark.slow
@pytest.mark.parametrize("script", [True, False], ids=["with-script", "without-script"])
def test_from_the_plan_to_an_open_challenge(visit: Callable[..., Visit], script: bool) -> None:
    organiser = visit(role="organiser", script=script)
    page = organiser.go("/challenges/new/")
    page.get_by_label("Name", exact=True).fill(f"Organised {script}")
    page.get_by_label("Corpus of the warm-up").select_option(
        label="Demo (simulated ratings) (demo v1)"
    )
    page.get_by_label("Corpus of rounds 1 and 2").select_option(
        label="Demo (simulated ratings) (demo v1)"
    )
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("draft")

    page.get_by_role("link", name="Round 2", exact=True).click()
    page.locator("summary", has_text="Submissions").click()
    page.get_by_label("Submissions of a team a day").fill("3")
    page.locator("#metrics > summary").click()
    page.get_by_label("Add a metric").fill("rouge_1")
    page.get_by_role("button", name="Add the metric").click()
    expect(page.get_by_label("All see rouge_1")).to_be_checked()
    page.locator("summary", has_text="All other metrics").click()
    page.get_by_label("Only organisers see bleu_1 until the release").check()
    page.locator("#dates > summary").click()
    page.get_by_label("Time zone of these dates").fill("AoE")
    page.get_by_role("textbox", name="Closes").fill("2030-02-01T23:59")
    page.get_by_role("textbox", name="Release of results").fill("2030-02-01T23:59")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").first).to_contain_text("stored")
    page.locator("#dates > summary").click()
    # AoE is UTC-12
    expect(page.get_by_role("textbox", name="Closes")).to_have_value("2030-02-02T11:59")

    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("link", name="Change the rules").click()
    # Before its scripts have run, a page does not follow what is typed
    page.wait_for_load_state("load")
    page.get_by_label("Text, in Markdown").fill("# Be kind\n\nOne account a person.")
    if script:
        expect(
            page.locator("#guidelines-preview").get_by_role("heading", name="Be kind")
        ).to_be_visible()
    page.get_by_role("button", name="Save the rules").click()
    page.get_by_role("button", name="Open the challenge").click()
    expect(page.get_by_role("status").first).to_contain_text("The challenge is open")

    visitor = visit(width=390, scheme="dark", script=script)
    theirs = visitor.go("/challenges/")
    theirs.get_by_role("link", name=f"Organised {script}").first.click()
    expect(theirs.get_by_role("heading", level=1)).to_contain_text(f"Organised {script}")
    expect(theirs.get_by_text("Round 2").first).to_be_visible()


def test_the_round_follows_the_corpus_and_warns_of_hiding_it(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    stage.python(
        "from leaderboard.challenges.actions import setup\n"
        "setup.create(setup.ChallengeParams('Organised round', 'organised-round'))"
    )
    organiser = visit(role="organiser")
    page = organiser.go("/challenges/organised-round/rounds/new/")
    page.get_by_label("Name", exact=True).fill("First")
    page.evaluate("document.getElementById('round-form').dataset.before = 'yes'")
    page.get_by_label("Corpus", exact=True).select_option(
        label="Demo (simulated ratings) (demo v1)"
    )
    # The form of that corpus is there
    expect(page.locator("#round-form[data-before]")).to_have_count(0)
    expect(page.get_by_label("Name", exact=True)).to_have_value("First")
    page.get_by_role("radio", name="Hidden").check()
    expect(page.locator(".notice.warn").first).to_contain_text(
        "Everybody can read the pages of Demo"
    )
    page.get_by_role("radio", name="Public").check()
    expect(page.locator(".notice.warn")).to_have_count(0)
    organiser.expected_status = {422}
    page.locator("#submissions > summary").click()
    page.get_by_label("Submissions of a team in all").fill("0")
    page.get_by_role("button", name="Add the round").click()
    expect(page.get_by_role("alert").first).to_contain_text("Nothing was saved")
    page.get_by_label("Submissions of a team in all").fill("9")
    page.get_by_role("button", name="Add the round").click()
    expect(page.get_by_role("link", name="First")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_no_page_scrolls_sideways(
    visit: Callable[..., Visit], stage: Stage, width: int, scheme: str
) -> None:
    """Names as long as they may be, without a space; a team and a submission of them, and a
    twin."""
    stage.python(
        "from annotations.models import CorpusVersion\n"
        "from leaderboard.challenges.actions import judging, plan, setup\n"
        "from leaderboard.challenges.models import Challenge, Submission\n"
        "from tests.challenges.sets import good_file, submit, team_with_member\n"
        "version = CorpusVersion.objects.get(corpus__slug='demo')\n"
        "asked = setup.ChallengeParams('W' * 190, 'organised-wide', 'w' * 290)\n"
        "challenge = plan.create_from_plan(asked, version, version)\n"
        "setup.step(challenge, 'open')\n"
        "round = challenge.rounds.get(slug='warm-up')\n"
        "data = good_file(version)\n"
        "from django.contrib.auth import get_user_model\n"
        "get_user_model().objects.filter(username__startswith='wide-').delete()\n"
        "for number in range(2):\n"
        "    team, user = team_with_member(challenge, f'wide-{number}', f'{number}' + '<b>' + 'T' * 70)\n"
        "    one = submit(round, team, user, data, name='S' * 75, description='d' * 900)\n"
        "judging.disqualify(one, 'r' * 400)\n"
        "judging.disqualify_team(team, 'r' * 400)"
    )
    visitor = visit(width=width, scheme=scheme, role="organiser")
    addresses = [
        "/challenges/new/",
        *(
            f"/challenges/organised-wide/{part}/"
            for part in ("settings", "rules/edit", "teams", "submissions")
        ),
        *(
            f"/challenges/organised-wide/rounds/{part}/"
            for part in ("new", "warm-up/settings", "round-1/settings")
        ),
    ]
    for address in addresses:
        page = visitor.go(address)
        assert visitor.scroll_width() <= width, address
    for address in ("teams", "submissions"):
        page = visitor.go(f"/challenges/organised-wide/{address}/")
        page.locator("figure.data-table tbody a").first.click()
        expect(page.locator("#chosen")).to_be_visible()
        assert visitor.scroll_width() <= width, address
    page.get_by_text("Mark as a baseline").click()
    expect(page.get_by_role("status").first).to_contain_text("Stored")
