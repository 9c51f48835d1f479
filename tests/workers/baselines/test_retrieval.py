"""Retrieval: the nearest known answer of another dialogue."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from annotations.formats.records import Utterance
from workers.baselines.base import Place
from workers.baselines.build_demo import DEMO_FILE, answers_of, retrieval_baseline
from workers.baselines.demo_source import read_source
from workers.baselines.simple import KnownAnswer, Retrieval, known_answers, packaged_encode

VECTORS = {
    "Do you bake?": (1.0, 0.0),
    "Bread, daily.": (0.8, 0.6),
    "I sail.": (0.0, 1.0),
    "Cake!": (1.0, 0.0),
}
"""Two dimensions, given by hand, so that every cosine can be read off."""


def by_table(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([VECTORS[text] for text in texts], dtype=np.float32)


def asked(dialogue_id: str) -> Place:
    return Place(dialogue_id, 0, (), (), (Utterance("A", "Do you bake?"),))


def test_takes_the_answer_with_the_largest_cosine() -> None:
    # Cosines 0 and 0.8
    known = [KnownAnswer("one", "I sail."), KnownAnswer("two", "Bread, daily.")]
    assert Retrieval(by_table, known).respond(asked("three")) == "Bread, daily."


def test_never_takes_an_answer_of_the_same_dialogue() -> None:
    known = [KnownAnswer("one", "Cake!"), KnownAnswer("two", "Bread, daily.")]  # cosines 1 and 0.8
    assert Retrieval(by_table, known).respond(asked("one")) == "Bread, daily."


def test_says_so_where_no_other_dialogue_has_an_answer() -> None:
    with pytest.raises(LookupError, match="other than one"):
        Retrieval(by_table, [KnownAnswer("one", "Cake!")]).respond(asked("one"))


def test_known_answers_are_all_gold_answers() -> None:
    dialogues = read_source()
    answers = known_answers([dialogue.record for dialogue in dialogues])
    assert [answer.text for answer in answers[:7]] == list(dialogues[0].gold)
    assert len(answers) == 56


@pytest.mark.slow
def test_the_demo_file_holds_what_retrieval_says() -> None:
    lines = [json.loads(line) for line in DEMO_FILE.read_text(encoding="utf-8").splitlines()]
    in_file = [
        line["text"]
        for line in lines
        if line["type"] == "response" and line["system"] == "retrieval"
    ]
    dialogues = read_source()
    answer_set = answers_of(retrieval_baseline(dialogues, packaged_encode()), dialogues)
    assert [text for answers in answer_set.answers.values() for text in answers] == in_file
