"""Research sets: rated responses, rated conversations, people talking."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
)
from tests.annotations.formats.importers.helpers import (
    file_of,
    lines_of,
    of_type,
    problems,
    read,
)

CONTEXT = "User: Hot?"
LONGER = "User: Hot?\nSystem: Not yet.\nUser: And now?"


def test_a_rated_turn_of_fed_belongs_to_the_conversation_that_begins_so(tmp_path: Path) -> None:
    items = [
        {"context": CONTEXT, "response": "System: Not yet.", "system": "x"}
        | {"annotations": {"Overall": [4, 3]}},
        {"context": LONGER, "response": "System: Yes.", "system": "x"}
        | {"annotations": {"Overall": [2, "N/A (odd)"]}},
        {"context": LONGER, "system": "x", "annotations": {"Overall": [1, 1]}},
    ]
    records = read("fed", file_of(tmp_path, items))
    (dialogue,) = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Hot?", "Not yet.", "And now?", "Yes."]
    assert [(one.turn, one.rater, one.score) for one in of_type(records, RatingRecord)] == [
        *((0, "rater 1", 4.0), (0, "rater 2", 3.0), (1, "rater 1", 2.0)),
        *((None, "rater 1", 1.0), (None, "rater 2", 1.0)),
    ]
    assert of_type(records, LabelRecord) == [
        LabelRecord("1", 1, "x", "rater 2", "comment on Overall", "N/A (odd)")
    ]
    assert {one.kind for one in of_type(records, RaterRecord)} == {"anonymous"}


def test_a_score_outside_the_questionnaire_s_scale_is_refused(tmp_path: Path) -> None:
    item = {"context": LONGER, "system": "x", "annotations": {"Consistent": [2]}}
    (found,) = problems("fed", file_of(tmp_path, [item]))
    assert found.endswith("2 lies outside the scale of 'Consistent', 0 to 1")


def test_one_context_is_one_dialogue_of_dstc10(tmp_path: Path) -> None:
    rows = [
        {"model": model, "context": "hot ?\nor cold ?", "response": text, "reference": "cold ."}
        | {"annotations": {"overall": scores}}
        for model, text, scores in (("x", "hot .", [1, None]), ("y", "cold .", [5]), ("x", "a", []))
    ]
    reported = Problems("file.json")
    path = file_of(tmp_path, rows)
    records = list(importers()["dstc10"].read_with(path, "", reported, None))
    found = of_type(records, ResponseRecord)
    # The second answer of one system to one context is a dialogue of its own.
    assert [(one.dialogue_id, one.system) for one in found] == [("1", "x"), ("1", "y"), ("2", "x")]
    first = of_type(records, DialogueRecord)[0]
    assert [one.text for one in first.messages] == ["hot ?", "or cold ?"]
    assert first.turns[0].references == ("cold .",)
    assert [str(one) for one in reported.skipped] == [
        "file.json: $[0].annotations.overall[1]: is null: no score"
    ]


def test_references_and_facts_of_dstc10_may_be_missing_texts_or_lists(tmp_path: Path) -> None:
    rated = {"dialogue_id": "b", "model": "x", "response": "hot .", "annotations": {"overall": [1]}}
    rows = [
        {**rated, "context": ["hot ?", "or cold ?"], "facts": None},
        {**rated, "context": "rye ?", "reference": ["yes .", " "], "facts": "rye is a grass"},
        {**rated, "context": "oat ?", "reference": "no .", "facts": ["a", "b"], "fact": "a"},
    ]
    found = of_type(read("dstc10", file_of(tmp_path, rows)), DialogueRecord)
    assert [[one.text for one in dialogue.messages] for dialogue in found] == [
        *(["hot ?", "or cold ?"], ["rye ?"], ["oat ?"]),
    ]
    assert [dialogue.turns[0].references for dialogue in found] == [(), ("yes .",), ("no .",)]
    assert [dialogue.knowledge for dialogue in found] == [(), ("rye is a grass",), ("a", "b")]


def test_prefixes_of_conture_are_taken_away_once(tmp_path: Path) -> None:
    turn = {"user": "User: User: who?", "chatbot": "Chatbot: ", "overall impression": 0}
    dialogue = {"dialog_id": 3, "turns": [turn], "dialog_ratings": [{"consistent": 1}]}
    records = read("conture", file_of(tmp_path, [dialogue]))
    (found,) = of_type(records, DialogueRecord)
    assert [one.text for one in found.messages] == ["User: who?", ""]
    assert [(one.turn, one.rater) for one in of_type(records, RatingRecord)] == [
        (0, "majority"),
        (None, "rater 1"),
    ]


def test_experts_and_crowd_are_raters_of_two_kinds(tmp_path: Path) -> None:
    summary = {"id": "a", "decoded": "s", "text": "t", "references": ["r"], "model_id": "m"}
    summary |= {"expert_annotations": [{"fluency": 5}], "turker_annotations": [{"fluency": 3}]}
    records = read("summeval", lines_of(tmp_path, [summary]))
    assert [(one.name, one.kind) for one in of_type(records, RaterRecord)] == [
        ("expert 1", "anonymous"),
        ("turker 1", "anonymous"),
    ]
    assert of_type(records, DialogueRecord)[0].messages[0].role == "source"


def test_persona_and_labels_of_parlai(tmp_path: Path) -> None:
    text = (
        "text:your persona: i bake.\\nhi\tlabels:hello __PIPE__ hi|hey\n"
        "text:bye\teval_labels:bye\tepisode_done:True\n\ntext:alone\tepisode_done:True\n"
    )
    first, second = of_type(read("parlai", file_of(tmp_path, text)), DialogueRecord)
    assert first.persona == ("i bake.",)
    assert [(one.name, one.text) for one in first.messages] == [
        *(("A", "hi"), ("B", "hello | hi"), ("A", "bye"), ("B", "bye"))
    ]
    assert [turn.references for turn in first.turns] == [("hello | hi", "hey"), ("bye",)]
    assert [one.text for one in second.messages] == ["alone"]


def test_a_history_that_does_not_go_on_is_named(tmp_path: Path) -> None:
    utterances = [
        {"history": ["a"], "candidates": ["x", "b"]},
        {"history": ["a", "c", "d"], "candidates": ["e"]},
    ]
    path = file_of(tmp_path, {"train": [{"personality": [], "utterances": utterances}]})
    assert problems("personachat-candidates", path) == [
        "file.json: $.train[0].utterances[1].history: does not go on from the history and answer "
        "before it"
    ]


def test_other_candidates_are_kept_beside_the_dialogue(tmp_path: Path) -> None:
    utterances = [{"history": ["a"], "candidates": ["x", "y", "b"]}]
    path = file_of(tmp_path, {"valid": [{"personality": ["p"], "utterances": utterances}]})
    (dialogue,) = of_type(read("personachat-candidates", path), DialogueRecord)
    assert dialogue.id == "valid-0"
    assert dialogue.metadata == {"split": "valid", "distractors": [["x", "y"]]}
    assert dialogue.turns[0].references == ("b",)


def test_paraphrases_join_their_utterance(tmp_path: Path) -> None:
    (tmp_path / "a_main.csv").write_text("UID,SID,SEG\nX-1-1,B,two\nX-1-0,A,one\n")
    (tmp_path / "a_paraphrases.csv").write_text(
        "UID,SID,SEG,PARAPHRASES,NOTE\nX-1-0,A,one,\"['1', 'un']\",None\n"
    )
    (dialogue,) = of_type(read("dstc11", tmp_path), DialogueRecord)
    assert [(one.speaker, one.text) for one in dialogue.messages] == [("A", "one"), ("B", "two")]
    assert dialogue.messages[0].metadata == {"paraphrases": ["1", "un"]}


def test_grade_s_files_are_joined_by_line(tmp_path: Path) -> None:
    folder = tmp_path / "talk" / "x"
    folder.mkdir(parents=True)
    for name, lines in (("ctx", "a|||b\nc\n"), ("hyp", "r1\n\n"), ("ref", "g1\ng2\n")):
        (folder / f"human_{name}.txt").write_text(lines)
    rows = [
        {"Dataset": "talk_EVAL", "DialogModel": "x", "HumanScores": scores}
        for scores in ("[4, 5]", "[1]")
    ]
    file_of(tmp_path, rows, "human_judgement.json")
    (part,) = survey(importers()["grade-files"], tmp_path)
    assert (part.part, part.counts.dialogues, part.counts.ratings) == ("talk", 2, 3)
    records = read("grade-files", tmp_path, "talk")
    assert [one.text for one in of_type(records, ResponseRecord)] == ["r1", ""]


@pytest.mark.parametrize("name", ["openai-batch", "dstc9", "dstc11", "grade-files", "mt-bench"])
def test_a_folder_without_the_format_s_files_says_so(tmp_path: Path, name: str) -> None:
    (found,) = problems(name, tmp_path)
    assert "holds no" in found


PASSAGE = "The oven is hot at six."


def test_each_question_of_squad_is_a_dialogue_about_its_passage(tmp_path: Path) -> None:
    answers = [{"text": "six", "answer_start": 19}, {"text": "at six"}, {"text": "six"}]
    questions = [
        {"id": "q1", "question": "When?", "answers": answers, "is_impossible": False},
        {"id": "q2", "question": "Why?", "answers": [], "is_impossible": True},
    ]
    article = {"title": "Ovens", "paragraphs": [{"context": PASSAGE, "qas": questions}]}
    rows = [
        {"title": "Ovens", "context": PASSAGE, **one, "answers": {"text": [a["text"] for a in all]}}
        for one, all in zip(questions, (answers, []), strict=True)
    ]
    for path in (
        file_of(tmp_path, {"version": "2.0", "data": [article]}),
        lines_of(tmp_path, rows),
    ):
        first, second = of_type(read(likely_format(path)[0] or "", path), DialogueRecord)
        assert (first.id, first.knowledge) == ("q1", (PASSAGE,))
        assert [one.text for one in first.messages] == ["When?"]
        assert first.turns[0].references == ("six", "at six")
        assert (second.turns[0].references, second.metadata["is_impossible"]) == ((), True)


def test_questions_that_are_asked_in_turn_are_one_dialogue(tmp_path: Path) -> None:
    questions = [{"input_text": "When?", "turn_id": 1}, {"input_text": "Sure?", "turn_id": 2}]
    answered = [{"input_text": "at six", "span_text": "hot at six"}, {"input_text": "yes"}]
    coqa = {
        "id": "c",
        "story": PASSAGE,
        "questions": questions,
        "answers": answered,
        "source": "mctest",
    }
    coqa["additional_answers"] = {"0": [{"input_text": "six"}, {"input_text": "yes"}]}
    turns = [
        {"id": "d_q#0", "question": "When?", "followup": "y", "answers": [{"text": "at six"}]},
        {"id": "d_q#1", "question": "Sure?", "followup": "n", "answers": [{"text": "yes"}]},
    ]
    quac = {"title": "Ovens", "paragraphs": [{"id": "d", "context": PASSAGE, "qas": turns}]}
    for one, name, references in ((coqa, "c", ("at six", "six")), (quac, "d", ("at six",))):
        path = file_of(tmp_path, {"data": [one]})
        [dialogue] = of_type(read(likely_format(path)[0] or "", path), DialogueRecord)
        assert dialogue.id == name
        assert [message.text for message in dialogue.messages] == [
            *("When?", "at six", "Sure?", "yes")
        ]
        assert [(turn.after, turn.references) for turn in dialogue.turns] == [
            (1, references),
            (3, ("yes",)),
        ]
