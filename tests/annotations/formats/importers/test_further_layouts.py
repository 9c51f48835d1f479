"""Layouts of chats, ranks and tables that people hold: Slack, FaithDial, numbered turns, chat
templates, printed lists, pandas' JSON."""

from __future__ import annotations

import gzip
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.chat_templates import templated
from annotations.formats.importers.python_values import MAX_LENGTH, python_list
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RatingRecord,
    ResponseRecord,
)
from tests.annotations.formats.importers.helpers import file_of, lines_of, of_type, problems
from tests.annotations.formats.importers.test_evaluation_logs import recognised, scores, texts
from tests.annotations.formats.importers.test_variant_layouts import messages_of, table_of

# --- chats ----------------------------------------------------------------------------------------


def slack_in(folder: Path) -> Path:
    users = [{"id": "U1", "real_name": "Ann B", "profile": {"display_name": "ann"}}, {"id": "U2"}]
    ann = {"type": "message", "user": "U1"}
    first = [
        {**ann, "subtype": "channel_join", "text": "joined", "ts": "1704103200.1"},
        {**ann, "text": "Hot?", "ts": "1704103201.1", "thread_ts": "1704103201.1"},
        {**ann, "text": "Rye &amp; oats", "ts": "1704103202.1"},
    ]
    bot = {"type": "message", "bot_id": "B1", "username": "oven", "subtype": "bot_message"}
    second = [
        {**ann, "user": "U2", "text": "<@U1> <http://x.org|no>", "ts": "1704189601.1"}
        | {"thread_ts": "1704103201.1"},
        {**bot, "text": "180 C", "ts": "1704189602.1"},
    ]
    (folder / "general").mkdir()
    file_of(folder, users, "users.json")
    file_of(folder / "general", first, "2024-01-01.json")
    file_of(folder / "general", second, "2024-01-02.json")
    return folder


def test_threads_and_days_of_slack_are_conversations(tmp_path: Path) -> None:
    records = recognised(slack_in(tmp_path))
    found = {
        one.id: [(message.name, message.text) for message in one.messages]
        for one in of_type(records, DialogueRecord)
    }
    assert found == {
        "general 1704103201.1": [("ann", "Hot?"), ("U2", "@ann no")],
        "general 2024-01-01": [("ann", "Rye & oats")],
        "general 2024-01-02": [("oven", "180 C")],
    }
    assert texts(records) == [("general 2024-01-02", "oven", "180 C")]


def test_numbered_columns_are_the_turns_of_a_conversation(tmp_path: Path) -> None:
    heads = ["bot_1", "user_1", "user_2", "bot_2", "quality_2", "rating", "rater"]
    rows = [
        ["Hi.", "", "Hot?", "No.", "3", "4", "ann"],
        ["Hi.", "", "Hot?", "No.", "2", "1", "bob"],
    ]
    records = recognised(table_of(tmp_path, heads, *rows))
    assert messages_of(records) == [("assistant", "Hi."), ("user", "Hot?"), ("assistant", "No.")]
    assert {
        (one.turn, one.rater, one.aspect, one.score) for one in of_type(records, RatingRecord)
    } == {
        *((1, "ann", "quality", 3.0), (None, "ann", "rating", 4.0)),
        *((1, "bob", "quality", 2.0), (None, "bob", "rating", 1.0)),
    }


def test_a_second_conversation_under_one_id_is_a_fault(tmp_path: Path) -> None:
    rows = [["a", "Hot?", "No.", "Now?"], ["a", "Rye?", "Yes.", "Oats?"]]
    path = table_of(tmp_path, ["id", "user_1", "bot_1", "user_2"], *rows)
    [fault] = problems("numbered-turns", path)
    assert fault == "table.csv:3: id: is that of another conversation, at 2"


def test_numbered_turns_without_roles_are_people_s(tmp_path: Path) -> None:
    records = recognised(table_of(tmp_path, ["turn_1", "turn_2", "topic"], ["Hot?", "No.", "oven"]))
    assert messages_of(records) == [("speaker", "Hot?"), ("speaker", "No.")]
    assert of_type(records, DialogueRecord)[0].metadata == {"topic": "oven"}


SAID = [("system", "Brief."), ("user", "Hot?"), ("assistant", "No.")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<s>[INST] <<SYS>>\nBrief.\n<</SYS>>\n\nHot? [/INST] No. </s>", SAID),
        ("[INST] Hot? [/INST] No.</s>[INST] Now? [/INST]", [*SAID[1:], ("user", "Now?")]),
        (
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBrief.<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nHot?<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nNo.<|eot_id|>",
            SAID,
        ),
        ("<bos><start_of_turn>user\nHot?<end_of_turn>\n<start_of_turn>model\nNo.", SAID[1:]),
        ("<|system|>\nBrief.</s>\n<|user|>\nHot?</s>\n<|assistant|>\nNo.</s>", SAID),
        ("<|user|>\nHot?<|end|>\n<|assistant|>\nNo.<|end|>", SAID[1:]),
        ("Brief. USER: Hot? ASSISTANT: No.</s>", SAID),
        ("Brief.\n\n### Instruction:\nHot?\n\n### Response:\nNo.", SAID),
        ("What does [INST] mean?", []),
        ("Hot? USER: none", []),
    ],
)
def test_templates_of_chat_models(text: str, said: list[tuple[str, str]]) -> None:
    assert [(one.role, one.text) for one in templated(text)] == said


def test_a_table_with_one_column_of_texts_in_a_template(tmp_path: Path) -> None:
    path = file_of(tmp_path, "text\n<s>[INST] Hot? [/INST] No. </s>\n", "train.csv")
    assert messages_of(recognised(path)) == SAID[1:]


def test_a_prompt_in_a_template_is_its_messages(tmp_path: Path) -> None:
    record = {"prompt": "[INST] Hot? [/INST]", "response": "No.", "model": "x"}
    assert messages_of(recognised(lines_of(tmp_path, [record]))) == [("user", "Hot?")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("['a', \"b's\"]", ["a", "b's"]),
        ("['a' \"b's\"\n 'c']", ["a", "b's", "c"]),
        ("[3 4 2]", [3, 4, 2]),
        ("[{'role': 'a'}\n {'role': 'b'}]", [{"role": "a"}, {"role": "b"}]),
        ("['it\\'s' 'x]y']", ["it's", "x]y"]),
        ("[a, b]", None),
        ("[__import__('os')]", None),
        ("[" * 100_000 + "]", None),
        ("['a'", None),
        ("[" + "1, " * (MAX_LENGTH // 3) + "1]", None),
    ],
)
def test_lists_that_python_and_numpy_printed(text: str, found: Any) -> None:
    assert python_list(text) == found


def test_daily_dialog_as_a_table_with_printed_lists(tmp_path: Path) -> None:
    path = table_of(tmp_path, ["dialog", "act"], ["['Hot ? '\n \" It's not . \"]", "[2 1]"])
    assert messages_of(recognised(path)) == [("speaker", "Hot ?"), ("speaker", "It's not .")]


def test_messages_that_pandas_printed_into_a_table(tmp_path: Path) -> None:
    cell = "[{'role': 'user', 'content': 'Hot?'}\n {'role': 'assistant', 'content': 'No.'}]"
    assert messages_of(recognised(table_of(tmp_path, ["id", "messages"], ["a", cell]))) == SAID[1:]


# --- ranks ----------------------------------------------------------------------------------------


def votes(records: list[Any]) -> list[tuple[str, str, str]]:
    found = of_type(records, PreferenceRecord)
    return [(one.system_a, one.preferred, one.system_b) for one in found]


def test_ranks_of_completions_are_preferences_and_no_scores(tmp_path: Path) -> None:
    answers = [
        *(
            {"answer": "No.", "model": "x", "rank": 2.0},
            {"answer": "Hot!", "model": "y", "rank": 3},
        ),
        *({"answer": "Yes.", "model": "z", "rank": 1}, {"answer": "Eh.", "model": "w", "rank": 3}),
    ]
    records = recognised(lines_of(tmp_path, [{"prompt": "Hot?", "answers": answers}]))
    assert votes(records) == [
        *(("z", "a", "x"), ("z", "a", "y"), ("z", "a", "w")),
        *(("x", "a", "y"), ("x", "a", "w"), ("y", "tie", "w")),
    ]
    assert scores(records) == []


@pytest.mark.parametrize(
    ("beside", "found"),
    [
        ({"ranks": [2, 3, 1]}, "cab"),
        ({"order": [2, 0, 1]}, "cab"),
        ({"ranking": [1, 0, 2]}, "bac"),
        ({"ranking": [1, 3, 2]}, "acb"),
    ],
)
def test_a_list_beside_texts_ranks_them(tmp_path: Path, beside: dict[str, Any], found: str) -> None:
    record = {"prompt": "Hot?", "responses": ["a", "b", "c"], "models": ["a", "b", "c"], **beside}
    records = recognised(lines_of(tmp_path, [record]))
    assert votes(records) == [(one, "a", other) for one, other in combinations(found, 2)]


def test_a_ranking_that_may_be_either_is_a_fault(tmp_path: Path) -> None:
    record = {"prompt": "Hot?", "responses": ["a", "b", "c"], "ranking": [2, 0, 1]}
    [fault] = problems("completions", lines_of(tmp_path, [record]))
    assert fault.endswith("in their order: name it `ranks` or `order`")


def test_a_ranking_must_number_the_responses(tmp_path: Path) -> None:
    record = {"prompt": "Hot?", "responses": ["a", "b"], "order": [0, 0]}
    [fault] = problems("completions", lines_of(tmp_path, [record]))
    assert fault == "file.jsonl:1: order: must number the responses, each once"


def test_ranked_texts_are_in_the_order_of_preference(tmp_path: Path) -> None:
    record = {"prompt": "Hot?", "ranked_responses": ["No.", "Yes."]}
    records = recognised(lines_of(tmp_path, [record]))
    assert votes(records) == [("assistant 1", "a", "assistant 2")]


def test_lists_of_scores_beside_texts(tmp_path: Path) -> None:
    record = {
        "prompt": "Hot?",
        "responses": ["No.", "Yes."],
        "scores": [4, 1],
        "models": ["x", "y"],
    }
    assert scores(recognised(lines_of(tmp_path, [record]))) == [
        *(("1", 0, "x", "score", 4.0), ("1", 0, "y", "score", 1.0)),
    ]


def test_rows_with_a_rank_are_preferences_of_each_rater(tmp_path: Path) -> None:
    rows = [
        ["Hot?", one, text, rank, rater]
        for one, text, rank, rater in (
            *(("x", "No.", 1, "ann"), ("y", "Yes.", 2, "ann")),
            *(("x", "No.", 2, "bob"), ("y", "Yes.", 2, "bob")),
        )
    ]
    heads = ["prompt", "model", "response", "rank", "annotator"]
    records = recognised(table_of(tmp_path, heads, *rows))
    found = of_type(records, PreferenceRecord)
    assert [(one.rater, one.preferred) for one in found] == [("ann", "a"), ("bob", "tie")]
    assert len(of_type(records, ResponseRecord)) == 2


def test_a_second_rank_of_one_response_is_a_fault(tmp_path: Path) -> None:
    rows = [["Hot?", "x", "No.", rank] for rank in (1, 2)]
    path = table_of(tmp_path, ["prompt", "model", "response", "rank"], *rows)
    [fault] = problems("ranked-rows", path)
    assert fault.startswith("table.csv:3: rank: is a second rank for the response ranked at 2")


# --- files of programs ----------------------------------------------------------------------------

ROW = {"prompt": "Hot?", "response": "No.", "score": 4}


@pytest.mark.parametrize(
    "content",
    [
        {"columns": list(ROW), "index": [0], "data": [list(ROW.values())]},
        {"0": ROW, "1": {**ROW, "prompt": "Rye?"}},
        {
            "schema": {"fields": [{"name": "prompt"}], "primaryKey": ["id"]},
            "data": [{"id": 1} | ROW],
        },
        {"features": [{"name": "prompt"}], "rows": [{"row_idx": 0, "row": ROW}], "num_rows": 1},
    ],
)
def test_tables_that_programs_wrap_in_an_object(tmp_path: Path, content: Any) -> None:
    records = recognised(file_of(tmp_path, content))
    size = 2 if "1" in content else 1
    assert [one[2:] for one in scores(records)] == [("assistant", "overall", 4.0)] * size
    assert len(of_type(records, DialogueRecord)) == size


def test_a_row_of_a_split_table_must_have_all_columns(tmp_path: Path) -> None:
    content = {"columns": ["prompt", "response"], "data": [["a", "b"], ["c", "d"], ["e"]]}
    content["data"] += [["x", "y"]] * 3
    path = file_of(tmp_path, content)
    [fault] = problems("table", path)
    assert fault == "file.json: $.data[2]: must be a list of 2 values, one a column"


def test_doccano_s_labels_of_a_table(tmp_path: Path) -> None:
    rows = [["1", "user: Hot?\nbot: No.", "4"], ["2", "user: Rye?\nbot: Yes.", "good#kind"]]
    path = table_of(tmp_path, ["id", "data", "label"], *rows)
    assert likely_format(path)[0] == "doccano"
    records = list(importers()["doccano"].read(path))
    assert [one[2:] for one in scores(records)] == [("assistant", "label", 4.0)]
    assert [one.value for one in of_type(records, LabelRecord)] == [("good", "kind")]


def test_faithdial_labels_what_was_edited(tmp_path: Path) -> None:
    said = {"history": ["Hot?"], "knowledge": "It is off.", "response": "It is off.", "VRM": ["x"]}
    edited = {**said, "original_response": "200 degrees.", "BEGIN": ["Hallucination"]}
    kept = {**said, "history": ["Rye?"], "original_response": None, "BEGIN": ["Entailment"]}
    records = recognised(file_of(tmp_path, [{"utterances": [edited, kept]}]))
    assert texts(records) == [
        *(("1.1", "FaithDial", "It is off."), ("1.1", "Wizard of Wikipedia", "200 degrees.")),
        ("1.2", "FaithDial", "It is off."),
    ]
    found = of_type(records, LabelRecord)
    assert [(one.dialogue_id, one.system, one.question, one.value) for one in found] == [
        ("1.1", "Wizard of Wikipedia", "BEGIN", "Hallucination"),
        ("1.1", "Wizard of Wikipedia", "VRM", "x"),
    ]
    assert of_type(records, DialogueRecord)[0].knowledge == ("It is off.",)
    assert of_type(records, ResponseRecord)[2].metadata == {"BEGIN": ["Entailment"], "VRM": ["x"]}


def test_a_folder_of_compressed_preferences(tmp_path: Path) -> None:
    """As HH-RLHF is released: a folder a subset, a file a split."""
    for subset in ("harmless-base", "helpful-base"):
        (tmp_path / subset).mkdir()
        line = json.dumps({"chosen": "No.", "rejected": "Yes."}) + "\n"
        (tmp_path / subset / "train.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    assert votes(recognised(tmp_path)) == [("chosen", "a", "rejected")] * 2


def test_completions_may_stand_under_their_systems_names(tmp_path: Path) -> None:
    record = {"context": ["Hot?"], "responses": {"baker": "No.", "cook": "Yes."}}
    path = lines_of(tmp_path, [{**record, "ratings": {"cook": 1, "baker": 4}}])
    assert scores(recognised(path)) == [
        *(("1", 0, "baker", "rating", 4.0), ("1", 0, "cook", "rating", 1.0)),
    ]


def test_numbered_inputs_of_mturk_are_a_conversation(tmp_path: Path) -> None:
    heads = ["HITId", "WorkerId", "Input.user_1", "Input.bot_1", "Input.user_2", "Answer.tact"]
    rows = [["h", rater, "Hot?", "No.", "", score] for rater, score in (("w", 4), ("v", 2))]
    records = recognised(table_of(tmp_path, heads, *rows))
    assert messages_of(records) == SAID[1:]
    assert [
        (one.turn, one.rater, one.aspect, one.score) for one in of_type(records, RatingRecord)
    ] == [(None, "w", "tact", 4.0), (None, "v", "tact", 2.0)]
