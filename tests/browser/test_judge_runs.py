"""An organiser lets a judge loose on a corpus: estimate, budget, start, stop, go on. On a site of
its own, whose judge is an endpoint on loopback: real HTTP, a real worker, no model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.stage import write_hostile_corpus
from tests.browser.visit import NARROW, WIDE, Held, Visit, visitors
from tests.conftest import made_site
from tests.judges.loopback_server import KEY, Loopback, loopback_server
from tests.site import Site

MODEL = "judge-a"
RESPONSES = 45
"""Of the hostile corpus: 3 systems at 5 turns of 3 dialogues."""
TAKES = 240_000
"""Milliseconds for a worker to come to the end of something, on a busy machine."""


@dataclass(frozen=True)
class JudgedSite:
    site: Site
    address: str
    endpoint: Loopback


@pytest.fixture(scope="module")
def judged(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JudgedSite]:
    with loopback_server() as endpoint, made_site(tmp_path_factory.mktemp("judged-site")) as site:
        site.settings |= {
            "DIALEVAL_LLM_URL": endpoint.base_url,
            "DIALEVAL_LLM_MODEL": MODEL,
            "DIALEVAL_LLM_KEY": KEY,
            "DIALEVAL_LLM_PRICES": f"{MODEL}=1/10",
            "DIALEVAL_LLM_CONCURRENCY": "2",
            "DIALEVAL_LLM_RETRIES": "0",
        }
        site.python(
            "from dialeval_site.demo import site as demo\nfor one in demo.DEMO_ACCOUNTS: demo.make_account(one)"
        )
        write_hostile_corpus(site.home / "hostile.jsonl")
        site.manage("import_corpus", "jsonl", site.home / "hostile.jsonl", "--slug", "hostile")
        site.start_worker()
        yield JudgedSite(site, site.start_web(), endpoint)


@pytest.fixture
def visit(chromium: Browser, judged: JudgedSite) -> Iterator[Callable[..., Visit]]:
    """Organisers, where a test does not say who."""
    with visitors(chromium, judged.address) as begin:
        yield lambda **who: begin(**{"role": "organiser", **who})


def estimate(page: Page, seed: int) -> Locator:
    """The form, with the estimate of a judge that no other test has: its answers are not in the
    store."""
    form = page.locator("#judge-start")
    form.get_by_label("Judge", exact=True).select_option("cpdscore_detail")
    form.get_by_label("Model", exact=True).select_option(MODEL)
    form.locator("[name=scoring]").select_option("expected")
    form.get_by_text("Another wording, other options").click()
    form.get_by_label("Other options").fill(f"seed={seed}")
    form.get_by_role("button", name="Estimate").click()
    expect(form.locator(".estimate-sentence")).to_be_visible()
    return form


def test_while_an_estimate_is_awaited_nothing_else_of_the_form_can_be_changed(
    visit: Callable[..., Visit],
) -> None:
    """The form comes anew with it, as it was when it was asked for."""
    page = visit().go("/corpora/hostile/judges/")
    form = page.locator("#judge-start")
    form.get_by_label("Model", exact=True).select_option(MODEL)
    late = Held(page, "**/estimate/*")
    with page.expect_request("**/estimate/*"):
        form.get_by_role("button", name="Estimate").click()
    model = form.get_by_label("Model", exact=True)
    model.focus()
    expect(model).not_to_be_focused()
    late.request(0).continue_()
    expect(form.locator(".estimate-sentence")).to_be_visible()
    expect(page.locator("[inert]")).to_have_count(0)


@pytest.mark.slow
def test_an_estimate_then_a_run_that_the_page_follows_to_its_end(
    visit: Callable[..., Visit], judged: JudgedSite
) -> None:
    judged.endpoint.reset()
    page = visit().go("/corpora/hostile/judges/")
    form = estimate(page, seed=1)
    sentence = form.locator(".estimate-sentence")
    expect(sentence).to_contain_text(
        re.compile(r"^3 dialogues of 3 systems, \d+ calls, (about \$|less than a cent)")
    )
    calls = int(re.findall(r"(\d+) calls", sentence.inner_text())[0])
    assert judged.endpoint.log() == []  # nothing was asked for it
    form.get_by_role("button", name="Start", exact=True).click()
    name = f"cpdscore_detail[model={MODEL},seed=1]"
    expect(page.locator(".judge-card")).to_contain_text(name)
    expect(page.locator(".judge-state")).to_contain_text(re.compile(r"^\s*done"), timeout=TAKES)
    expect(page.locator(".judge-state")).to_contain_text("3 of 3 systems done")
    # Two systems that say the same are one call
    assert len(judged.endpoint.log()) == calls <= RESPONSES
    page.reload()
    assert page.locator("#table-judges tbody tr").count() >= 1


@pytest.mark.slow
def test_a_budget_that_is_spent_is_raised_and_the_judge_goes_on(
    visit: Callable[..., Visit], judged: JudgedSite
) -> None:
    judged.endpoint.reset()
    page = visit(width=NARROW, scheme="dark").go("/corpora/hostile/judges/")
    form = estimate(page, seed=2)
    form.get_by_label("Tokens").fill("3000")
    form.get_by_role("button", name="Start", exact=True).click()
    card = page.locator(".judge-card").filter(has_text="seed=2")
    expect(card).to_contain_text("The budget is spent.", timeout=TAKES)
    page.reload()  # the fields beside the part that renews itself
    before = len(judged.endpoint.log())
    assert before > 0
    card.get_by_label("Tokens").fill("9000000")
    card.get_by_role("button", name="Save and resume").click()
    expect(card.locator(".judge-state")).to_contain_text("3 of 3 systems done", timeout=TAKES)
    asked = [(one["request"], one["seed"]) for one in judged.endpoint.log() if one["paid"]]
    assert len(asked) == len(set(asked)) > before  # nothing was paid for twice


@pytest.mark.slow
def test_stopped_and_let_go_on_without_javascript(
    visit: Callable[..., Visit], judged: JudgedSite
) -> None:
    judged.endpoint.reset()
    judged.endpoint.control(seconds=1.0)
    page = visit(script=False).go("/corpora/hostile/judges/")
    form = estimate(page, seed=3)
    form.get_by_role("button", name="Start", exact=True).click()
    card = page.locator(".judge-card").filter(has_text="seed=3")
    card.get_by_role("button", name="Stop").click()
    expect(card).to_contain_text("Stopped by organiser")
    judged.endpoint.control(seconds=0.0)
    card.get_by_role("button", name="Go on").click()
    expect(page.locator(".messages")).to_contain_text("What was answered is not asked again.")
    for _ in range(90):
        if "3 of 3 systems done" in card.inner_text():
            break
        page.wait_for_timeout(1000)
        page.reload()
    expect(card).to_contain_text("3 of 3 systems done")
    asked = [(one["request"], one["seed"]) for one in judged.endpoint.log() if one["paid"]]
    assert len(asked) == len(set(asked))


@pytest.mark.slow
def test_an_endpoint_that_is_down_is_said_in_its_words_and_without_its_key(
    visit: Callable[..., Visit], judged: JudgedSite
) -> None:
    judged.endpoint.reset()
    judged.endpoint.control(default={"do": "unauthorized"})
    page = visit().go("/corpora/hostile/judges/")
    form = estimate(page, seed=4)
    form.get_by_role("button", name="Start", exact=True).click()
    card = page.locator(".judge-card").filter(has_text="seed=4")
    expect(card).to_contain_text("The judge gave up.", timeout=TAKES)
    assert KEY not in page.content()
    expect(card.get_by_role("button", name="Go on")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_every_state_stands_whole_in_its_window(
    visit: Callable[..., Visit], width: int, scheme: str
) -> None:
    visitor = visit(width=width, scheme=scheme)
    visitor.go("/corpora/hostile/judges/")
    assert visitor.scroll_width() <= width
