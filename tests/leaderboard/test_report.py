"""The report is one file that holds what the pages hold, says how it was made, and asks nothing of
any network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations.models import Corpus, System
from leaderboard.answers.metrics import MetricCorrelations
from leaderboard.pages.report.contents import contents_of
from leaderboard.pages.report.html import html_of
from leaderboard.pages.report.method import method_of
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated
from tests.leaderboard.written_answers import comparisons_from, correlations_from

pytestmark = pytest.mark.django_db

EIGHT = {
    (f"d{number}", turn, system): (
        (number + turn + place) % 5 + 1,
        3 * number + turn + 2 * place + 1,
    )
    for number in range(4)
    for turn in range(2)
    for place, system in enumerate(("echo", "dull"))
}
"""Four dialogues of two turns, two systems, all rated."""


def report_of(rated: Rated, folder: Path, places: dict = EIGHT, **options: object) -> str:
    rated(places)
    call_command("report", "small", to=folder, **options)
    (file,) = folder.iterdir()
    return file.read_text(encoding="utf-8")


def words_of(html: str) -> str:
    """What a reader sees: without scripts, styles and marks."""
    body = html[html.index("<body>") :]
    return re.sub(r"<[^>]*>", " ", re.sub(r"<script.*?</script>", "", body, flags=re.S))


def test_it_says_what_the_board_says(rated: Rated, tmp_path: Path) -> None:
    """r of the four responses is 0.8 (see conftest); each dialogue has one turn, so its level would
    say the same."""
    words = words_of(report_of(rated, tmp_path / "out", FOUR_RESPONSES))
    assert re.search(r"length correlates best with human ratings at turn level: r = 0\.80", words)
    assert "dialogue level says the same and is left out" in words
    assert "Metrics and human ratings, dialogue level" not in words


def test_a_corpus_of_longer_dialogues_has_every_level(rated: Rated, tmp_path: Path) -> None:
    words = words_of(report_of(rated, tmp_path / "out"))
    assert all(
        f"Metrics and human ratings, {level} level" in words
        for level in ("turn", "dialogue", "system")
    )


def test_nothing_in_it_comes_from_elsewhere(rated: Rated, tmp_path: Path) -> None:
    html = report_of(rated, tmp_path / "out")
    page = re.sub(r"<script.*?</script>", "", html, flags=re.S)
    assert re.findall(r'\s(?:src|href)="(?!#)[^"]*"', page) == []
    assert "@import" not in page
    assert not re.search(r"url\(\s*['\"]?(?!data:)", page)
    assert "default-src 'none'" in page


def test_the_site_s_own_links_and_boxes_to_tick_are_left_out(rated: Rated, tmp_path: Path) -> None:
    page = re.sub(r"<script.*?</script>", "", report_of(rated, tmp_path / "out"), flags=re.S)
    assert "<input" not in page
    assert 'href="?' not in page


def test_every_table_can_be_copied_as_latex(rated: Rated, tmp_path: Path) -> None:
    html = report_of(rated, tmp_path / "out")
    assert html.count(r"\begin{tabular}") == html.count("This table as LaTeX") >= 4


def test_a_hostile_name_is_words_in_it(rated: Rated, tmp_path: Path) -> None:
    version = rated(EIGHT)
    evil = "</script><script>alert(1)</script>"
    System.objects.filter(version=version, name="dull").update(name=evil)
    Corpus.objects.filter(pk=version.corpus_id).update(name=f"{evil}<!--")
    version.refresh_from_db()
    html = html_of(contents_of(version, version.main_aspect))
    assert "<script>alert(1)" not in html
    assert html.count("<script>") == 3  # the library, the site's two
    assert "&lt;script&gt;alert(1)" in html


def test_a_withheld_system_is_not_in_it(rated: Rated, tmp_path: Path) -> None:
    version = rated(EIGHT)
    System.objects.filter(version=version, name="dull").update(withheld=True)
    assert "dull" not in words_of(html_of(contents_of(version, version.main_aspect)))


def test_without_ratings_it_says_what_is_missing(rated: Rated, tmp_path: Path) -> None:
    words = words_of(
        report_of(
            rated, tmp_path / "out", {place: (None, length) for place, (_, length) in EIGHT.items()}
        )
    )
    assert "Nobody has rated" in words
    assert "None: no metric is compared with human ratings here." in words


def test_what_is_there_already_is_kept_unless_told_otherwise(rated: Rated, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report_of(rated, out)
    (file,) = out.iterdir()
    file.write_text("mine")
    with pytest.raises(CommandError, match="is there already; --force replaces it"):
        call_command("report", "small", to=out)
    assert file.read_text() == "mine"
    call_command("report", "small", to=out, force=True)
    assert file.read_text().startswith("<!doctype html>")
    assert [one.name for one in out.iterdir()] == [file.name]


def test_a_folder_that_cannot_be_made_is_said_before_the_work(rated: Rated, tmp_path: Path) -> None:
    rated(FOUR_RESPONSES)
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="file"):
        call_command("report", "small", to=tmp_path / "file" / "out")


def test_an_unknown_corpus_or_aspect_is_answered_with_those_that_exist(
    rated: Rated, tmp_path: Path
) -> None:
    rated(FOUR_RESPONSES)
    with pytest.raises(CommandError, match="small"):
        call_command("report", "other", to=tmp_path / "out")
    with pytest.raises(CommandError, match="overall"):
        call_command("report", "small", to=tmp_path / "out", aspect="Charm")
    assert not (tmp_path / "out").exists()


# --- the method section says what was done, and nothing else --------------------------------------

ROW = {"metric": "length", "level": "turn"}


def correlated(*rows: dict[str, Any]) -> MetricCorrelations:
    return correlations_from(
        aspect="Overall",
        systems=["a", "b"],
        seed=3,
        rows=rows,
        interval={"turn": "by jackknife"},
    )


def headings(method: object) -> list[str]:
    return [heading for heading, _ in method.paragraphs]


def test_what_was_not_done_is_not_in_the_method() -> None:
    method = method_of(correlated(), {}, {}, None)
    assert headings(method) == ["Systems", "Missing and undefined"]
    assert method.cited == []


def test_intervals_are_told_in_the_words_that_came_with_them() -> None:
    method = method_of(correlated(ROW), {}, {}, None)
    assert (
        dict(method.paragraphs)["Intervals"]
        == "All intervals are of 95 %. Turn level: by jackknife. Seed 3."
    )
    assert "permutation" not in method.cited


def test_tests_of_pairs_are_told_with_their_numbers() -> None:
    pairs = [[0, 1, 0.1, 0.01, 0.03, 0.02, 9], [0, 2, 0.1, 0.5, 0.5, 0.5, 9]]
    compared = comparisons_from(
        ["a", "b", "c"], {"pearson": {"pairs": pairs}}, method="swaps", permutations=1000
    )
    method = method_of(correlated(ROW), {"turn": compared}, {}, None)
    assert dict(method.paragraphs)["Differences of metrics"].startswith(
        "Swaps. 1,000 permutations, seed 0; 2 pairs at turn level."
    )
    assert {"permutation", "holm"} <= set(method.cited)


def test_a_statistic_is_cited_only_where_it_stands() -> None:
    ties = {"value": 0.5, "epsilon": 0.0, "groups": 1, "pairs": 1}
    with_accuracy = correlated({**ROW, "tie_calibrated_accuracy": ties})
    assert "ties" in method_of(with_accuracy, {}, {}, None).cited
    assert "ties" not in method_of(correlated(ROW), {}, {}, None).cited
