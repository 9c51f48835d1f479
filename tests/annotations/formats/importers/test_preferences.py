"""Preferences: pairs, completions, battles, judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    DialogueRecord,
    PreferenceRecord,
    RatingRecord,
    ResponseRecord,
)
from tests.annotations.formats.importers.helpers import lines_of, of_type, problems, read

ASK = {"role": "user", "content": "Hot?"}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    "record",
    [
        {"prompt": "Hot?", "chosen": "Yes.", "rejected": "No."},
        {"prompt": [ASK], "chosen": [said("Yes.")], "rejected": [said("No.")]},
        {"prompt": "Hot?", "chosen": [ASK, said("Yes.")], "rejected": [ASK, said("No.")]},
        {"chosen": [ASK, said("Yes.")], "rejected": [ASK, said("No.")]},
        {
            "chosen": "\n\nHuman: Hot?\n\nAssistant: Yes.",
            "rejected": "\n\nHuman: Hot?\n\nAssistant: No.",
        },
    ],
)
def test_a_pair_of_any_shape_is_two_responses_and_a_vote(
    tmp_path: Path, record: dict[str, Any]
) -> None:
    records = read("preferences", lines_of(tmp_path, [record]))
    (dialogue,) = of_type(records, DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [("user", "Hot?")]
    assert [(one.system, one.text) for one in of_type(records, ResponseRecord)] == [
        ("chosen", "Yes."),
        ("rejected", "No."),
    ]
    assert of_type(records, PreferenceRecord) == [
        PreferenceRecord("1", 0, "chosen", "rejected", "a", "dataset")
    ]


def test_scores_and_models_of_a_pair_have_their_places(tmp_path: Path) -> None:
    record = {
        "prompt": "Hot?",
        "chosen": "Yes.",
        "rejected": "No.",
        "source": "s",
        "score_chosen": 4,
        "score_rejected": 1.5,
        "chosen_model": "x",
        "rejected_model": "y",
    }
    records = read("preferences", lines_of(tmp_path, [record]))
    assert of_type(records, RatingRecord) == [
        RatingRecord("1", 0, "x", "dataset", "score", 4.0),
        RatingRecord("1", 0, "y", "dataset", "score", 1.5),
    ]
    assert of_type(records, DialogueRecord)[0].metadata == {"source": "s"}


def test_a_model_against_itself_has_two_samples(tmp_path: Path) -> None:
    record = {
        "prompt": "Hot?",
        "chosen": "Yes.",
        "rejected": "No.",
        "chosen_model": "x",
        "rejected_model": "x",
        "score_chosen": 4,
        "score_rejected": 1,
    }
    records = read("preferences", lines_of(tmp_path, [record]))
    (vote,) = of_type(records, PreferenceRecord)
    assert (vote.sample_a, vote.sample_b) == (0, 1)
    # A rating names no sample: the score of the second one is kept beside it.
    assert [one.score for one in of_type(records, RatingRecord)] == [4.0]
    assert of_type(records, DialogueRecord)[0].metadata == {"score_rejected": 1.0}


def test_answers_of_several_turns_are_compared_as_conversations(tmp_path: Path) -> None:
    more = {"role": "user", "content": "And now?"}
    chosen = [ASK, said("Yes."), more, said("Still.")]
    rejected = [ASK, said("No."), more, said("Now.")]
    records = read("preferences", lines_of(tmp_path, [{"chosen": chosen, "rejected": rejected}]))
    (dialogue,) = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Hot?", "And now?"]
    assert [turn.after for turn in dialogue.turns] == [1, 2]
    assert [(one.turn, one.system, one.text) for one in of_type(records, ResponseRecord)] == [
        *((0, "chosen", "Yes."), (1, "chosen", "Still.")),
        *((0, "rejected", "No."), (1, "rejected", "Now.")),
    ]
    assert of_type(records, PreferenceRecord)[0].turn is None


def battle(**fields: Any) -> dict[str, Any]:
    return {
        "question_id": "q",
        "model_a": "x",
        "model_b": "y",
        "winner": "model_a",
        "judge": "ann",
        "conversation_a": [ASK, said("Yes.")],
        "conversation_b": [ASK, said("No.")],
        "turn": 1,
        **fields,
    }


@pytest.mark.parametrize(
    ("winner", "preferred"),
    [("model_a", "a"), ("model_b", "b"), ("tie", "tie"), ("tie (bothbad)", "both_bad")],
)
def test_a_battle_is_a_vote_on_two_conversations(
    tmp_path: Path, winner: str, preferred: str
) -> None:
    path = lines_of(tmp_path, [battle(winner=winner, anony=True)])
    (vote,) = of_type(read("chatbot-arena", path), PreferenceRecord)
    assert (vote.turn, vote.preferred, vote.rater) == (None, preferred, "ann")


def test_a_conversation_is_held_once_however_many_vote_on_it(tmp_path: Path) -> None:
    other = battle(model_a="y", model_b="x", judge="bob", winner="tie")
    other |= {"conversation_a": [ASK, said("No.")], "conversation_b": [ASK, said("Yes.")]}
    again = battle(winner="model_b")
    records = read("mt-bench-human", lines_of(tmp_path, [battle(), other, again]))
    assert [(one.system, one.sample) for one in of_type(records, ResponseRecord)] == [
        ("x", 0),
        ("y", 0),
    ]
    assert [
        (one.turn, one.system_a, one.preferred, one.rater, one.aspect)
        for one in of_type(records, PreferenceRecord)
    ] == [
        (0, "x", "a", "ann", "overall"),
        (0, "y", "tie", "bob", "overall"),
        (0, "x", "b", "ann", "overall (vote 2)"),
    ]


def test_conversations_that_ask_different_things_are_not_compared(tmp_path: Path) -> None:
    other = [{"role": "user", "content": "Cold?"}, said("No.")]
    (found,) = problems("chatbot-arena", lines_of(tmp_path, [battle(conversation_b=other)]))
    assert found.startswith(
        "file.jsonl:1: conversation_b: asks something else than another conversation of question"
    )


def test_what_a_judge_did_not_decide_is_left_out_and_reported(tmp_path: Path) -> None:
    pair = {"question_id": 1, "model_1": "x", "model_2": "y", "judge": ["j", "pair"], "turn": 1}
    rows: list[dict[str, Any]] = [
        {"question_id": 1, "category": "c", "turns": ["Hot?"], "reference": ["Yes."]},
        {"question_id": 1, "model_id": "x", "choices": [{"turns": ["Yes."]}]},
        {"question_id": 1, "model_id": "y", "choices": [{"turns": ["No."]}]},
        {"question_id": 1, "model": "x", "judge": ["j", "single-v1"], "score": -1, "turn": 1},
        {**pair, "g1_winner": "model_1", "g2_winner": "error"},
    ]
    reported = Problems("file.jsonl")
    path = lines_of(tmp_path, rows)
    records = list(importers()["mt-bench"].read_with(path, "", reported, None))
    assert reported.skipped_count == 2
    assert not of_type(records, RatingRecord)
    (vote,) = of_type(records, PreferenceRecord)
    assert (vote.preferred, vote.metadata) == ("a", {"judge_prompt": "pair", "game": 1})
    (dialogue,) = of_type(records, DialogueRecord)
    assert dialogue.turns[0].references == ("Yes.",)
    assert dialogue.metadata == {"category": "c"}


def test_a_completion_is_scored_one_or_zero(tmp_path: Path) -> None:
    records = read(
        "unpaired-preferences",
        lines_of(
            tmp_path,
            [
                {"prompt": "Hot?", "completion": "Yes.", "label": True},
                {"prompt": "Hot?", "completion": "No.", "label": False},
            ],
        ),
    )
    assert [(one.dialogue_id, one.score) for one in of_type(records, RatingRecord)] == [
        ("1", 1.0),
        ("2", 0.0),
    ]


@pytest.mark.parametrize(
    ("chosen", "rejected", "before"),
    [
        # The common beginning is the prompt, but each keeps its last message
        (["hi", "ok", "yes"], ["hi", "ok", "no"], ["hi", "ok"]),
        (["hi", "ok"], ["hi", "ok"], ["hi"]),
        (["hi", "yes"], ["hi", "no", "more", "no"], ["hi"]),
        (["yes"], ["no"], []),
    ],
)
def test_the_common_beginning_of_two_chats_is_what_stands_before_both(
    tmp_path: Path, chosen: list[str], rejected: list[str], before: list[str]
) -> None:
    roles = ("user", "assistant")

    def chat(texts: list[str]) -> list[dict[str, str]]:
        last = [{"role": "assistant", "content": texts[-1]}]
        return [{"role": roles[at % 2], "content": one} for at, one in enumerate(texts[:-1])] + last

    path = lines_of(tmp_path, [{"chosen": chat(chosen), "rejected": chat(rejected)}])
    [dialogue] = of_type(read("preferences", path), DialogueRecord)
    assert [one.text for one in dialogue.messages[: len(before)]] == before
    assert dialogue.turns[0].after == len(before)


def test_an_answer_that_does_not_repeat_the_prompt_stays_whole(tmp_path: Path) -> None:
    prompt = [{"role": "user", "content": "Hot?"}]
    said = [*prompt, {"role": "assistant", "content": "No."}]
    other = [{"role": "user", "content": "Cold?"}, {"role": "assistant", "content": "Yes."}]
    path = lines_of(tmp_path, [{"prompt": prompt, "chosen": said, "rejected": other}])
    found = of_type(read("preferences", path), ResponseRecord)
    leads = [one.metadata.get("before") for one in found]
    assert leads == [[{"role": "user", "content": one}] for one in ("Hot?", "Cold?")]
