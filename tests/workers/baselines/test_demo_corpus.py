"""The demo corpus as it lies in the project: whole, labelled as simulated, and with ratings that
look like ratings."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import krippendorff
import numpy as np
import pytest

from workers.baselines.build_demo import DEMO_FILE
from workers.baselines.demo_source import SOURCE_FILE, read_source
from workers.baselines.features import share_copied, shares_repeated

SYSTEMS = [
    "gold",
    "second-human",
    "smollm2-persona",
    "smollm2",
    "retrieval",
    "echo",
    "dull",
    "verbose",
]


@cache
def records(type_name: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in DEMO_FILE.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["type"] == type_name]


def ratings(level: str) -> list[dict[str, Any]]:
    return [
        rating for rating in records("rating") if (rating["turn"] is None) == (level == "dialogue")
    ]


def mean_of(system: str, level: str) -> float:
    return fmean(rating["score"] for rating in ratings(level) if rating["system"] == system)


def alpha(level: str) -> float:
    items = sorted({(r["dialogue_id"], r["turn"], r["system"]) for r in ratings(level)})
    raters = sorted({r["rater"] for r in ratings(level)})
    scores = np.full((len(raters), len(items)), np.nan)
    for r in ratings(level):
        scores[
            raters.index(r["rater"]), items.index((r["dialogue_id"], r["turn"], r["system"]))
        ] = r["score"]
    return float(krippendorff.alpha(scores, level_of_measurement="ordinal"))


def test_it_says_that_it_is_simulated() -> None:
    (corpus,) = records("corpus")
    assert corpus["simulated"] is True
    assert "simulated" in corpus["name"]
    assert len(records("rater")) == 6
    assert all("simulated" in rater["name"] for rater in records("rater"))


def test_every_system_answers_every_turn_once() -> None:
    assert [system["name"] for system in records("system")] == SYSTEMS
    said = Counter((r["dialogue_id"], r["turn"], r["system"]) for r in records("response"))
    assert len(said) == 8 * 7 * 8  # dialogues × turns × systems
    assert set(said.values()) == {1}


def test_a_response_is_one_line_of_text() -> None:
    assert all(
        response["text"].strip() and "\n" not in response["text"]
        for response in records("response")
    )


@pytest.mark.parametrize(("level", "items"), [("turn", 448), ("dialogue", 64)])
def test_three_raters_judge_each_item(level: str, items: int) -> None:
    raters = defaultdict(set)
    for rating in ratings(level):
        raters[rating["dialogue_id"], rating["turn"], rating["system"]].add(rating["rater"])
    assert len(raters) == items
    assert {len(names) for names in raters.values()} == {3}
    assert len(ratings(level)) == 3 * items


@pytest.mark.parametrize("level", ["turn", "dialogue"])
def test_agreement_looks_like_peoples(level: str) -> None:
    assert 0.4 < alpha(level) < 0.8


def test_people_stand_above_machines_and_a_persona_helps() -> None:
    means = {system: mean_of(system, "turn") for system in SYSTEMS}
    assert min(means["gold"], means["second-human"]) > max(means[name] for name in SYSTEMS[2:])
    assert means["smollm2-persona"] > means["smollm2"]
    assert max(means["echo"], means["dull"]) < means["smollm2"]


def test_it_is_small() -> None:
    assert DEMO_FILE.stat().st_size < 400_000


def test_the_source_is_eight_dialogues_of_seven_turns() -> None:
    dialogues = read_source()
    assert len(dialogues) == 8
    assert all(len(d.record.turns) == len(d.second_person) == 7 for d in dialogues)
    last = dialogues[0].record.turns[6]
    assert len(last.context) == 13  # seven of A's, six of B's
    assert last.references == (dialogues[0].gold[6],)


def test_a_source_with_a_missing_answer_is_refused_by_name(tmp_path: Path) -> None:
    entries = json.loads(SOURCE_FILE.read_text(encoding="utf-8"))
    entries[2]["second_person"].pop()
    (tmp_path / "broken.json").write_text(json.dumps(entries), encoding="utf-8")
    with pytest.raises(ValueError, match=entries[2]["id"]):
        read_source(tmp_path / "broken.json")


def test_share_copied_counts_runs_of_three_words_or_more() -> None:
    # "is that your" is a run of three of the six words; "boat" alone is shared, but no run.
    assert share_copied("is that your own big boat", "Is that your red boat?") == pytest.approx(
        3 / 6
    )


def test_shares_repeated_are_of_the_others() -> None:
    assert shares_repeated(["yes", "no", "yes"]) == [0.5, 0.0, 0.5]
