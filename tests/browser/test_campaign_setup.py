"""A newcomer sets a campaign up on the demo corpus, invites a rater and opens it, in Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Request, Route, expect

from tests.browser.stage import Stage
from tests.browser.visit import Held, Visit


@pytest.fixture(autouse=True)
def no_campaign_is_left(stage: Stage) -> Iterator[None]:
    yield
    stage.python(
        "from annotations.campaigns.actions import setup\nfrom annotations.campaigns.models "
        "import Campaign\n[setup.delete(one, one.slug) for one in "
        "Campaign.objects.filter(name__startswith='Newcomer')]"
    )


@pytest.mark.slow
@pytest.mark.parametrize("script", [True, False], ids=["with-script", "without-script"])
def test_from_nothing_to_a_rater_who_has_joined(visit: Callable[..., Visit], script: bool) -> None:
    organiser = visit(role="organiser", script=script)
    page = organiser.go("/corpora/demo/")
    page.get_by_role("link", name="Start a rating campaign").click()
    page.get_by_label("Name", exact=True).fill("Newcomer")
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("link", name="Write the guidelines").click()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Create link").click()
    link = page.locator("#invitations input[readonly]").input_value()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.get_by_role("status").first).to_contain_text("items")

    rater = visit(width=390, scheme="dark", script=script)
    theirs = rater.go(link.removeprefix(rater.address))
    assert rater.scroll_width() <= 390
    theirs.get_by_label("Name", exact=True).fill(f"newcomer-{script}")
    theirs.get_by_label("Password", exact=True).fill("a door of seven colours")
    theirs.get_by_label("Password again").fill("a door of seven colours")
    theirs.get_by_role("button", name="Create account and take part").click()
    expect(theirs.get_by_role("heading", level=1)).to_have_text("Newcomer")


def test_the_form_follows_the_choice_and_says_what_it_costs(visit: Callable[..., Visit]) -> None:
    """The demo has 8 systems and 8 dialogues: 64 items at dialogue level, 24 of 3 drawn dialogues;
    k = 4 makes 96."""
    page = visit(role="organiser").go("/campaigns/new/?corpus=demo")
    page.get_by_text("A system's responses in a whole dialogue").click()
    expect(page.locator("#plan")).to_contain_text("64 × 2")
    expect(page.get_by_label("When axes are asked")).to_have_value("3")
    page.get_by_label("Dialogues to draw").fill("3")
    page.get_by_label("Raters per item").fill("4")
    expect(page.locator("#plan")).to_contain_text("24 × 4")
    page.locator("#chosen-systems > summary").click()
    page.get_by_role("button", name="none").first.click()
    expect(page.locator("#plan")).to_contain_text("18 × 4")  # two agents less
    page.get_by_text("New dialogues between two raters").click()
    expect(page.get_by_label("Dialogues wanted")).to_have_value("3")
    expect(page.get_by_label("Raters per item")).to_have_count(0)


def test_a_late_answer_overwrites_nothing_that_was_filled_in_meanwhile(
    visit: Callable[..., Visit],
) -> None:
    """Until the form that follows a choice is there, the choice alone can be changed; what was
    chosen last counts."""
    organiser = visit(role="organiser")
    page = organiser.go("/campaigns/new/?corpus=demo")
    late: list[Route] = []

    def asks_for_the_form(request: Request) -> bool:
        return request.headers.get("hx-target") == "campaign-form"

    def answer(route: Route) -> None:
        late.append(route) if asks_for_the_form(route.request) else route.continue_()

    page.route("**/campaigns/new/*", answer)
    name, systems = page.get_by_label("Name", exact=True), page.locator("#chosen-systems")
    name.fill("Newcomer waits")
    systems.locator("summary").click()
    with page.expect_request(asks_for_the_form):
        page.get_by_text("A system's responses in a whole dialogue").click()
    expect(systems).to_have_js_property("inert", True)
    box = systems.locator("input[type=checkbox]").first
    box.click(force=True)
    name.focus()
    expect(box).to_be_checked()
    expect(name).not_to_be_focused()
    with page.expect_request(asks_for_the_form):
        page.get_by_text("New dialogues between two raters").click()
    expect(systems).to_have_js_property("inert", True)
    late[1].continue_()
    late[0].abort()  # it had given way
    expect(page.get_by_label("Dialogues wanted")).to_be_visible()
    expect(page.locator("[inert]")).to_have_count(0)
    expect(name).to_have_value("Newcomer waits")
    # htmx notes of the request that gave way that it came to nothing.
    organiser.complaints = [one for one in organiser.complaints if "error: htmx:" not in one]


def test_a_choice_made_before_the_scripts_have_come_is_followed(
    visit: Callable[..., Visit],
) -> None:
    """On a slow line the page can be filled in before them; a reload that puts choices back is the
    same to it."""
    organiser = visit(role="organiser")
    page = organiser.go("/campaigns/")
    late = Held(page, "**/htmx*.js*")
    page.goto(organiser.address + "/campaigns/new/?corpus=demo", wait_until="commit")
    page.get_by_label("Name", exact=True).fill("Newcomer hurries")
    page.get_by_text("New dialogues between two raters").click()
    expect(page.get_by_label("Dialogues wanted")).to_have_count(0)
    late.request(0).continue_()
    expect(page.get_by_label("Dialogues wanted")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Newcomer hurries")


def test_guidelines_are_shown_while_they_are_written(visit: Callable[..., Visit]) -> None:
    page = visit(role="organiser").go("/campaigns/new/?corpus=demo")
    page.get_by_label("Name", exact=True).fill("Newcomer writes")
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("link", name="Write the guidelines").click()
    # Before its scripts have run, a page does not follow what is typed
    page.wait_for_load_state("load")
    page.get_by_label("Text, in Markdown").fill(
        "# Look here\n\n<img src=x onerror=alert(1)> **bold**"
    )
    preview = page.locator("#guidelines-preview")
    expect(preview.get_by_role("heading", name="Look here")).to_be_visible()
    expect(preview).to_contain_text("<img src=x")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_no_page_scrolls_sideways(
    visit: Callable[..., Visit], stage: Stage, width: int, scheme: str
) -> None:
    stage.python(
        "from annotations.campaigns.actions import invitations, setup\nfrom annotations.models "
        "import CorpusVersion\nversion = CorpusVersion.objects.get(corpus__slug='hostile')\nasked "
        "= setup.CampaignParams(name='Newcomer ' + 'w' * 150, kind='turn', slug='newcomer-wide', "
        "version=version,\n                    systems=list(version.systems.all()))\ncampaign = "
        "setup.create(asked)\nsetup.write_guidelines(campaign, 'w' * 300 + '\\n\\n| ' + ' | "
        "'.join('abcdefghij' * 2) + ' |')\ninvitations.invite(campaign, 'n' * 190)"
    )
    visitor = visit(width=width, scheme=scheme, role="organiser")
    for part in ("", "settings/", "guidelines/", "checks/", "preview/", "plan/"):
        visitor.go(f"/campaigns/newcomer-wide/{part}")
        assert visitor.scroll_width() <= width, part
    visitor.go("/campaigns/")
    assert visitor.scroll_width() <= width


def test_a_form_stays_as_it_is_when_a_choice_in_it_finds_the_organiser_logged_out(
    visit: Callable[..., Visit],
) -> None:
    visitor = visit(role="organiser")
    page = visitor.go("/campaigns/new/")
    page.get_by_label("Name", exact=True).fill("Typed before the session ended")
    page.context.clear_cookies(name="sessionid")
    visitor.expected_status = {401}
    page.get_by_role("radio", name="a system's responses in a whole dialogue").check()
    expect(page.get_by_role("alert")).to_contain_text("You are logged out.")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Typed before the session ended")
    # Htmx's own
    visitor.complaints = [one for one in visitor.complaints if "Error Code 401" not in one]


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_questions_are_edited_with_the_raters_page_beside_them(
    visit: Callable[..., Visit], stage: Stage, width: int, scheme: str
) -> None:
    """From a template to a saved form: what is typed is shown at once, faults stand at their
    question, and the YAML says the same."""
    stage.python(
        "from annotations.campaigns.actions import setup\nfrom annotations.models import "
        "CorpusVersion\nversion = CorpusVersion.objects.get(corpus__slug='demo')\n"
        "setup.create(setup.CampaignParams(name='Newcomer asks', kind='turn', "
        "slug='newcomer-asks', version=version, systems=list(version.systems.all())))"
    )
    visitor = visit(width=width, scheme=scheme, role="organiser")
    page = visitor.go("/campaigns/newcomer-asks/form/?template=usr")
    page.wait_for_load_state("load")
    look, names = page.locator("#form-preview"), page.locator(".question-cards .card-name")
    page.get_by_label("Question", exact=True).fill("Is it <b>clear</b>?")
    expect(look).to_contain_text("Is it <b>clear</b>?")
    page.get_by_label("Key in files").fill("natural")
    expect(page.locator("#faults-1")).to_contain_text("both have the key natural")
    page.get_by_label("Key in files").fill("clear")
    expect(page.locator("#faults-1")).to_be_empty()
    page.get_by_role("button", name="Move question 1 down").click()
    expect(names).to_have_text(
        ["Natural", "Understandable", "Maintains context", "Engaging", "Uses knowledge", "Overall"]
    )
    expect(page.locator("#down-1")).to_be_focused()
    page.get_by_role("button", name="Edit question 3").click()
    page.locator("#when-0").select_option("clear")
    page.locator(".compared").get_by_label("no", exact=True).check()
    expect(look.locator("[data-when]")).to_have_count(1)
    page.get_by_role("button", name="Duplicate").click()
    expect(names).to_have_count(7)
    page.get_by_role("button", name="Remove").click()
    expect(names).to_have_count(6)
    assert visitor.scroll_width() <= width
    page.get_by_role("button", name="YAML").click()
    expect(page.get_by_label("Questions, as YAML")).to_have_value(re.compile("key: clear"))
    page.get_by_role("button", name="Editor").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").first).to_contain_text("The questions are stored")
    assert visitor.scroll_width() <= width
