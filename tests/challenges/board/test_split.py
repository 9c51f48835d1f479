from __future__ import annotations

import hashlib

import pytest

from leaderboard.challenges.board.split import public_count, split_dialogues

IDS = [f"d{number}" for number in range(10)]


def test_the_first_by_hash_are_public() -> None:
    by_hash = sorted(IDS, key=lambda one: hashlib.sha256(f"7|{one}".encode()).digest())
    public = split_dialogues(IDS, 0.3, 7).public.counted
    assert {one for one, is_public in zip(IDS, public, strict=True) if is_public} == set(
        by_hash[:3]
    )


def test_each_dialogue_counts_on_one_board() -> None:
    split = split_dialogues(IDS, 0.4, 1)
    assert (split.public.counted != split.private.counted).all()


def test_the_order_of_the_ids_does_not_matter() -> None:
    forward, back = (
        split_dialogues(IDS, 0.5, 3).public.counted,
        split_dialogues(IDS[::-1], 0.5, 3).public.counted,
    )
    assert (forward == back[::-1]).all()


def test_another_seed_draws_others() -> None:
    draws = {tuple(split_dialogues(IDS, 0.5, seed).public.counted.tolist()) for seed in range(20)}
    assert len(draws) > 10


@pytest.mark.parametrize(
    ("dialogues", "share", "public"),
    [
        (10, 0.5, 5),
        (5, 0.5, 3),
        (15, 0.3, 5),
        (10, 0.001, 1),
        (10, 0.999, 9),
        (2, 0.01, 1),
        (2, 0.99, 1),
    ],
    ids=[
        "half",
        "2.5 rounds up",
        "4.5 rounds up",
        "one at least",
        "one is left",
        "of two",
        "of two, one is left",
    ],
)
def test_how_many_are_public(dialogues: int, share: float, public: int) -> None:
    assert public_count(dialogues, share) == public
    counted = split_dialogues([str(number) for number in range(dialogues)], share, 0).public.counted
    assert counted.sum() == public


def test_with_a_share_of_1_both_boards_count_everything() -> None:
    split = split_dialogues(IDS, 1.0, 0)
    assert split.public.is_everything
    assert split.private.is_everything


def test_with_a_share_of_0_the_public_board_says_why_it_counts_nothing() -> None:
    split = split_dialogues(IDS, 0.0, 0)
    assert not split.public.counted.any()
    assert split.public.reason == "this round shows no scores before the release"
    assert split.private.is_everything


def test_one_dialogue_cannot_be_divided() -> None:
    split = split_dialogues(["d0"], 0.5, 0)
    assert split.public.reason == "the corpus has one dialogue, which cannot be divided"
    assert split.private.is_everything


def test_a_corpus_without_dialogues_has_a_reason_on_both_sides() -> None:
    split = split_dialogues([], 0.5, 0)
    assert split.public.reason == split.private.reason == "the corpus has no dialogues"
    assert not split.private.is_everything


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        split_dialogues(IDS, share, 0)


def test_two_dialogues_with_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="its id alone"):
        split_dialogues(["a", "a"], 0.5, 0)
