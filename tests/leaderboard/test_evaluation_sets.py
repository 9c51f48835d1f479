"""``subset`` cuts evaluation sets by a score; ``cases`` puts scores on one scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from leaderboard.reproduction.evaluation_sets import (
    Cut,
    RatedLower,
    TooFewError,
    rated_lower_as_a_whole,
    scaled,
)
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated

SCORES = {("d", turn, system): float(turn) for turn in range(4) for system in ("echo", "dull")}
"""Turns 0 to 3, which are the scores, by two systems."""


def test_the_highest_are_chosen_and_of_equals_the_earlier() -> None:
    chosen = Cut(highest=3).of(SCORES)
    assert chosen == [("d", 2, "echo"), ("d", 3, "echo"), ("d", 3, "dull")]


def test_scores_from_one_end_and_below_another_are_chosen() -> None:
    assert {turn for _, turn, _ in Cut(at_least=1, below=3).of(SCORES)} == {1, 2}


def test_a_balanced_draw_has_as_many_of_every_system_by_its_seed() -> None:
    drawn = Cut(below=3, draw=4, balanced=True, seed=1).of(SCORES)
    assert sorted(system for _, _, system in drawn) == ["dull", "dull", "echo", "echo"]
    assert drawn == Cut(below=3, draw=4, balanced=True, seed=1).of(SCORES)
    assert len({tuple(Cut(below=3, draw=4, seed=seed).of(SCORES)) for seed in range(9)}) > 1


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (Cut(highest=9), "8 responses fulfil the conditions; 9 are asked for"),
        (Cut(below=1, draw=3), "2 responses fulfil"),
        (Cut(below=1, draw=3, balanced=True), "1 responses of echo fulfil .*; 2 are"),
        (Cut(at_least=9, draw=1, balanced=True), "0 responses fulfil"),
    ],
)
def test_too_few_are_refused(cut: Cut, message: str) -> None:
    with pytest.raises(TooFewError, match=message):
        cut.of(SCORES)


def test_scores_are_put_between_the_worst_and_the_best_with_their_ranks() -> None:
    """0, 2, 2, 10: 2 is at 2/10; the two in the middle have rank 2.5 of 4. What is missing does not
    count."""
    found = scaled(np.array([[0.0, 2.0, np.nan], [2.0, 10.0, np.nan]]))
    nan = pytest.approx(np.nan, nan_ok=True)
    assert found.shares.tolist() == [[0, pytest.approx(0.2), nan], [pytest.approx(0.2), 1, nan]]
    assert found.rank_shares.tolist() == [[0.25, 0.625, nan], [0.625, 1, nan]]


def test_of_a_distance_the_smallest_is_at_the_upper_end() -> None:
    found = scaled(np.array([3.0, 7.0]), higher_is_better=False)
    assert (found.shares.tolist(), found.rank_shares.tolist()) == ([1, 0], [1, 0.5])


def test_equal_scores_have_no_place_on_a_scale() -> None:
    found = scaled(np.array([2.0, 2.0]))
    assert np.isnan(found.shares).all()
    assert found.rank_shares.tolist() == [0.75, 0.75]


def test_dialogues_below_the_mean_of_their_turns_are_found() -> None:
    """d: turns 0 to 3, mean 1.5; as a whole echo has 1, dull 2."""
    dialogues = {("d", -1, "echo"): 1.0, ("d", -1, "dull"): 2.0, ("e", -1, "echo"): 0.0}
    assert rated_lower_as_a_whole(SCORES, dialogues) == [RatedLower("d", "echo", 1.5, 1.0)]


# --- the commands ---------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_subset_is_a_corpus_with_its_ratings(rated: Rated, tmp_path: Path, capsys) -> None:
    rated(FOUR_RESPONSES, of_dialogues={("d0", "echo"): 3})
    target = tmp_path / "high.jsonl"
    call_command("subset", "small", "--by", "length", "--highest", "2", "--to", str(target))
    assert "2 of 4 responses, mean length 3.500; dull 1, echo 1" in capsys.readouterr().out
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    given = [(row["dialogue_id"], row["system"]) for row in rows if row["type"] == "response"]
    assert given == [("d0", "dull"), ("d1", "echo")]
    assert [row["score"] for row in rows if row["type"] == "rating"] == [4, 2]
    assert [row["id"] for row in rows if row["type"] == "dialogue"] == ["d0", "d1"]
    call_command("import_corpus", "jsonl", str(target), "--slug", "high")


@pytest.mark.django_db
def test_a_subset_by_people_s_scores(rated: Rated, tmp_path: Path, capsys) -> None:
    rated(FOUR_RESPONSES)
    target = tmp_path / "positive.jsonl"
    call_command("subset", "small", "--by", "human", "--at-least", "3", "--to", str(target))
    assert "2 of 4 responses, mean human score (overall) 3.500" in capsys.readouterr().out


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "length"], "say which"),
        (["--by", "length", "--highest", "1", "--balanced"], "--balanced is for --draw"),
        (["--by", "length", "--at-least", "9"], "no response fulfils"),
        (["--by", "length", "--highest", "5"], "4 responses fulfil"),
        (["--by", "word_f1", "--highest", "1"], "word_f1 has no scores of responses of small"),
        (["--by", "lengt", "--highest", "1"], "lengt"),
        (["--by", "length,word_f1", "--highest", "1"], "names no single metric"),
    ],
)
def test_what_makes_no_subset_is_refused_and_writes_nothing(
    rated: Rated, tmp_path: Path, arguments: list[str], message: str
) -> None:
    rated(FOUR_RESPONSES)
    target = tmp_path / "none.jsonl"
    with pytest.raises(CommandError, match=message):
        call_command("subset", "small", *arguments, "--to", str(target))
    assert not target.exists()
    target.write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        call_command("subset", "small", "--by", "human", "--draw", "1", "--to", str(target))
    assert target.read_text() == "mine"


@pytest.mark.django_db
def test_cases_have_scores_on_one_scale_with_their_rank_shares(rated: Rated, capsys) -> None:
    """Of human scores 1 to 4 and lengths 1, 3, 2, 4 the response of d1 has 2 and 3: on 0 to 1 ⅓ and
    ⅔, ranks 2 and 3 of 4."""
    rated(FOUR_RESPONSES)
    capsys.readouterr()
    options: dict[str, Any] = {"corpus": "small", "metrics": "length", "scale": "0-1"}
    call_command("cases", **options, dialogue="d1", format="json")
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert (case["system"], case["response"]) == ("echo", "xxx")
    human, length = case["scores"]
    assert (human["score"], human["value"], human["rank_share"]) == (2, pytest.approx(1 / 3), 0.5)
    assert (length["of"], length["value"]) == ("length", pytest.approx(2 / 3))
    call_command("cases", **options, draw=2)
    assert capsys.readouterr().out.count("rank share") == 2


@pytest.mark.django_db
def test_dialogues_rated_lower_are_listed(rated: Rated, capsys) -> None:
    """Turns of d0: echo 1, dull 4; as wholes 2 and 1.5, so dull's alone is lower, by 2.5."""
    rated(FOUR_RESPONSES, of_dialogues={("d0", "echo"): 2, ("d0", "dull"): 1.5})
    capsys.readouterr()
    call_command("cases", corpus="small", rated_lower=5, format="json")
    document = json.loads(capsys.readouterr().out)
    (one,) = document["dialogues"]
    assert (one["system"], one["difference"], document["of"]) == ("dull", 2.5, 2)
    call_command("cases", corpus="small", rated_lower=5)
    assert "2.500" in capsys.readouterr().out


@pytest.mark.django_db
def test_cases_without_what_they_need_are_refused(rated: Rated) -> None:
    rated(FOUR_RESPONSES)
    with pytest.raises(CommandError, match="nobody rated dialogues of small"):
        call_command("cases", corpus="small", rated_lower=5)
    with pytest.raises(CommandError, match=r"no.* a dialogue d9"):
        call_command("cases", corpus="small", dialogue="d9")
