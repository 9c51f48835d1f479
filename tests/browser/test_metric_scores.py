"""Handing in a metric's scores in the browser, up to its line on the leaderboard; and the log that
organisers read."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.stage import Stage
from tests.browser.visit import COMPUTED_WITHIN, Visit

CORPUS = "/corpora/scored-elsewhere/"
PAGE = f"{CORPUS}metric-scores/"


@pytest.fixture(scope="module", autouse=True)
def corpus(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A small one: whatever is handed in makes every statistic of its corpus anew."""
    folder = str(tmp_path_factory.mktemp("corpus"))
    stage.python(
        "import pathlib\nfrom tests.dialeval_site.small_corpora import store_corpus\n"
        f"store_corpus(pathlib.Path({folder!r}), 'scored-elsewhere', is_public=True)"
    )
    yield
    stage.python(
        "from annotations.models import Corpus\n"
        "from leaderboard.challenges.models import Submission\n"
        "Submission.objects.filter(version__corpus__slug='scored-elsewhere').delete()\n"
        "Corpus.objects.filter(slug='scored-elsewhere').delete()"
    )


def filled_template(visit: Visit) -> bytes:
    """The template of turn scores as the page offers it, with a score in every row."""
    with visit.page.expect_download() as download:
        visit.page.get_by_label("Template for single responses (turns) as CSV").click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as template:
        rows = list(csv.DictReader(template))
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows({**row, "score": (number * 37) % 101} for number, row in enumerate(rows))
    return file.getvalue().encode()


def hand_in(visit: Visit, name: str, data: bytes) -> None:
    visit.page.get_by_label("File of scores").set_input_files(
        {"name": "my scores.csv", "mimeType": "text/csv", "buffer": data}
    )
    visit.page.get_by_label("Name of the metric").fill(name)
    visit.page.get_by_role("button", name="Submit").click()


@pytest.mark.slow
def test_scores_are_handed_in_and_stand_on_the_leaderboard(visit: Callable[..., Visit]) -> None:
    one = visit(role="participant")
    one.go(PAGE)
    hand_in(one, "letters_of_ann", filled_template(one))
    one.page.wait_for_url("**/submissions/**")
    expect(one.page.get_by_text("The scores are stored as letters_of_ann")).to_be_visible(
        timeout=240_000
    )
    one.go(f"{CORPUS}metrics/?metric=letters_of_ann")  # its part waits for the new numbers
    row = one.page.locator("tr[data-id='metric-letters_of_ann']")
    # The board shows the older ones until then
    newer = one.page.get_by_role("link", name="Show them").first
    row.or_(newer).first.wait_for(timeout=COMPUTED_WITHIN)
    if not row.count():
        newer.click()
    expect(row.locator(".badge", has_text="submitted")).to_be_visible()
    one.go(PAGE)
    one.page.locator("summary", has_text="letters_of_ann").click()
    one.page.get_by_label("Reason").fill("tried out")
    one.page.get_by_role("button", name="Withdraw letters_of_ann").click()
    expect(one.page.get_by_text("letters_of_ann is withdrawn")).to_be_visible()
    expect(one.page.locator("tr[data-id='metric-letters_of_ann']")).to_have_count(0)


def test_a_name_that_is_taken_is_said_beside_the_form(visit: Callable[..., Visit]) -> None:
    one = visit(role="participant", width=390)
    one.go(PAGE)
    one.expected_status = {422}
    hand_in(one, "word_f1", b"system,score\n")
    expect(one.page.get_by_text("word_f1 is a built-in metric")).to_be_visible()
    expect(one.page.get_by_label("Name of the metric")).to_have_value("word_f1")
    assert one.scroll_width() == 390


def test_without_script_the_form_works(visit: Callable[..., Visit]) -> None:
    one = visit(role="participant", script=False)
    one.go(PAGE)
    hand_in(one, "without_script", b"nothing of the kind\n")
    one.page.wait_for_url("**/submissions/**")
    expect(one.page.get_by_role("heading", name="without_script")).to_be_visible()


def test_the_pages_fit_a_phone(visit: Callable[..., Visit]) -> None:
    one = visit(width=390, scheme="dark", role="organiser")
    for path in (PAGE, "/audit/"):
        one.go(path)
        assert one.scroll_width() == 390, path


def test_an_organiser_reads_and_filters_the_log(visit: Callable[..., Visit]) -> None:
    one = visit(role="organiser")
    one.go("/audit/")
    one.page.get_by_label("Action").select_option("corpus.imported")
    one.page.get_by_role("button", name="Show").click()
    expect(one.page.locator(".audit-log .subject", has_text="demo").first).to_be_visible()
    expect(one.page.locator(".audit-log code", has_text="campaign.")).to_have_count(0)
    with one.page.expect_download() as download:
        one.page.get_by_label("Download all entries that are asked for as CSV").click()
    rows = list(
        csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines())
    )
    assert {row["action"] for row in rows} == {"corpus.imported"}
