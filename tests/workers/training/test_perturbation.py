"""Answers made ungrammatical: what each kind may do to the words, and what it may not."""

from __future__ import annotations

from collections import Counter

import pytest

from workers.training.core.negatives import perturbed, stream

SAID = "have you thought about the cost of it"


def made(response: str, seed: int = 0) -> tuple[str, str, str]:
    order, drop, repeat = perturbed(response, 3, stream(seed))
    return order, drop, repeat


@pytest.mark.parametrize("seed", range(30))
def test_each_kind_does_what_its_name_says(seed: int) -> None:
    order, drop, repeat = made(SAID, seed)
    words = SAID.split()
    assert order != SAID
    assert Counter(order.split()) == Counter(words)
    left = iter(words)
    assert 0 < len(drop.split()) < len(words)
    assert all(word in left for word in drop.split()), "in their order"
    said = repeat.split()
    assert len(words) < len(said) <= 2 * len(words)
    assert [
        word for place, word in enumerate(said) if place == 0 or said[place - 1] != word
    ] == words


def test_kinds_come_in_turn() -> None:
    four = perturbed(SAID, 4, stream(1))
    assert len(four) == 4
    assert Counter(four[3].split()) == Counter(SAID.split())


@pytest.mark.parametrize("response", ["Sure.", "  no   no no ", "?!"])
def test_what_a_kind_cannot_change_is_repeated(response: str) -> None:
    order, drop, repeat = made(response)
    plain = " ".join(response.split())
    assert plain not in (order, drop, repeat)
    assert set(order.split()) == set(plain.split())
    assert len(order.split()) > len(plain.split())


def test_a_word_always_stays() -> None:
    assert {made("so what", seed)[1] for seed in range(40)} == {"so", "what"}


def test_about_a_quarter_of_the_words_is_dropped() -> None:
    left = [len(made(" ".join(f"w{n}" for n in range(40)), seed)[1].split()) for seed in range(200)]
    assert sum(left) / (200 * 40) == pytest.approx(0.75, abs=0.02)


def test_the_seed_decides() -> None:
    assert made(SAID, 4) == made(SAID, 4) != made(SAID, 5)
    assert perturbed(SAID, 0, stream(0)) == []


def test_without_words_there_is_nothing_to_change() -> None:
    with pytest.raises(ValueError, match="without words"):
        perturbed("  ", 1, stream(0))
