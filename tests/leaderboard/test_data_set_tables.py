"""``tables agreement`` and ``tables benchmarks``: rated data, published and here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaderboard.reproduction.data_sets import AGREEMENT
from leaderboard.reproduction.published import band
from tests.annotations.stored import dialogue, rated_corpus, stored

pytestmark = pytest.mark.django_db


def test_the_printed_means_are_those_of_the_printed_pairs() -> None:
    """(.6896 + .6035 + .6434) / 3 = .6455 and (.4496 + .5547 + .6315) / 3 = .5453, printed to two
    digits as .65 and .55."""
    for one in AGREEMENT[:2]:
        assert sum(one.pairs) / 3 == pytest.approx(one.value, abs=0.006)


@pytest.mark.parametrize(
    ("value", "name"),
    [(-0.1, "below 0"), (0.39, "fair"), (0.4, "moderate"), (0.65, "substantial"), (0.8, "almost")],
)
def test_a_coefficient_has_its_band(value: float, name: str) -> None:
    assert band(value).startswith(name)


def two_raters(tmp_path: Path, slug: str) -> None:
    """Of four responses two raters give 1, 1, 2, 2 and 1, 1, 2, 1."""
    places = [(f"d{number}", 0, "echo") for number in range(4)]
    scores = zip((1, 1, 2, 2), (1, 1, 2, 1), strict=True)
    stored(
        rated_corpus(
            [dialogue(name) for name, _, _ in places],
            dict.fromkeys(places, "yes"),
            {place: {"ann": a, "bob": b} for place, (a, b) in zip(places, scores, strict=True)},
        ),
        tmp_path,
        slug,
    )


def test_our_kappa_stands_beside_the_printed_one_with_both_bands(tmp_path: Path, capsys) -> None:
    """3 of 4 agree; by chance (2/4 · 3/4 + 2/4 · 1/4) = 1/2: κ = (3/4 − 1/2) / (1/2) = 1/2."""
    two_raters(tmp_path, "mine")
    call_command("tables", "agreement", "--corpora", "cmn-dailydialog=mine", "--format", "json")
    first, second, *_ = json.loads(capsys.readouterr().out)["rows"]
    assert first["published"]["band"] == "substantial"
    assert (first["ours"]["value"], first["ours"]["band"]) == (pytest.approx(0.5), "moderate")
    assert first["ours"]["pairs"] == [pytest.approx(0.5)]
    assert "no corpus" in second["ours"]["reason"]
    call_command("tables", "agreement", "--corpora", "cmn-dailydialog=mine")
    assert "moderate" in capsys.readouterr().out


def test_kappa_is_of_the_aspect_that_is_asked_for(tmp_path: Path, capsys) -> None:
    two_raters(tmp_path, "mine")
    here = ("tables", "agreement", "--corpora", "cmn-dailydialog=mine")
    call_command(*here, "--aspect", "Overall", "--format", "json")
    assert json.loads(capsys.readouterr().out)["rows"][0]["aspect"] == "overall"
    call_command(*here, "--aspect", "coherence", "--format", "json")
    first, *_ = json.loads(capsys.readouterr().out)["rows"]
    assert first["ours"]["reason"].startswith("mine has no aspect 'coherence'")


def test_alpha_is_of_turns_and_of_dialogues(tmp_path: Path, capsys) -> None:
    """Deviations square to 1 in one pair of four: D_o = 1/4 · 1; of 8 values five are 1 and three
    2:
    D_e = 2 · 15 / (8 · 7) = 15/28, α = 1 − (1/4) / (15/28) = 8/15."""
    two_raters(tmp_path, "comperdial")
    call_command("tables", "agreement", "--format", "json")
    *_, turns, dialogues = json.loads(capsys.readouterr().out)["rows"]
    assert (turns["published"]["value"], turns["ours"]["value"]) == (0.56, pytest.approx(8 / 15))
    assert dialogues["ours"]["value"] is None


def test_sizes_of_benchmarks_stand_above_those_of_our_corpora(tmp_path: Path, capsys) -> None:
    two_raters(tmp_path, "mine")
    call_command("tables", "benchmarks", "--format", "json")
    document = json.loads(capsys.readouterr().out)
    assert len(document["rows"]) == 9
    (mine,) = document["corpora"]
    assert (mine["corpus"], mine["turns"], mine["dialogues"], mine["systems"]) == ("mine", 4, 0, 1)
    call_command("tables", "benchmarks")
    assert "10,395" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["agreement", "--corpora", "usr=x"], "the papers have no corpus usr"),
        (["agreement", "--format", "latex"], "is printed as a table or json"),
        (["agreement", "--exclude", "echo"], "--exclude is not for agreement"),
        (["benchmarks", "--exclude", "x"], "--exclude is not for benchmarks"),
        (["cmn", "--format", "svg"], "--format svg is for fbd"),
        (["cmn", "--corpus", "nowhere"], "the paper has no corpus nowhere"),
        (["cpdscore", "--model", "a,b"], "several models are for fbd"),
        (["fbd", "--aspect", "overall", "--corpus", "dailyz"], "--corpus is for the six corpora"),
    ],
)
def test_what_a_table_cannot_do_is_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("tables", *arguments)
