"""Published sets of judged answers: PRISM, summaries, Arena-Hard, PandaLM, JudgeLM, WebGPT,
Prometheus, Topical-Chat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RatingRecord,
    ResponseRecord,
)
from tests.annotations.formats.importers.helpers import file_of, lines_of, of_type, problems
from tests.annotations.formats.importers.test_evaluation_logs import recognised, scores, texts


def votes(records: list[Any]) -> list[tuple[str, str, str, str]]:
    return [
        (one.system_a, one.system_b, one.preferred, one.rater)
        for one in of_type(records, PreferenceRecord)
    ]


# --- PRISM ----------------------------------------------------------------------------------------


def answer(turn: int, model: str, score: int, chosen: bool) -> dict[str, Any]:
    return {
        "turn": turn,
        "role": "model",
        "content": f"{model} {turn} {score}",
        "model_name": model,
        "model_provider": "x",
        "score": score,
        "if_chosen": chosen,
        "within_turn_id": 0,
    }


HISTORY = [
    {"turn": 0, "role": "user", "content": "Is it hot?"},
    answer(0, "cook", 20, False),
    answer(0, "baker", 90, True),
    {"turn": 1, "role": "user", "content": "And now?"},
    answer(1, "baker", 30, False),
    answer(1, "baker", 70, True),
]


def test_a_conversation_of_prism_goes_on_with_the_answer_that_was_chosen(tmp_path: Path) -> None:
    path = lines_of(
        tmp_path,
        [
            {
                "conversation_id": "c1",
                "user_id": "user1",
                "conversation_type": "unguided",
                "opening_prompt": "Is it hot?",
                "conversation_history": HISTORY,
                "performance_attributes": {"fluency": 80, "safety": None},
                "open_feedback": "Good.",
            }
        ],
    )
    records = recognised(path)
    [dialogue] = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == [
        "Is it hot?",
        "baker 0 90",
        "And now?",
        "baker 1 70",
    ]
    assert [one.after for one in dialogue.turns] == [1, 3]
    assert dialogue.metadata == {"conversation_type": "unguided", "open_feedback": "Good."}
    assert votes(records) == [("baker", "cook", "a", "user1"), ("baker", "baker", "a", "user1")]
    assert scores(records) == [
        ("c1", 0, "baker", "overall", 90.0),
        ("c1", 0, "cook", "overall", 20.0),
        ("c1", 1, "baker", "overall", 70.0),
        ("c1", None, "baker", "fluency", 80.0),
    ]
    further = of_type(records, ResponseRecord)[-1]
    assert (further.sample, further.metadata["score"]) == (1, 30.0)


def test_utterances_of_prism_are_the_same_conversation(tmp_path: Path) -> None:
    rows = [
        {
            "utterance_id": f"ut{number}",
            "interaction_id": "int1",
            "conversation_id": "c1",
            "user_id": "user1",
            "turn": one["turn"],
            "user_prompt": ("Is it hot?", "And now?")[one["turn"]],
            "model_response": one["content"],
            **{key: one[key] for key in ("model_name", "score", "if_chosen")},
        }
        for number, one in enumerate(one for one in HISTORY if one["role"] == "model")
    ]
    whole = {"conversation_id": "c1", "user_id": "user1", "conversation_history": HISTORY}
    first = recognised(lines_of(tmp_path, rows))
    second = recognised(file_of(tmp_path, [whole]))
    assert (votes(first), scores(first), texts(first)) == (
        votes(second),
        scores(second),
        texts(second),
    )


# --- summaries ------------------------------------------------------------------------------------


def test_summaries_of_one_post_are_compared(tmp_path: Path) -> None:
    info = {"id": "t3_1", "post": "The oven broke.", "title": "Bread", "subreddit": "baking"}
    oven, bread = {"text": "Oven.", "policy": "sup1"}, {"text": "Bread.", "policy": "ref"}
    other = {"text": "Broke.", "policy": "sup1", "note": "Short."}
    worker = {"worker": "w1", "batch": "b", "extra": {"confidence": 8}}
    rows = [
        {"info": info, "summaries": [oven, bread], "choice": 1, **worker},
        {"info": info, "summaries": [bread, other], "choice": 0, **worker},
        {"info": info, "summary": {**bread, "axes": {"overall": 6, "accuracy": None}}, **worker},
    ]
    records = recognised(lines_of(tmp_path, rows))
    [dialogue] = of_type(records, DialogueRecord)
    assert (dialogue.id, dialogue.messages[0].text) == ("t3_1", "The oven broke.")
    assert dialogue.metadata == {"title": "Bread", "subreddit": "baking"}
    assert votes(records) == [("sup1", "ref", "b", "w1"), ("ref", "sup1", "a", "w1")]
    assert [one.sample_b for one in of_type(records, PreferenceRecord)] == [0, 1]
    assert scores(records) == [("t3_1", 0, "ref", "overall", 6.0)]


# --- comparisons in rows --------------------------------------------------------------------------


def test_pandalm_has_a_vote_a_rater_and_both_systems_in_one_field(tmp_path: Path) -> None:
    row = {
        "cmp_key": "opt-7b_pythia-6.9b",
        "instruction": "Name it.",
        "input": "A loaf.",
        "response1": "Bread",
        "response2": "Cake",
        "label_0": "1",
        "label_1": "0",
        "label_2": "2",
    }
    records = recognised(file_of(tmp_path, [row]))
    systems = ("opt-7b", "pythia-6.9b")
    assert votes(records) == [
        (*systems, "a", "label_0"),
        (*systems, "tie", "label_1"),
        (*systems, "b", "label_2"),
    ]
    [dialogue] = of_type(records, DialogueRecord)
    assert dialogue.messages[0].text == "Name it.\nA loaf."
    renamed = {key.replace("label_", "annotator"): value for key, value in row.items()}
    assert [one[2] for one in votes(recognised(file_of(tmp_path, [renamed])))] == ["a", "tie", "b"]


def test_texts_that_pandalm_was_trained_on_are_cut_at_their_headings(tmp_path: Path) -> None:
    given = "Below.\n\n### Instruction:\nSay yes.\n\n### Input:\nHot?\n\n### Response 1:\nYes.\n\n"
    given += "### Response 2:\nNo.\n\n### Evaluation:\n"
    judged = "Tie\n\n### Reason: Both are short.\n\n### Reference: Yes, hot.\n"
    rows = [{"input_sequence": given, "output_sequence": judged, "motivation_app": "Tasty"}]
    records = recognised(file_of(tmp_path, rows))
    assert texts(records) == [("1", "response 1", "Yes."), ("1", "response 2", "No.")]
    assert votes(records) == [("response 1", "response 2", "tie", "dataset")]
    assert of_type(records, PreferenceRecord)[0].comment == "Both are short."
    [dialogue] = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Say yes.\nHot?"]
    assert dialogue.turns[0].references == ("Yes, hot.",)
    rows[0]["output_sequence"] = "3\n\n### Reason: None."
    [found] = problems("pandalm", file_of(tmp_path, rows))
    assert found.endswith("output_sequence: must begin with 1, 2 or Tie, not '3'")


def test_judgelm_prefers_the_higher_of_two_scores(tmp_path: Path) -> None:
    rows = [
        {
            "question_id": n,
            "question_body": f"Is {n} hot?",
            "answer1_body": "No.",
            "answer2_body": "Yes.",
            "answer1_model_id": "baker",
            "answer2_model_id": "cook",
            "score": both,
            "text": "7 5",
        }
        for n, both in enumerate(([7.0, 5.0], [5, 5]))
    ]
    records = recognised(lines_of(tmp_path, rows))
    assert votes(records) == [
        ("baker", "cook", "a", "dataset"),
        ("baker", "cook", "tie", "dataset"),
    ]
    assert [one.score for one in of_type(records, RatingRecord)] == [7.0, 5.0, 5.0, 5.0]


def test_webgpt_has_its_question_in_an_object(tmp_path: Path) -> None:
    rows = [
        {
            "question": {"dataset": "eli5", "id": "q", "full_text": f"Why {n}?"},
            "answer_0": "So.",
            "answer_1": "Thus.",
            "score_0": score,
            "score_1": -score,
            "tokens_0": {"prefix": [1]},
        }
        for n, score in enumerate((1.0, -0.5, 0.0))
    ]
    records = recognised(lines_of(tmp_path, rows))
    assert [one[2] for one in votes(records)] == ["a", "b", "tie"]
    assert [one.messages[0].text for one in of_type(records, DialogueRecord)] == [
        "Why 0?",
        "Why 1?",
        "Why 2?",
    ]


def test_a_signed_preference_is_for_the_first_below_zero(tmp_path: Path) -> None:
    rows = [
        {
            "context": [{"role": "user", "content": f"Hot {n}?"}],
            "response1": "No.",
            "response2": "Yes.",
            "overall_preference": vote,
        }
        for n, vote in enumerate((-3, 1, 0))
    ]
    assert [one[2] for one in votes(recognised(lines_of(tmp_path, rows)))] == ["a", "b", "tie"]


ORIGINAL = {
    "orig_criteria": "Is it polite?",
    "orig_instruction": "Say it.",
    "orig_reference_answer": "Please.",
    "orig_feedback": "Kind.",
    "instruction": "###Task",
    "input": "",
    "output": "Kind. [RESULT] 4",
}


def test_prometheus_is_read_by_what_was_judged(tmp_path: Path) -> None:
    rows = [{**ORIGINAL, "orig_response": "Do.", "orig_score": "4", "orig_score1_description": "x"}]
    records = recognised(lines_of(tmp_path, rows))
    [dialogue] = of_type(records, DialogueRecord)
    assert (dialogue.messages[0].text, dialogue.turns[0].references) == ("Say it.", ("Please.",))
    assert [one.text for one in of_type(records, ResponseRecord)] == ["Do."]
    [rating] = of_type(records, RatingRecord)
    assert (rating.aspect, rating.score, rating.comment) == ("overall", 4.0, "Kind.")


def test_comparisons_of_prometheus(tmp_path: Path) -> None:
    row = {**ORIGINAL, "orig_response_A": "Do.", "orig_response_B": "No.", "orig_preference": "B"}
    records = recognised(lines_of(tmp_path, [row]))
    assert [one[2] for one in votes(records)] == ["b"]
    assert of_type(records, DialogueRecord)[0].messages[0].text == "Say it."


# --- Arena-Hard -----------------------------------------------------------------------------------

PROMPT = (
    "<|User Prompt|>\nIs it hot?\n\n<|The Start of Assistant A's Answer|>\n{}\n"
    "<|The End of Assistant A's Answer|>\n\n<|The Start of Assistant B's Answer|>\n{}\n"
    "<|The End of Assistant B's Answer|>"
)


def games(first: str, second: str) -> list[dict[str, Any]]:
    """The baseline, which says "Hot!", is A in the first game and B in the second."""
    shown = (PROMPT.format("Hot!", "No."), PROMPT.format("No.", "Hot!"))
    return [
        {"user_prompt": prompt, "judgment": f"[[{score}]]", "score": score}
        for prompt, score in zip(shown, (first, second), strict=True)
    ]


def test_arena_hard_finds_the_baseline_by_the_answer_that_was_shown(tmp_path: Path) -> None:
    def write(name: str, row: dict[str, Any]) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row) + "\n")

    question = {"question_id": "q1", "category": "hard", "turns": [{"content": "Is it hot?"}]}
    write("question.jsonl", question)
    for model, text in (("baker", "No."), ("gpt-4-0314", "Hot!")):
        choices = [{"index": 0, "turns": [{"content": text, "token_len": 2}]}]
        row = {"question_id": "q1", "model_id": model, "choices": choices}
        write(f"model_answer/{model}.jsonl", row)
    judged = {"question_id": "q1", "model": "baker", "judge": "judge-1"}
    write("model_judgment/judge-1/baker.jsonl", {**judged, "games": games("B>>A", "A=B")})
    records = recognised(tmp_path)
    assert votes(records) == [
        ("gpt-4-0314", "baker", "b", "judge-1"),
        ("baker", "gpt-4-0314", "tie", "judge-1"),
    ]
    assert of_type(records, PreferenceRecord)[0].metadata == {"game": 1, "verdict": "B>>A"}
    assert len(texts(records)) == 2


def test_judgments_of_arena_hard_alone_hold_what_was_judged(tmp_path: Path) -> None:
    row = {"uid": "q1", "category": "hard", "judge": "judge-1", "model": "baker", "baseline": "o3"}
    records = recognised(lines_of(tmp_path, [{**row, "games": games("A>B", "A>B")}]))
    assert votes(records) == [("o3", "baker", "a", "judge-1"), ("baker", "o3", "a", "judge-1")]
    assert texts(records) == [("q1", "o3", "Hot!"), ("q1", "baker", "No.")]
    assert of_type(records, DialogueRecord)[0].messages[0].text == "Is it hot?"


# --- Topical-Chat ---------------------------------------------------------------------------------


def test_partners_of_topical_chat_rate_each_other(tmp_path: Path) -> None:
    said = [
        {"message": "Old ovens!", "agent": "agent_1", "turn_rating": "Good", "sentiment": "Happy"},
        {"message": "How old?", "agent": "agent_2", "turn_rating": ""},
    ]
    chat = {"config": "A", "content": said, "conversation_rating": {"agent_1": "Excellent"}}
    records = recognised(file_of(tmp_path, {"t_1": chat}))
    [dialogue] = of_type(records, DialogueRecord)
    assert [(one.name, one.text) for one in dialogue.messages] == [
        ("agent_1", "Old ovens!"),
        ("agent_2", "How old?"),
    ]
    assert [(one.rater, one.value, one.message) for one in of_type(records, LabelRecord)] == [
        ("agent_2", "Good", 0),
        ("agent_1", "Excellent", None),
    ]
