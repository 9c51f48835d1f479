"""The judge inspector in the browser, on a corpus whose every text is hostile; by script and
without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.for_everybody import violations
from tests.browser.stage import HOSTILE_TEXTS, write_hostile_corpus
from tests.browser.visit import NARROW, WIDE, Visit, visitors
from tests.conftest import made_site

LIST, HYGIENE = "/corpora/hostile/judges/inspect/", "/corpora/hostile/judges/hygiene/"

JUDGED = f"""
from annotations.models import System, Turn
from tests.leaderboard.judged import asked, judged_run
from workers.metrics.common.judge_samples import JudgeTrace
texts = {HOSTILE_TEXTS!r}
for system in System.objects.filter(version__corpus__slug="hostile"):
    turns = Turn.objects.filter(dialogue__version=system.version).count()
    traces = {{}}
    for place in range(turns - 1):
        text = texts[place % len(texts)]
        key = asked(f"judge {{system.pk}} {{place}}: {{text}}", [f"{{text}} - Humanness: {{1 + place % 5}}"] * 2)
        traces[place] = JudgeTrace(key, (4.0, 2.0), injections=(text,) if place < 3 else (), kept=3.0, removed=2.0)
    scores = [1.0 + (place + system.position) % 5 for place in range(turns - 1)] + [None]
    judged_run(system, scores, traces, undefined={{turns - 1: texts[0]}}, remarks={{1: texts[1]}})
"""


@pytest.fixture(scope="module")
def address(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its judge is done; the worker computes what the pages show of it."""
    with made_site(tmp_path_factory.mktemp("inspected-site")) as site:
        site.python(
            "from dialeval_site.demo import site as demo\nfor one in demo.DEMO_ACCOUNTS: demo.make_account(one)"
        )
        write_hostile_corpus(site.home / "hostile.jsonl")
        site.manage("import_corpus", "jsonl", site.home / "hostile.jsonl", "--slug", "hostile")
        site.python(JUDGED)
        site.start_worker()
        yield site.start_web()


@pytest.fixture
def visit(chromium: Browser, address: str) -> Iterator[Callable[..., Visit]]:
    with visitors(chromium, address) as begin:
        yield begin


@pytest.mark.slow
def test_a_row_opens_to_its_prompt_and_answers_where_it_stands(visit: Callable[..., Visit]) -> None:
    one = visit()
    one.go(LIST)
    row = one.page.locator(".inspector-list > li").first
    row.locator("summary", has_text="Prompt and answers").click()
    expect(row.get_by_text("Sent to smollm2-135m-instruct")).to_be_visible()
    expect(row.locator(".raw-answers li")).to_have_count(2)
    assert one.page.title() != "taken over"


def test_filters_stand_in_the_address(visit: Callable[..., Visit]) -> None:
    one = visit()
    one.go(LIST)
    one.page.get_by_label("Only").select_option("without a score")
    one.page.get_by_role("button", name="Show", exact=True).click()
    one.page.wait_for_url("**only=undefined**")
    # The last turn of each system
    expect(one.page.locator(".inspector-list > li")).to_have_count(3)
    expect(one.page.get_by_label("Only")).to_have_value("undefined")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_hostile_texts_are_text_and_fit(
    visit: Callable[..., Visit], width: int, scheme: str
) -> None:
    one = visit(width=width, scheme=scheme, role="organiser")
    for place in (LIST, f"{LIST}?only=injections", f"{LIST}0/?system=0&turn=0", HYGIENE):
        page = one.go(place)
        one.see_everything()
        assert page.title() != "taken over"
        assert one.scroll_width() <= width, place
        assert violations(page) == [], place


def test_without_script_a_row_leads_to_a_page_of_its_own(visit: Callable[..., Visit]) -> None:
    one = visit(script=False)
    one.go(LIST)
    row = one.page.locator(".inspector-list > li").first
    row.locator("summary", has_text="Prompt and answers").click()
    row.get_by_role("link", name="Open on a page of its own").click()
    expect(one.page.get_by_text("Sent to smollm2-135m-instruct")).to_be_visible()
