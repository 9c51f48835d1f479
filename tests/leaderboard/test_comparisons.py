"""The stored comparisons of all metrics, what would separate systems, and ``manage.py compare``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotations.models import CorpusVersion
from leaderboard.pages.systems.query import separating
from leaderboard.queries.comparisons import (
    compared_pairs,
    comparisons,
    default_test,
    permutations_for,
)
from leaderboard.queries.pair_tests import pair_tests
from leaderboard.results import json_form
from tests.leaderboard.conftest import Rated
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(rated: Rated) -> CorpusVersion:
    """Three systems in four dialogues of two turns; lengths and human scores at random, but
    seeded."""
    random = np.random.default_rng(5)
    places = {
        (f"d{dialogue}", turn, system): (float(random.integers(1, 6)), int(random.integers(1, 30)))
        for dialogue in range(4)
        for turn in range(2)
        for system in ("echo", "dull", "sharp")
    }
    version = rated(places, metrics="length,short_only,constant")
    # In place of what it said of the few short ones
    for run in MetricRun.objects.filter(metric="short_only"):
        scores = random.normal(size=8).tolist()
        MetricRun.objects.filter(pk=run.pk).update(
            turn_scores=scores, system_score=float(np.mean(scores))
        )
    return version


def test_every_pair_has_its_difference_and_three_p(version: CorpusVersion) -> None:
    document = comparisons(version, "overall", "turn")
    assert (document.test, document.permutations) == ("jackknife-dialogues", 0)
    assert document.population == "other dialogues with these 3 systems"
    found = document.coefficients["pearson"]
    names = document.metrics
    tested = {(names[i], names[j]): rest for i, j, *rest in found.pairs}
    assert len(tested) == 3
    defined = [rest for rest in tested.values() if rest[1] is not None]
    assert len(defined) == 1
    ((_, p, p_holm, p_bh, permutations),) = defined
    assert (p_holm, p_bh, permutations) == (p, p, 0)  # one pair is left: nothing to correct for
    assert found.undefined == {"constant": "all metric scores are equal"}
    assert found.groups["constant"] == ()
    assert set(document.not_compared) == {"spearman", "kendall"}


def test_a_named_test_is_that_of_two_metrics(version: CorpusVersion) -> None:
    document = compared_pairs(
        version,
        "overall",
        "turn",
        ["length", "short_only"],
        test="perm-input",
        permutations=200,
        seed=3,
    )
    (pair,) = document.coefficients["pearson"].pairs
    (row,) = pair_tests(
        version,
        "overall",
        ["length", "short_only"],
        ["turn"],
        ["pearson"],
        permutations=200,
        seed=3,
    )["rows"]
    assert pair[3] == row["tests"]["perm-input"]["value"]
    assert pair[2] == pytest.approx(row["difference"]["value"])
    assert document.population == "other dialogues with these 3 systems"


def test_the_system_level_of_few_systems_is_of_these(version: CorpusVersion) -> None:
    document = comparisons(version, "overall", "system")
    assert document.test == "jackknife-dialogues"
    assert set(document.coefficients) == {"pearson"}
    assert "fewer than 10 systems" in document.not_compared["kendall"]


def test_with_ten_systems_others_are_meant_too() -> None:
    assert default_test("turn", 10) == "jackknife-both"
    assert default_test("system", 10) == "perm-sys"
    assert default_test("system", 9) == "jackknife-dialogues"


def test_holm_can_reject_with_so_many_permutations() -> None:
    for pairs in (1, 190, 780):
        assert pairs / (1 + permutations_for(pairs)) < 0.05


def test_nobody_rated(version: CorpusVersion) -> None:
    document = comparisons(version, "unheard of", "turn")
    assert (document.metrics, document.coefficients) == ((), {})
    assert document.not_compared["pearson"] == "nobody rated at the turn level"
    assert separating(version, "unheard of").reason == "nobody rated"


def test_neighbours_on_the_board_and_what_would_separate_them(version: CorpusVersion) -> None:
    document = separating(version, "overall")
    json.dumps(json_form(document), allow_nan=False)
    pairs = document.pairs
    assert len(pairs) == 2
    assert pairs[0].worse == pairs[1].better
    assert all(pair.difference is not None and pair.difference >= 0 for pair in pairs)
    assert all(pair.dialogues == 4 for pair in pairs)
    # One rating each: nothing says how far raters differ.
    assert all("not known one by one" in pair.reason for pair in pairs if pair.difference)


@pytest.fixture
def compare(version: CorpusVersion, capsys):
    def run(*arguments: str) -> str:
        capsys.readouterr()
        call_command("compare", "--corpus", "small", *arguments)
        return capsys.readouterr().out

    return run


def test_compare_prints_one_document(compare) -> None:
    document = json.loads(
        compare(
            "--metrics",
            "length,short_only",
            "--coefficient",
            "all",
            "--permutations",
            "20",
            "--format",
            "json",
        )
    )
    assert document["metrics"] == ["length", "short_only"]
    assert [(row["level"], row["coefficient"]) for row in document["rows"]] == [
        (level, name)
        for level in ("turn", "dialogue", "system")
        for name in ("pearson", "spearman", "kendall")
    ]
    turn = document["rows"][0]
    assert set(turn["tests"]) == {
        "perm-sys",
        "perm-input",
        "perm-both",
        "jackknife-dialogues",
        "jackknife-both",
    }
    assert (turn["advised"], turn["population"]) == (
        "jackknife-dialogues",
        "other dialogues with these 3 systems",
    )
    assert "williams" in document["rows"][6]["tests"]


def test_compare_turned_round_changes_the_sign_alone(compare) -> None:
    arguments = ("--level", "turn", "--permutations", "50", "--format", "json")
    (one,) = json.loads(compare("--metrics", "length,short_only", *arguments))["rows"]
    (other,) = json.loads(compare("--metrics", "short_only,length", *arguments))["rows"]
    assert one["difference"]["value"] == pytest.approx(-other["difference"]["value"])
    assert one["tests"]["perm-both"] == other["tests"]["perm-both"]


def test_compare_as_a_table_marks_the_advised_test(compare) -> None:
    header, _, *rows = compare(
        "--metrics", "length,short_only", "--level", "turn", "--permutations", "50"
    ).splitlines()
    assert header.split("  ")[0] == "level"
    assert sum(cell.endswith("*") for cell in rows[0].split()) == 1


def test_a_constant_metric_has_no_p(compare) -> None:
    rows = json.loads(
        compare("--metrics", "length,constant", "--permutations", "20", "--format", "json")
    )["rows"]
    assert all(
        test["value"] is None and test["reason"] for row in rows for test in row["tests"].values()
    )


@pytest.mark.parametrize("metrics", ["length", "length,short_only,constant", "length,unheard_of"])
def test_compare_refuses_what_is_not_two_metrics(compare, metrics: str) -> None:
    with pytest.raises(CommandError):
        compare("--metrics", metrics)
