"""Spoilt answers: the paper's examples, what cannot be made, and how an accuracy is counted."""

from __future__ import annotations

import math
import re

import pytest

from annotations.formats.records import Utterance
from workers.training.core.adversarial import (
    Accuracy,
    Spoilt,
    accuracies,
    accuracy,
    repeated,
    speaker_copied,
    spoilt,
)
from workers.training.core.conversations import Pair
from workers.training.core.negatives import stream

TORONTO = (
    Utterance("A", "We're thinking about going to Toronto."),
    Utterance("B", "Have you thought about the cost?"),
)


def answer(dialogue: int, context: tuple[Utterance, ...], response: str) -> Pair:
    return Pair(dialogue, len(context), context, response, persona=())


def answers(count: int) -> list[Pair]:
    return [answer(n, (Utterance("A", f"question {n}"),), f"answer {n}") for n in range(count)]


def test_repetition_is_the_papers_example_where_that_word_is_drawn() -> None:
    made = {repeated("Not yet.", stream(seed)) for seed in range(200)}
    assert "Not yet yet yet yet yet." in made
    assert made == {f"Not{' Not' * n} yet." for n in range(1, 6)} | {
        f"Not yet{' yet' * n}." for n in range(1, 6)
    }


def test_a_word_with_an_apostrophe_or_a_hyphen_is_one_word() -> None:
    made = {repeated("Don't!", stream(seed)) for seed in range(50)}
    assert made == {f"Don't{' Don' + chr(39) + 't'}" + " Don't" * n + "!" for n in range(5)}
    assert (repeated("(well-known)", stream(0)) or "").startswith("(well-known well-known")


@pytest.mark.parametrize("response", ["", "   ", "...", "?!", "___"])
def test_an_answer_without_words_has_nothing_to_repeat(response: str) -> None:
    assert repeated(response, stream(0)) is None


def test_words_of_any_script_are_repeated() -> None:
    assert re.fullmatch(r"привет( привет)+!", repeated("привет!", stream(0)) or "")


def test_the_speakers_copy_is_the_papers_example() -> None:
    assert speaker_copied(TORONTO, "Not yet.") == "Have you thought about the cost? Not yet."
    assert speaker_copied((), "Not yet.") is None
    assert speaker_copied((Utterance("A", "  "),), "Not yet.") is None


def test_each_pair_is_spoilt_once_in_each_kind_in_order() -> None:
    made = spoilt(answers(3), seed=0)
    assert [(one.place, one.kind) for one in made] == [
        (place, kind) for place in range(3) for kind in ("repetition", "speaker", "random")
    ]
    assert made[1].response == "question 0 answer 0"


def test_a_random_answer_is_of_another_dialogue_and_another_text() -> None:
    pairs = [
        answer(0, TORONTO, "Not yet."),
        answer(0, TORONTO, "Of the same dialogue."),
        answer(1, TORONTO, "Not yet."),
        *answers(4)[2:],
    ]
    for seed in range(30):
        (made,) = (one for one in spoilt(pairs, seed, ["random"]) if one.place == 0)
        assert made.response in {"answer 2", "answer 3"}


def test_one_other_answer_among_many_is_found() -> None:
    pairs = [
        *[answer(0, (), f"of the same {n}") for n in range(3000)],
        answer(1, (), "the only other"),
    ]
    assert [one.response for one in spoilt(pairs[-500:], 0, ["random"])][:3] == [
        "the only other"
    ] * 3


def test_what_cannot_be_made_is_left_out() -> None:
    assert (
        spoilt([answer(0, (), "..."), answer(0, (), "Hello.")], seed=0, kinds=["speaker", "random"])
        == []
    )
    assert [one.place for one in spoilt([answer(0, (), "..."), answer(0, (), "Hello.")], 0)] == [1]
    assert spoilt([], seed=0) == []


def test_the_seed_decides_and_other_pairs_do_not() -> None:
    pairs = answers(6)
    assert spoilt(pairs, seed=1) == spoilt(pairs, seed=1)
    assert [one.response for one in spoilt(pairs, 1, ["random"])] != [
        one.response for one in spoilt(pairs, 2, ["random"])
    ]
    alone = spoilt(pairs[4:5], 1, ["repetition"])[0].response
    assert alone == spoilt(pairs, 1, ["repetition"])[4].response


def test_accuracy_counts_answers_that_score_higher_and_ties_as_failures() -> None:
    # 2 > 1; 1 = 1; 0 < 3; not a number is neither.
    counted = accuracy([2.0, 1.0, 0.0, math.nan], [1.0, 1.0, 3.0, 0.0])
    assert counted == Accuracy(4, 1, 1)
    assert counted.share == 0.25
    assert accuracy([], []).share is None
    with pytest.raises(ValueError, match="zip"):
        accuracy([1.0], [])


def test_accuracies_are_counted_by_kind_against_the_pairs_own_answers() -> None:
    scored = [
        (Spoilt(0, "repetition", ""), 0.5),
        (Spoilt(1, "repetition", ""), 0.5),
        (Spoilt(1, "random", ""), -1.0),
    ]
    counted = accuracies([1.0, 0.0], scored)
    assert counted == {
        "repetition": Accuracy(2, 1, 0),
        "speaker": Accuracy(0, 0, 0),
        "random": Accuracy(1, 1, 0),
    }
