"""Chats and tables as people hold them: other names of fields, records within other JSON, several
files, compressed, spreadsheets of several sheets."""

from __future__ import annotations

import bz2
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.column_mapping import guess_mapping
from annotations.formats.importers.csv_source import likely_delimiter
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.importers.table_source import number_in
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RatingRecord,
    ResponseRecord,
)
from tests.annotations.formats.importers.helpers import file_of, lines_of, of_type, problems, read

CHAT = [{"role": "user", "content": "Is it hot?"}, {"role": "assistant", "content": "Not yet."}]
SHAREGPT = [{"from": "human", "value": "Is it hot?"}, {"from": "gpt", "value": "Not yet."}]
SPOKEN = [{"speaker": "USER", "utterance": "Is it hot?"}, {"speaker": "SYSTEM", "text": "Not yet."}]
CONTENTS = [
    {"role": "user", "parts": [{"text": "Is it hot?"}]},
    {"role": "model", "parts": [{"text": "Not yet."}]},
]
NESTED = [
    {"type": "human", "data": {"content": "Is it hot?"}},
    {"type": "ai", "data": {"content": "Not yet."}},
]
SENT = [
    {"sender": "human", "text": "Is it hot?", "content": [{"type": "text", "text": "Is it hot?"}]},
    {"sender": "assistant", "content": [{"type": "text", "text": "Not yet."}]},
]
LAYOUTS: dict[str, Any] = {
    "conversation of role and content": [{"conversation": CHAT}],
    "conversations of role and content": [{"conversations": CHAT}],
    "conversation of from and value": [{"conversation": SHAREGPT}],
    "turns of speaker and utterance": [{"dialogue_id": "d", "turns": SPOKEN}],
    "contents of parts": [{"contents": CONTENTS}],
    "type and data": [{"messages": NESTED}],
    "sender": [{"chat_messages": SENT}],
    "content as an object": [
        {"messages": [{**one, "content": {"text": one["content"]}} for one in CHAT]}
    ],
    "messages as a text": [{"messages": json.dumps(CHAT)}],
    "lists of messages": [CHAT],
    "one chat": CHAT,
    "a list in an object": {"version": "1", "data": [{"messages": CHAT}]},
    "conversations in an object": {"conversations": [{"id": 1, "messages": CHAT}]},
    "under its id": {"c1": {"messages": CHAT}},
    "a list under its id": {"c1": CHAT},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_chat_of_another_layout_is_read(tmp_path: Path, layout: str) -> None:
    path = file_of(tmp_path, LAYOUTS[layout])
    name, _ = likely_format(path)
    records = read(name or "", path)
    [dialogue] = of_type(records, DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [
        ("user", "Is it hot?"),
        ("assistant", "Not yet."),
    ]
    assert [one.text for one in of_type(records, ResponseRecord)] == ["Not yet."]


@pytest.mark.parametrize("heading", ["{}_response", "{} Answer", "output-{}"])
def test_a_column_of_responses_a_system(tmp_path: Path, heading: str) -> None:
    columns = ["id", "prompt", heading.format("GPT-4"), heading.format("Llama"), "GPT-4_tact"]
    rows = [columns, ["q1", "Hot?", "No.", "Yes.", "4"], ["q2", "Cold?", "Yes.", "", "n/a"]]
    path = file_of(tmp_path, "".join(",".join(row) + "\n" for row in rows), "models.csv")
    assert likely_format(path) == ("system-columns", "")
    records = read("system-columns", path)
    assert [
        (one.dialogue_id, one.system, one.text) for one in of_type(records, ResponseRecord)
    ] == [
        ("q1", "GPT-4", "No."),
        ("q1", "Llama", "Yes."),
        ("q2", "GPT-4", "Yes."),
    ]
    assert [(one.system, one.aspect, one.score) for one in of_type(records, RatingRecord)] == [
        ("GPT-4", "tact", 4.0)
    ]


@pytest.mark.parametrize("column", ["messages", "conversations"])
def test_a_chat_in_a_cell_of_a_table(tmp_path: Path, column: str) -> None:
    said = CHAT if column == "messages" else SHAREGPT
    cell = json.dumps(said).replace('"', '""')
    path = file_of(tmp_path, f'id,{column},model,topic\r\nc1,"{cell}",m1,bread\r\n', "chats.csv")
    assert likely_format(path) == ("messages", "")
    records = read("messages", path)
    [dialogue] = of_type(records, DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [
        ("user", "Is it hot?"),
        ("assistant", "Not yet."),
    ]
    assert (dialogue.id, dialogue.metadata) == ("c1", {"topic": "bread"})
    assert [one.system for one in of_type(records, ResponseRecord)] == ["m1"]


def test_splits_and_ids_of_an_object_are_kept(tmp_path: Path) -> None:
    splits = {"train": [{"messages": CHAT}], "test": [{"messages": CHAT}, {"messages": CHAT}]}
    dialogues = of_type(read("messages", file_of(tmp_path, splits)), DialogueRecord)
    assert [one.metadata["split"] for one in dialogues] == ["train", "test", "test"]
    by_id = {"a": {"messages": CHAT}, "b": {"messages": CHAT}}
    dialogues = of_type(read("messages", file_of(tmp_path, by_id)), DialogueRecord)
    assert [one.id for one in dialogues] == ["a", "b"]


def test_a_fault_in_a_list_of_an_object_has_its_place(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"data": [{"messages": CHAT}, {"messages": 3}]})
    assert problems("messages", path) == [
        "file.json: $.data[1].messages: must be a list, not a number"
    ]


@pytest.mark.parametrize("key", ["system", "system_prompt", "systemInstruction"])
def test_a_system_prompt_beside_the_messages_is_the_first(tmp_path: Path, key: str) -> None:
    prompt: Any = {"parts": [{"text": "Be brief."}]} if key == "systemInstruction" else "Be brief."
    [dialogue] = of_type(
        read("messages", lines_of(tmp_path, [{"messages": CHAT, key: prompt}])), DialogueRecord
    )
    first = dialogue.messages[0]
    assert (first.role, first.text, dialogue.metadata) == ("system", "Be brief.", {})


def test_objects_over_several_lines_may_follow_each_other(tmp_path: Path) -> None:
    text = "\n".join(json.dumps({"messages": CHAT}, indent=1) for _ in range(3))
    assert len(of_type(read("messages", file_of(tmp_path, text)), DialogueRecord)) == 3


PACKED = {
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "utf-16": lambda data: data.decode().encode("utf-16"),
}


@pytest.mark.parametrize("packing", PACKED)
def test_compressed_lines_and_utf_16_are_read(tmp_path: Path, packing: str) -> None:
    plain = (json.dumps({"messages": CHAT}) + "\n").encode()
    path = file_of(tmp_path, PACKED[packing](plain), "chats.jsonl")
    assert likely_format(path) == ("messages", "")
    assert len(of_type(read("messages", path), DialogueRecord)) == 1


# --- several files --------------------------------------------------------------------------------


def test_a_folder_of_lines_is_read_file_after_file(tmp_path: Path) -> None:
    for number in (1, 2):
        file_of(
            tmp_path, json.dumps({"id": f"c{number}", "messages": CHAT}) + "\n", f"{number}.jsonl"
        )
    file_of(tmp_path, "# About", "README.md")
    assert likely_format(tmp_path) == ("messages", "")
    dialogues = of_type(read("messages", tmp_path), DialogueRecord)
    assert [one.id for one in dialogues] == ["c1", "c2"]


def test_a_fault_in_a_folder_names_the_file(tmp_path: Path) -> None:
    file_of(tmp_path, json.dumps({"messages": CHAT}) + "\n", "1.jsonl")
    file_of(tmp_path, '{"messages": 3}\n', "2.jsonl")
    assert problems("messages", tmp_path) == [
        f"{tmp_path.name}: 2.jsonl:1.messages: must be a list, not a number"
    ]


def test_a_dataset_folder_of_parquet_files_is_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for number in (0, 1):
        table = pa.Table.from_pylist([{"messages": CHAT}])
        pq.write_table(table, tmp_path / "data" / f"train-0000{number}-of-00002.parquet")
    assert likely_format(tmp_path) == ("messages", "")
    assert len(of_type(read("messages", tmp_path), DialogueRecord)) == 2


ROWS = "id,context,response,rater,score\n{0},Is it hot?,Not yet.,ann,{0}\n"


def test_a_folder_of_tables_is_read_with_columns_in_any_order(tmp_path: Path) -> None:
    file_of(tmp_path, ROWS.format(1), "1.csv")
    file_of(tmp_path, "score,rater,response,context,id\n2,bob,Not yet.,Is it hot?,2\n", "2.csv")
    assert likely_format(tmp_path) == ("table", "")
    ratings = of_type(read("table", tmp_path), RatingRecord)
    assert [(one.dialogue_id, one.rater, one.score) for one in ratings] == [
        ("1", "ann", 1),
        ("2", "bob", 2),
    ]


def test_a_table_of_a_folder_with_other_columns_is_a_fault(tmp_path: Path) -> None:
    file_of(tmp_path, ROWS.format(1), "1.csv")
    file_of(tmp_path, "colour,size\nred,2\n", "2.csv")
    assert problems("table", tmp_path) == [
        f"{tmp_path.name}: 2.csv:1: has other columns than 1.csv"
    ]


def workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_sheets_with_the_same_headings_are_one_table_and_others_are_reported(
    tmp_path: Path,
) -> None:
    heading = ["id", "context", "response", "rater", "score"]
    path = workbook(
        tmp_path / "study.xlsx",
        {
            "Codebook": [["column", "meaning"], ["score", "1 to 5"]],
            "Ann": [heading, [1, "Is it hot?", "Not yet.", "ann", 4]],
            "Bob": [["of Bob"], heading, [1, "Is it hot?", "Not yet.", "bob", 2]],
        },
    )
    [part] = survey(importers()["table"], path)
    assert (part.counts.ratings, part.counts.raters) == (2, 2)
    assert [str(one) for one in part.skipped] == [
        "study.xlsx: sheet 'Codebook': is not read: it has not the columns of the sheet 'Ann'"
    ]


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("4/5", 4),
        ("4 out of 5", 4),
        ("40%", 40),
        ("3,5", 3.5),
        ("1,234", None),
        ("2024-01-31", None),
        ("10:30", None),
        ("3-4", None),
        ("7 - Excellent", 7),
    ],
)
def test_numbers_in_cells_of_a_table_that_commas_cut(cell: str, number: float | None) -> None:
    assert number_in(cell, decimal_comma=False) == number


def uses(*heading: str, rows: tuple[tuple[str, ...], ...] = ()) -> list[str]:
    return [column.use for column in guess_mapping(heading, rows).columns.values()]


def test_columns_are_known_by_other_names() -> None:
    assert uses("Model Name", "inputText", "output_text", "Criterion name", "Rating (1-5)") == [
        *("system", "prompt", "response", "aspect", "score")
    ]
    assert uses("instruction", "input", "output") == ["prompt", "prompt", "response"]
    assert uses("dialogue", "response", rows=(("A: Hi\nB: Hello", "Bye"),)) == [
        *("context", "response")
    ]


def test_two_columns_that_differ_in_brackets_are_aspects() -> None:
    found = uses("response", "Rating (fluent)", "Rating (kind)", rows=(("Hi", "1", "2"),))
    assert found == ["response", "score", "score"]


def test_words_of_agreement_are_labels(tmp_path: Path) -> None:
    path = file_of(tmp_path, "id,context,response,kind\n1,Hi,Hello,Strongly agree\n", "a.csv")
    assert [one.value for one in of_type(read("table", path), LabelRecord)] == ["Strongly agree"]


def test_a_prompt_of_several_lines_is_one_message(tmp_path: Path) -> None:
    path = lines_of(tmp_path, [{"prompt": "Write a poem.\nNote: it rhymes.", "response": "No."}])
    [dialogue] = of_type(read("table", path), DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [
        ("user", "Write a poem.\nNote: it rhymes.")
    ]


def test_two_responses_of_nobody_to_one_prompt_are_two_conversations(tmp_path: Path) -> None:
    rows = [{"prompt": "Hi", "response": text, "score": 1} for text in ("Hello", "Bye")]
    assert len(of_type(read("table", lines_of(tmp_path, rows)), DialogueRecord)) == 2


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("My study\n\nid,response\n1,Hi\n2,Ho\n", ","),
        ("id,response\n1,Hi; you,,\n2,Ho; you,\n3,Ha; you\n", ","),
        ('a,b,c\n1,"x;y",\n2,"x;y",\n3,"x;y",\n', ","),
        ("id;response\n1;Hi, you\n2;Ho, you\n", ";"),
    ],
)
def test_the_delimiter_is_known_beside_titles_and_ragged_rows(text: str, delimiter: str) -> None:
    assert likely_delimiter(text) == delimiter


# --- a message a row, two responses a row ---------------------------------------------------------


def test_rows_of_messages_are_conversations_in_their_order(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        "conversation_id,model,speaker,text,topic\n"
        "a,,User,Hi,food\nb,,User,Ho,work\na,north,Bot,Hello,food\n",
        "log.csv",
    )
    assert likely_format(path) == ("message-rows", "")
    records = read("message-rows", path)
    assert [
        (one.id, [(message.role, message.text) for message in one.messages], one.metadata)
        for one in of_type(records, DialogueRecord)
    ] == [
        ("a", [("user", "Hi"), ("assistant", "Hello")], {"topic": "food"}),
        ("b", [("user", "Ho")], {"topic": "work"}),
    ]
    assert [(one.system, one.text) for one in of_type(records, ResponseRecord)] == [
        ("north", "Hello")
    ]
    messages = of_type(records, DialogueRecord)[0].messages
    assert [one.metadata for one in messages] == [{}, {}]


def test_a_row_without_a_speaker_is_a_fault(tmp_path: Path) -> None:
    path = file_of(tmp_path, "speaker,text\nuser,Hi\n,Hello\n", "log.csv")
    assert problems("message-rows", path) == [
        "log.csv:3: speaker: is empty: who speaks is not said"
    ]


PAIR = {"prompt": "Is it hot?", "response_a": "No.", "response_b": "Hot!"}
VOTES: dict[str, tuple[dict[str, Any], str]] = {
    "a letter": ({**PAIR, "winner": "B"}, "b"),
    "a column": ({**PAIR, "preference": "response_a"}, "a"),
    "a system": ({**PAIR, "model_a": "north", "model_b": "south", "winner": "South"}, "b"),
    "a tie": ({**PAIR, "winner": "Tie"}, "tie"),
    "both bad": ({**PAIR, "winner": "tie (bothbad)"}, "both_bad"),
    "the second of 1 and 2": (
        {"instruction": "q", "output_1": "x", "output_2": "y", "preference": 2},
        "b",
    ),
    "the second of 0 and 1": ({"response_0": "x", "response_1": "y", "better_response_id": 1}, "b"),
    "1 for the first of A and B": (
        {"history": "q", "human_ref_A": "x", "human_ref_B": "y", "labels": 1},
        "a",
    ),
}


@pytest.mark.parametrize("kind", VOTES)
def test_a_vote_between_two_responses_is_a_preference(tmp_path: Path, kind: str) -> None:
    row, preferred = VOTES[kind]
    path = lines_of(tmp_path, [row])
    assert likely_format(path) == ("response-pairs", "")
    [vote] = of_type(read("response-pairs", path), PreferenceRecord)
    assert vote.preferred == preferred


def test_a_vote_that_names_neither_response_is_a_fault(tmp_path: Path) -> None:
    path = lines_of(tmp_path, [{**PAIR, "winner": "C"}])
    assert problems("response-pairs", path) == [
        "file.jsonl:1: winner: names neither a nor b, nor a tie: 'C'; write one of these"
    ]


def test_a_question_and_a_system_prompt_stand_before_both_answers(tmp_path: Path) -> None:
    row = {"system": "Be brief.", "question": "Is it hot?", "chosen": "No.", "rejected": "Hot!"}
    [dialogue] = of_type(read("preferences", lines_of(tmp_path, [row])), DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages] == [
        ("system", "Be brief."),
        ("user", "Is it hot?"),
    ]
    assert dialogue.metadata == {}


# --- several completions a record -----------------------------------------------------------------


def test_completions_of_a_prompt_have_scores_by_aspect_and_rater(tmp_path: Path) -> None:
    honest = {"honesty": {"Rating": "4", "Rationale": "True."}, "help": {"Rating": "N/A"}}
    path = lines_of(
        tmp_path,
        [
            {
                "instruction": "Is it hot?",
                "completions": [
                    {"model": "north", "response": "No.", "annotations": honest, "score": 7.5},
                    {"model": "south", "response": "Hot!", "kind": [1, 2], "tokens": 2},
                ],
            }
        ],
    )
    assert likely_format(path) == ("completions", "")
    records = read("completions", path)
    assert [
        (one.system, one.rater, one.aspect, one.score, one.comment)
        for one in of_type(records, RatingRecord)
    ] == [
        ("north", "dataset", "honesty", 4, "True."),
        ("north", "dataset", "score", 7.5, ""),
        ("south", "rater 1", "kind", 1, ""),
        ("south", "rater 2", "kind", 2, ""),
    ]
    assert [one.metadata for one in of_type(records, ResponseRecord)] == [{}, {"tokens": 2}]


# --- transcripts and votes in words ---------------------------------------------------------------

TRANSCRIPTS = {
    "blank lines": "\n\nHuman: Is it hot?\n\nAssistant: Not yet.",
    "no line before": "Human: Is it hot?\n\nAssistant: Not yet.\n\nHuman: Why?",
    "line ends": "Human: Is it hot?\nAssistant: Not yet.",
    "signs": "### Human: Is it hot?### Assistant: Not yet.",
}


@pytest.mark.parametrize("layout", TRANSCRIPTS)
def test_a_transcript_is_a_conversation(tmp_path: Path, layout: str) -> None:
    path = lines_of(tmp_path, [{"transcript": TRANSCRIPTS[layout], "rating": 3.0}])
    assert likely_format(path) == ("messages", "")
    [dialogue] = of_type(read("messages", path), DialogueRecord)
    assert [(one.role, one.text) for one in dialogue.messages][:2] == [
        ("user", "Is it hot?"),
        ("assistant", "Not yet."),
    ]
    assert dialogue.metadata == {"rating": 3.0}


VOTES_IN_WORDS = {
    "[[A]]": "a",
    "[[C]]": "tie",
    "Response A is slightly better": "a",
    "B is much better than A": "b",
    "About the same": "tie",
    "A>>B": "a",
    "B>A": "b",
    "A=B": "tie",
    "model_b": "b",
}


@pytest.mark.parametrize("written", VOTES_IN_WORDS)
def test_a_vote_in_words_is_read(tmp_path: Path, written: str) -> None:
    row = {"prompt": "Is it hot?", "response_a": "No.", "response_b": "Yes.", "verdict": written}
    [vote] = of_type(read("response-pairs", lines_of(tmp_path, [row])), PreferenceRecord)
    assert vote.preferred == VOTES_IN_WORDS[written]


@pytest.mark.parametrize(("number", "preferred"), [(1.2, "a"), (1.5, "tie"), (1.97, "b")])
def test_a_preference_between_1_and_2_is_the_nearer(
    tmp_path: Path, number: float, preferred: str
) -> None:
    row = {"instruction": "Hot?", "output_1": "No.", "output_2": "Yes.", "preference": number}
    [vote] = of_type(read("response-pairs", lines_of(tmp_path, [row])), PreferenceRecord)
    assert vote.preferred == preferred
