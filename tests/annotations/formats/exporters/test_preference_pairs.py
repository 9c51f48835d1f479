"""Pairs of a chosen and a rejected response, from preferences and from ratings."""

from __future__ import annotations

import json
from pathlib import Path

from annotations.formats.exporters.preference_pairs import pairs
from annotations.formats.exporters.registry import exporters
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    Message,
    PreferenceRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)


def corpus(*judgements: Record) -> list[Record]:
    """Three systems answer ``hi``, in a persona dialogue; each says its own name."""
    turn = TurnRecord(0, (Utterance("A", "hi"),))
    return [
        CorpusRecord(aspects=("overall", "fluent")),
        *(SystemRecord(name) for name in "abc"),
        DialogueRecord("d", ("i cook",), (), (turn,)),
        *(ResponseRecord("d", 0, name, name) for name in "abc"),
        *judgements,
    ]


def test_a_preference_gives_the_response_that_was_chosen_and_the_other() -> None:
    [pair] = pairs(corpus(PreferenceRecord("d", 0, "a", "b", "b", "ann", "fluent")))
    assert pair == {
        "prompt": [{"role": "system", "content": "i cook"}, {"role": "user", "content": "hi"}],
        "chosen": [{"role": "assistant", "content": "b"}],
        "rejected": [{"role": "assistant", "content": "a"}],
        "dialogue_id": "d",
        "turn": 0,
        "system_chosen": "b",
        "system_rejected": "a",
        "source": "preference",
        "aspect": "fluent",
        "rater": "ann",
    }


def test_ties_and_comparisons_of_whole_dialogues_give_none() -> None:
    judgements = [
        PreferenceRecord("d", 0, "a", "b", "tie", "ann"),
        PreferenceRecord("d", 0, "a", "c", "both_bad", "ann"),
        PreferenceRecord("d", None, "a", "b", "a", "ann"),
    ]
    assert list(pairs(corpus(*judgements))) == []


def test_ratings_give_the_best_and_the_worst_mean_of_the_main_aspect() -> None:
    given = {"a": (2.0, 3.0), "b": (5.0, 4.0), "c": (1.0, 2.0)}  # means 2.5, 4.5, 1.5
    ratings = [
        RatingRecord("d", 0, system, rater, "overall", score)
        for system, scores in given.items()
        for rater, score in zip(("ann", "bob"), scores, strict=True)
    ]
    other = RatingRecord("d", 0, "c", "ann", "fluent", 5.0)
    [pair] = pairs(corpus(*ratings, other))
    assert (pair["system_chosen"], pair["system_rejected"], pair["source"]) == ("b", "c", "ratings")
    assert (pair["score_chosen"], pair["score_rejected"]) == (4.5, 1.5)


def test_equal_means_give_no_pair() -> None:
    same = [RatingRecord("d", 0, system, "ann", "overall", 3.0) for system in "ab"]
    assert list(pairs(corpus(*same))) == []


def test_a_prompt_holds_the_messages_before_the_turn_with_their_roles(tmp_path: Path) -> None:
    messages = (
        Message("system", "Be brief."),
        Message("user", "Hi", name="Kari"),
        Message("narrator", "It rains."),
        Message("assistant", "the answer that was given"),
    )
    records = [
        CorpusRecord(),
        SystemRecord("a"),
        SystemRecord("b"),
        DialogueRecord("d", (), (), (TurnRecord(0, after=3),), messages),
        ResponseRecord("d", 0, "a", "A"),
        ResponseRecord("d", 0, "b", "B"),
        PreferenceRecord("d", 0, "a", "b", "a", "ann"),
    ]
    exporters()["dpo"].export(records, tmp_path)
    [line] = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi", "name": "Kari"},
        {"role": "user", "content": "It rains.", "name": "narrator"},
    ]
