"""Each fault of a file is named, with its place: the shortest file that has it.

Faults of words, digits and bytes that any format may have are in ``test_hostile_files.py``.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotations.formats.importers.column_mapping import Column, TableMapping
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.problems import ImportFailed, Problems, Where
from annotations.formats.importers.registry import importers
from annotations.formats.importers.table_reader import records_of_table
from annotations.formats.records import DialogueRecord
from tests.annotations.formats.importers.helpers import file_of, of_type, problems, read


def placed(folder: Path, content: Any) -> Path:
    """What a format reads: a list as JSON lines, a mapping as a folder of files, else a file."""
    path = folder / "file"
    if not isinstance(content, dict):
        lines = content if isinstance(content, list) else None
        text = content if lines is None else "".join(json.dumps(one) + "\n" for one in lines)
        return file_of(folder, text, "file")
    for name, inner in content.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        placed((path / name).parent, inner).rename(path / name)
    return path


HELLO = [{"role": "user", "content": "Hello"}]
HI = [{"role": "assistant", "content": "Hi."}]
QUESTION = {"question_id": 1, "turns": ["Hello"]}
GAME = {"question_id": 1, "judge": "ann", "model": "cook", "games": [{"score": "A>B"}]}
BATTLE = {"question_id": 1, "model_a": "cook", "model_b": "baker", "winner": "tie"}
BATTLE |= {"conversation_a": [*HELLO, *HI], "conversation_b": [*HELLO, *HI]}
BATTLES = "id,model_a,model_b,prompt,response_a,response_b\n"
ITEM = {"dialogue": "d", "records": []}
TASK = {"id": 1, "data": {"prompt": "Hello", "response": "Hi."}, "annotations": []}
RECORD = {"id": "1", "fields": {"prompt": "Hello", "response": "Hi."}, "responses": {}}
GRADE = {"ID": 0, "Dataset": "a_EVAL", "DialogModel": "cook", "Context": "Hello"}
GRADE |= {"Response": "Hi.", "HumanScores": "[4]"}
TURN: dict[str, Any] = {"number": 0, "context": [{"speaker": "A", "text": "Hello"}]}
DIALOGUE = {"type": "dialogue", "id": "d", "persona": [], "partner_persona": [], "turns": [TURN]}
RATING = {"type": "rating", "dialogue_id": "d", "turn": 0, "system": "cook", "rater": "ann"}
RATING |= {"aspect": "fun", "score": 3}
USR = {"context": "Hello", "fact": "", "annotators": [], "responses": []}
ASKED = {"custom_id": "a", "body": {"model": "cook", "messages": HELLO}}
TABLES = {
    "dialogues.csv": "dialogue_id,turn,persona,partner_persona,context,references\n"
    'd,0,[],[],"[""A: Hello""]",[]\n',
    "responses.csv": "dialogue_id,turn,system,text\nd,0,cook,Hi.\n",
    "ratings.csv": "dialogue_id,turn,system,rater,aspect,score,comment\nd,0,cook,ann,fun,3,\n",
}
SEGMENTS = {
    "sources/en-de.txt": "Hello\n",
    "system-outputs/en-de/cook.txt": "Hi.\n",
}
LINES = {"a/cook/human_ctx.txt": "Hello\n", "a/cook/human_hyp.txt": "Hi.\n"}
LINES |= {"a/cook/human_ref.txt": "Hey.\n"}
SURVEY = {
    "answers.csv": "ResponseId,1_Q2\nID,How good?\n"
    '"{""ImportId"": ""a""}","{""ImportId"": ""b""}"\nr1,4\n',
    "items.csv": "loop,dialog_id,system,response\n1,d,cook,Hi.\n",
}
STUDY = {
    "export.csv": "Submission id,Participant id,Status\ns1,p1,APPROVED\n",
    "answers.csv": "PROLIFIC_PID,SESSION_ID,dialog_id,system,response,fun\np1,s1,d,cook,Hi.,4\n",
}
CORPUS = {"type": "corpus", "name": "c"}


def span(*attributes: tuple[str, Any]) -> dict[str, Any]:
    """OTLP's JSON with one span."""
    listed = [{"key": key, "value": value} for key, value in attributes]
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": listed}]}]}]}


CHAT = ("gen_ai.operation.name", {"stringValue": "chat"})

FAULTS: list[tuple[str, Any, list[str]]] = [
    (
        "arena-battles",
        BATTLES + '1,cook,baker,"[1","[]","[]"\n',
        ["file:2: prompt: must be a JSON list of texts"],
    ),
    (
        "arena-battles",
        BATTLES + '1,cook,baker,"[1]","[]","[]"\n',
        ["file:2: prompt: must be a JSON list of texts"],
    ),
    (
        "arena-battles",
        BATTLES + ',cook,baker,"[]","[]","[]"\n',
        ["file:2: must have an id and two models"],
    ),
    (
        "arena-hard",
        [QUESTION, {"question_id": 1, "model": "cook", "choices": []}],
        ["file:2: choices: holds no answer of a model"],
    ),
    ("arena-hard", [QUESTION, {**GAME, "judge": ""}], ["file:2: judge: is missing"]),
    ("arena-hard", [QUESTION, {**GAME, "model": ""}], ["file:2: model: is missing"]),
    (
        "arena-hard",
        [QUESTION, GAME],
        ["file:2: games: compares an answer that is in none of these files"],
    ),
    ("argilla", [1, RECORD, 2], ["file:1: must be an object", "file:3: must be an object"]),
    (
        "argilla",
        [RECORD, {**RECORD, "metadata": {"dialeval": json.dumps(ITEM)}}],
        [
            "file: holds records with metadata.dialeval beside others: import them apart",
            "file:2: the dialogue 'd' is with none of these items: export all of them",
        ],
    ),
    ("chat-text", "Hello\n", ["file:1: does not begin with who speaks, as in NAME: text"]),
    ("chatgpt", {"user.json": "{}"}, ["file: holds no file conversations.json"]),
    ("csv", {}, ["file: dialogues.csv: is missing"]),
    (
        "csv",
        TABLES | {"dialogues.csv": "dialogue_id,turn\nd,0\n"},
        ["file: dialogues.csv:1: has no column persona"],
    ),
    (
        "csv",
        TABLES | {"dialogues.csv": TABLES["dialogues.csv"].replace("[],[],", "x,[1],")},
        [
            "file: dialogues.csv:2.persona: must be a JSON list of texts",
            "file: dialogues.csv:2.partner_persona: must be a JSON list of texts",
        ],
    ),
    (
        "csv",
        TABLES | {"responses.csv": "dialogue_id,turn,system,text\nd,zero,cook,Hi.\n"},
        ["file: responses.csv:2.turn: must be a whole number, not 'zero'"],
    ),
    (
        "csv",
        TABLES | {"ratings.csv": TABLES["ratings.csv"].replace("3", "three")},
        ["file: ratings.csv:2.score: must be a number, not 'three'"],
    ),
    (
        "csv",
        TABLES | {"responses.csv": TABLES["responses.csv"] + "e,0,cook,Hi.\n"},
        ["file: responses.csv:3.dialogue_id: 'e' is not in dialogues.csv"],
    ),
    ("dataset", {"README.md": ""}, ["file: has no data/corpus.parquet"]),
    (
        "doccano",
        {"ann.jsonl": [{"label": ["4"]}], "bob.jsonl": "{"},
        [
            "file: ann.jsonl:1.text: is missing",
            (
                "bob.jsonl:1: is not JSON: Expecting property name enclosed in double "
                "quotes at column 2; the file ends at column 2, in the middle of this line"
            ),
        ],
    ),
    ("dstc11", {"a.csv": "a,b\n1,2\n"}, ["file: holds no table with the columns UID, SID, SEG"]),
    ("dstc11", "UID,SID,SEG\nx-1,A\n", ["file:2: has 2 cells; the heading line has 3"]),
    ("dstc11", "UID,SID,SEG\n7,A,Hello\n", ["file:2: UID: '7' is not dialogue-utterance"]),
    (
        "dstc11",
        "UID,SID,SEG\nx-1,A,Hello\nx-1,A,Hi\n",
        ["file:3: SEG: is another text than that of 'x-1' before"],
    ),
    ("dstc9", {"README.md": ""}, ["file: holds no file *.json"]),
    ("dstc9", [{"context": "Hello"}], ["file:1: context: must begin with one of User:, System:"]),
    (
        "fbd",
        [{"src": "Hello", "refs": [], "hyps": ["Hi."], "human_scores": [4]}],
        ["file:1: human_scores[0]: must be a list of numbers"],
    ),
    ("fbd", "\n" * 1001, ["file:1001: is blank, and so are 1,000 lines before it"]),
    (
        "fed",
        [{"context": "User: Hello", "response": "User: Hi.", "system": "cook", "annotations": {}}],
        ["file:1: response: must begin with System:"],
    ),
    ("grade", "[]", ["file: $: holds no row"]),
    (
        "grade",
        json.dumps([{**GRADE, "Context": "Hello||| |||Hi"}]),
        ["file: $[0].Context: utterance 2 is empty: who speaks after it cannot be told"],
    ),
    (
        "grade-files",
        {"README.md": ""},
        ["file: holds no CORPUS/SYSTEM/human_ctx.txt: give the folder eval_data"],
    ),
    (
        "grade-files",
        LINES | {"a/cook/human_ref.txt": "Hey.\nYou.\n"},
        [
            (
                "file: a/cook/human_ctx.txt: and its neighbours have 1, 1, 2 lines; they "
                "must have as many"
            ),
        ],
    ),
    (
        "grade-files",
        LINES | {"human_judgement.json": [GRADE, GRADE]},
        ["file: human_judgement.json: has 2 rows for 1 lines of a/cook/human_ctx.txt"],
    ),
    (
        "jsonl",
        [{**CORPUS, "scale": [1]}],
        ["file:1: scale: must hold two numbers, the lowest and the highest score"],
    ),
    (
        "jsonl",
        [{**CORPUS, "scales": [["fun", 1]]}],
        ["file:1: scales[0]: must be [aspect, lowest, highest]; null is an open end"],
    ),
    (
        "label-studio",
        json.dumps([{"id": 1, "text": "Hello"}]),
        ["file: $[0].data: is missing: it is no task"],
    ),
    (
        "label-studio",
        json.dumps([TASK, {"data": {"dialeval": ITEM}}]),
        [
            "file: holds tasks with data.dialeval beside others: import them by themselves",
            "file: $[1]: the dialogue 'd' is with none of these items: export all of them",
        ],
    ),
    (
        "label-studio",
        json.dumps([{"data": {"dialeval": {**ITEM, "records": [DIALOGUE, RATING]}}}]),
        ["file: $[0].data.dialeval.records[1].type: is no record that goes with an item"],
    ),
    (
        "langfuse",
        [{"id": "1", "input": "Hello", "output": "Hi.", "fun": [4, None]}],
        ["file:1: fun[1]: must be a number or a text: a score"],
    ),
    (
        "messages",
        [{"messages": [{"role": "user", "content": ["Hello", 1]}]}],
        ["file:1: messages[0].content[1]: must be a part: an object with a type"],
    ),
    ("mt-bench", [{"question_id": 1}], ["file:1: is no question, answer or judgment"]),
    (
        "mt-bench",
        [QUESTION, {"question_id": 2, "model_id": "cook", "choices": []}],
        ["file:2: question_id: '2' is no question of these files"],
    ),
    (
        "mt-bench",
        [QUESTION, {"question_id": 1, "judge": ["ann"], "turn": 1, "score": 4}],
        ["file:2: judge: must be [judge, prompt], and turn 1 or more"],
    ),
    (
        "mt-bench",
        [QUESTION, {"question_id": 1, "judge": ["ann", "p"], "turn": 0, "score": 4}],
        ["file:2: turn: must be [judge, prompt], and turn 1 or more"],
    ),
    (
        "mt-bench",
        [QUESTION, {"question_id": 1, "judge": ["ann", "p"], "turn": -1, "score": 4}],
        ["file:2: turn: must be 0 or more and below 2,147,483,648"],
    ),
    ("mt-bench", {"README.md": ""}, ["file: holds no file *.jsonl"]),
    (
        "mt-bench-human",
        [{**BATTLE, "turn": 0}],
        ["file:1: turn: must be 1 or more: turns are counted from 1"],
    ),
    (
        "mt-metrics-eval",
        {"README.md": ""},
        ["file: sources: has 0 language pairs; give a folder with one"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"human-scores/en-de.da.seg.score": "baker\t4\n"},
        ["file: en-de.da.seg.score:1: names no system with outputs: 'baker'"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"human-scores/en-de.da.seg.score": "cook\t4\ncook\t5\n"},
        ["file: en-de.da.seg.score:2: is one more than there are segments"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"human-scores/en-de.da.doc.score": "cook\t4\ncook\t5\n"},
        ["file: en-de.da.doc.score:2: is one more than there are documents"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"human-scores/en-de.da.seg.score": "cook\tfour\n"},
        ["file: en-de.da.seg.score:1: is no number"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"metric-scores/en-de/b.seg.score": "cook\t4\ncook\t5\n"},
        ["file: b.seg.score:2: is one more than there are segments"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"metric-scores/en-de/b.seg.score": "cook\tfour\n"},
        ["file: b.seg.score:1: is no number"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"human-scores/en-de.m.seg.rating": "cook\t{\tann\n"},
        ["file: en-de.m.seg.rating:1: must be JSON"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"human-scores/en-de.m.seg.rating": "cook\t[]\tann\ncook\t[]\tann\n"},
        ["file: en-de.m.seg.rating:2: is one more than there are segments"],
    ),
    (
        "mt-metrics-eval",
        SEGMENTS | {"system-outputs/en-de/cook.txt": "Hi.\nHey.\n"},
        ["file: cook.txt: has 2 lines; the sources have 1"],
    ),
    (
        "mturk",
        "HITId,WorkerId,Input.system,Answer.fun\n1,ann,cook,4\n",
        [
            (
                "file:1: of the columns Input.*: one column must be the response, or the "
                "context of conversations without any"
            ),
        ],
    ),
    (
        "mturk",
        "HITId,WorkerId,Input.response,Answer.fun\n1,,Hi.,4\n",
        ["file:2: WorkerId: is empty"],
    ),
    ("multiwoz", {"README.md": ""}, ["file: holds no file data.json"]),
    (
        "multiwoz",
        [{"turns": {"utterance": ["Hello"], "speaker": [2]}}],
        ["file:1: turns[0].speaker: must be 0 (user), 1 (system) or a name"],
    ),
    (
        "openai-batch",
        [{"custom_id": "a", "response": {"status_code": 200}}],
        [
            (
                "file: holds answers but not what was asked: give a folder with the file "
                "of requests, too"
            ),
        ],
    ),
    (
        "openai-batch",
        [ASKED, {"custom_id": "b", "response": {"status_code": 200}}],
        ["file:2: custom_id: 'b' is of no request in these files"],
    ),
    (
        "openai-preferences",
        [{"input": {"messages": HELLO}, "preferred_output": HI, "non_preferred_output": []}],
        ["file:1: non_preferred_output: is empty: no answer"],
    ),
    (
        "openinference",
        [{"attributes": {"openinference.span.kind": "LLM"}}],
        ["file:1: attributes: has no session.id and the span no trace_id"],
    ),
    (
        "otel-genai",
        [span(CHAT, ("gen_ai.input.messages", {"stringValue": "[]"}))],
        [
            (
                "file:1: resourceSpans[0].scopeSpans[0].spans[0].attributes: "
                "gen_ai.conversation.id, traceId and the model must be texts"
            ),
        ],
    ),
    (
        "otel-genai",
        [
            span(
                CHAT,
                ("gen_ai.conversation.id", {"stringValue": "c"}),
                ("gen_ai.input.messages", {"stringValue": "{}"}),
            )
        ],
        [
            (
                "file:1: resourceSpans[0].scopeSpans[0].spans[0].attributes: has messages "
                "that are no list of objects, as JSON in a text"
            ),
        ],
    ),
    ("personachat-candidates", "[1]", ['file: $: must be an object; found "[1]"']),
    ("personachat-candidates", "{1: 2}", ["file: $: expected a key in quotes, at line 1 column 2"]),
    (
        "personachat-candidates",
        [{"train": [{"personality": [], "utterances": [{"history": [], "candidates": []}]}]}],
        ["file: $.train[0].utterances[0].candidates: is empty: its last one is the answer"],
    ),
    (
        "potato",
        {"ann/user_state.json": "{"},
        [
            (
                "file: ann/user_state.json: is not readable: Expecting property name "
                "enclosed in double quotes: line 1 column 2 (char 1)"
            ),
        ],
    ),
    (
        "potato",
        {"ann/user_state.json": "[]"},
        ["file: ann/user_state.json: is not readable: must be an object, not a list"],
    ),
    (
        "potato",
        {"ann/annotated_instances.jsonl": [1]},
        ["file: ann/annotated_instances.jsonl:1.label_annotations: is missing"],
    ),
    ("preferences", [{"chosen": "Hi.", "rejected": []}], ["file:1: rejected: is empty: no answer"]),
    (
        "prolific",
        {"README.md": ""},
        ["file: needs Prolific's export and a table with PROLIFIC_PID"],
    ),
    (
        "prolific",
        STUDY | {"answers.csv": "PROLIFIC_PID,fun\np1,4\n"},
        [
            (
                "file: answers.csv: one column must be the response, or the context of "
                "conversations without any"
            ),
        ],
    ),
    (
        "prolific",
        STUDY | {"answers.csv": STUDY["answers.csv"] + "p1,s1,d,cook,Hi.,4,5\n"},
        ["answers.csv:3: has 7 cells; the heading line has 6"],
    ),
    (
        "prolific",
        STUDY | {"export.csv": STUDY["export.csv"] + "1,2,3,4\n"},
        ["export.csv:3: has 4 cells; the heading line has 3"],
    ),
    (
        "qualtrics",
        SURVEY | {"answers.csv": "ResponseId,1_Q2\nResponse ID,How good?\nr1,4\n"},
        ["file: answers.csv: has no row of import ids, as Qualtrics writes it"],
    ),
    (
        "qualtrics",
        SURVEY | {"items.csv": "loop,dialog_id,turn,system,response\n1,d,two,cook,Hi.\n"},
        ["file: items.csv:2.turn: must be a whole number, not 'two'"],
    ),
    (
        "qualtrics",
        SURVEY | {"items.csv": "loop,dialog_id,system,response\n1,d,cook,Hi.\n1,d,baker,Hey.\n"},
        ["file: items.csv:3.loop: '1' occurs twice"],
    ),
    ("request-logs", [{"request": {}}], ["file:1: has no request and response"]),
    (
        "request-logs",
        [{"request": {}, "response": {}}],
        ["file:1: request: has no messages, and no prompt"],
    ),
    (
        "response-pairs",
        "response_a,response_b\nHi.,Hey.\n",
        ["file:2: has not the columns of two responses and of a vote"],
    ),
    (
        "system-columns",
        "prompt,baker_response\nHello,Hi.\n",
        ["file:2: has not two columns of responses, as in SYSTEM_response"],
    ),
    (
        "system-columns",
        "prompt,response\nHello,Hi.\n",
        ["file:2: has not two columns of responses, as in SYSTEM_response"],
    ),
    ("table", b"\xff\xfe", ["file: holds no rows"]),
    ("table", "\n", ["file:1: names no column"]),
    ("table", "[{}]", ["file: holds no rows with keys"]),
    ("table", '[{"response": "Hi."}, 1]', ["file: $[1]: is no object with the columns as keys"]),
    (
        "unpaired-preferences",
        [{"completion": [], "label": True}],
        ["file:1: completion: is empty: no answer"],
    ),
    (
        "usr",
        "[1 2]",
        [
            (
                "file: $[0]: expected a comma or the end of the list after this element, "
                "at line 1 column 4"
            ),
        ],
    ),
    ("usr", "[" * 100_000, ["file: $[0]: is nested too deeply, at line 1 column 2"]),
    (
        "usr",
        json.dumps([{**USR, "responses": [{"model": "cook", "response": "Hi."}]}]),
        ["file: $[0].responses[0].Overall: is missing: every response has this score"],
    ),
    (
        "usr",
        json.dumps([{**USR, "context": "Hello\n\nHi"}]),
        ["file: $[0].context: line 2 is empty: who speaks after it cannot be told"],
    ),
    (
        "xdial",
        "english_ctx,english_res\nHello,Hi.\n",
        ["file:2: needs LANGUAGE_ctx and LANGUAGE_res, or LANGUAGE_dial, and ratings"],
    ),
]


@pytest.mark.parametrize(("format_name", "content", "expected"), FAULTS)
def test_the_fault_and_its_place_are_named(
    tmp_path: Path, format_name: str, content: Any, expected: list[str]
) -> None:
    assert problems(format_name, placed(tmp_path, content)) == expected


def test_all_at_fault_are_named_when_an_element_of_usr_is_none(tmp_path: Path) -> None:
    """A hundred faults end the first reading, too: the bad JSON behind them is not reached."""
    found = problems("usr", placed(tmp_path, "[" + "{}," * 101 + "x]"))
    assert found[0] == "file: $[0].context: is missing"
    assert found[-1] == "and more; stopped"


def test_a_part_of_a_tool_whose_response_is_no_text_stays_a_part(tmp_path: Path) -> None:
    part = {"type": "tool_call_response", "response": {"degrees": 200}}
    path = placed(tmp_path, [{"messages": [*HELLO, {"role": "tool", "content": [part]}, *HI]}])
    [dialogue] = of_type(read("messages", path), DialogueRecord)
    assert [dict(one) for one in dialogue.messages[1].parts] == [part]


def test_a_call_of_a_tool_among_the_parts_is_kept(tmp_path: Path) -> None:
    part = {"type": "tool_use", "id": "t1", "name": "heat", "input": {"degrees": 200}}
    path = placed(tmp_path, [{"messages": [*HELLO, {"role": "assistant", "content": [part]}]}])
    [dialogue] = of_type(read("messages", path), DialogueRecord)
    call = {"type": "tool_call", "name": "heat", "arguments": {"degrees": 200}, "id": "t1"}
    assert [dict(one) for one in dialogue.messages[1].parts] == [call]


def test_a_list_in_a_cell_may_hold_line_breaks(tmp_path: Path) -> None:
    row = '1,cook,baker,"[""Hello\nyou""]","[""Hi.""]","[""Hey.""]"\n'
    [dialogue] = of_type(read("arena-battles", placed(tmp_path, BATTLES + row)), DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Hello\nyou"]


# --- limits ---------------------------------------------------------------------------------------

HELD = (
    *("arena-hard", "chatbot-arena", "dstc10", "dstc11", "fed", "helm", "inspect", "langfuse"),
    *("lm-eval", "message-rows", "mt-bench", "mt-bench-human", "oasst", "openai-batch"),
    *("openinference", "otel-genai", "promptfoo", "response-pairs", "summary-feedback"),
    *("summeval", "system-columns"),
)
"""Formats whose records of a dialogue may stand anywhere."""


@pytest.mark.parametrize("format_name", HELD)
def test_a_file_that_has_to_be_held_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_name: str
) -> None:
    monkeypatch.setattr("annotations.formats.importers.crossed.MAX_GROUPED_BYTES", 1)
    assert problems(format_name, placed(tmp_path, importers()[format_name].example)) == [
        "file: is larger than 0 MiB: the records of one dialogue may stand anywhere in it, so that "
        "it is held in memory; import it in pieces"
    ]


LIMITS: list[tuple[str, str, int, Any, list[str]]] = [
    (
        "grade",
        "grade.MAX_PARTS",
        0,
        json.dumps([GRADE]),
        ["file: $[0].Dataset: more than 0 corpora in one file"],
    ),
    (
        "grade",
        "grade.MAX_HELD_CHARACTERS",
        1,
        json.dumps([GRADE]),
        ["file: $[0]: the corpus is larger than 1 characters"],
    ),
    (
        "grade-files",
        "grade_files.MAX_LINES",
        1,
        LINES | {"a/cook/human_hyp.txt": "a\nb\n"},
        ["a/cook/human_hyp.txt:2: more than 1 lines"],
    ),
    (
        "mt-metrics-eval",
        "mt_metrics_eval.MAX_SEGMENTS",
        0,
        SEGMENTS,
        ["file: en-de.txt: has more than 0 lines"],
    ),
    (
        "parlai",
        "parlai.MAX_EXCHANGES",
        1,
        "text:Hello\tlabels:Hi.\n" * 2,
        ["file:2: more than 1 lines before episode_done:True in one episode"],
    ),
    (
        "potato",
        "potato.MAX_STATE",
        1,
        {"ann/user_state.json": "{}"},
        ["file: ann/user_state.json: is not readable: is too large"],
    ),
    (
        "table",
        "table_source.MAX_ROWS",
        1,
        "response,fun\nHi.,1\nHey.,2\n",
        ["file:3: is row 2; a table has at most 1"],
    ),
]


@pytest.mark.parametrize(("format_name", "name", "value", "content", "expected"), LIMITS)
def test_what_is_beyond_a_limit_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    format_name: str,
    name: str,
    value: int,
    content: Any,
    expected: list[str],
) -> None:
    monkeypatch.setattr(f"annotations.formats.importers.{name}", value)
    assert problems(format_name, placed(tmp_path, content)) == expected


# --- what is packed -------------------------------------------------------------------------------


def zip_of(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def tar_of(*members: tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return file.getvalue()


def tar_member(name: str, size: int = 0, **attributes: Any) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    for key, value in attributes.items():
        setattr(member, key, value)
    return member


def parquet_of(*rows: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), file)
    return file.getvalue()


def workbook() -> bytes:
    file = io.BytesIO()
    openpyxl.Workbook().save(file)
    return file.getvalue()


STORED = zip_of(**{"a.jsonl": b"{}\n"})
PACKED: dict[str, tuple[bytes, str]] = {
    "a zip file of folders": (
        zip_of(**{"a/": b""}),
        "is an archive without files",
    ),
    "a zip file that is cut off": (STORED[:40], "is a damaged archive: File is not a zip file"),
    "a zip file with another checksum": (
        STORED.replace(zlib.crc32(b"{}\n").to_bytes(4, "little"), bytes(4)),
        "is a damaged archive: Bad CRC-32 for file 'a.jsonl'",
    ),
    "a tar file of folders": (
        tar_of(tar_member("a", type=tarfile.DIRTYPE)),
        "is an archive without files",
    ),
    "a tar file that is cut off": (
        tar_of(tar_member("a.jsonl", 2_000))[:1_000],
        "is a damaged archive: unexpected end of data",
    ),
    "a gzip file that is cut off": (
        gzip.compress(b"{}" * 100)[:20],
        "is a damaged archive: Compressed file ended before the end-of-stream marker was reached",
    ),
    "half a character of UTF-16": (
        b"\xff\xfe[\0\0\xd8",
        "is not UTF-16, as its first bytes say; save it as UTF-8",
    ),
    "a document": (
        zip_of(**{"word/a.xml": b""}),
        "is a zip archive without a spreadsheet; give the file itself",
    ),
    "a spreadsheet of nothing": (
        zip_of(**{"xl/a.xml": b""}),
        "is a damaged spreadsheet: \"There is no item named '[Content_Types].xml' in the archive\"",
    ),
    "a spreadsheet without cells": (workbook(), "is a spreadsheet without content"),
    "a spreadsheet of zeros": (
        zip_of(**{"xl/a.xml": bytes(2 * 1024**2)}),
        "would unpack to 2,097,152 bytes: it is no ordinary spreadsheet",
    ),
}


@pytest.mark.parametrize("name", PACKED)
def test_what_is_wrong_with_packed_files_is_named(tmp_path: Path, name: str) -> None:
    content, message = PACKED[name]
    assert problems("table", placed(tmp_path, content)) == [f"file: {message}"]


@pytest.mark.parametrize(
    ("limit", "value", "content", "message"),
    [
        ("MAX_MEMBERS", 1, zip_of(a=b"1", b=b"2"), "has 2 members; at most 1 are taken"),
        ("MAX_MEMBERS", 1, tar_of(tar_member("a"), tar_member("b")), "has more than 1 members"),
        ("MAX_UNPACKED", 9, zip_of(a=b"1234567890"), "would unpack to more than 9 bytes"),
        (
            "MAX_UNPACKED",
            9,
            gzip.compress(b"1234567890", mtime=0),
            "would unpack to more than 9 bytes",
        ),
        ("MAX_UNPACKED", 9, parquet_of({"a": "1234"}), "unpacks to more than 9 characters"),
    ],
)
def test_a_packed_file_has_limits(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: int,
    content: bytes,
    message: str,
) -> None:
    monkeypatch.setattr(f"annotations.formats.importers.unpacking.{limit}", value)
    assert problems("table", placed(tmp_path, content)) == [f"file: {message}"]


def test_a_folder_of_more_files_than_are_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotations.formats.importers.base.MAX_MEMBERS", 1)
    folder = placed(tmp_path, {"a.txt": "ann: Hello\nbob: Hi.", "below/b.txt": "ann: Hello\n"})
    message = "holds more than 1 files: import them in several folders"
    assert problems("chat-text", folder) == [f"file: {message}"]


# --- what no content of a file says ---------------------------------------------------------------


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file")
    assert problems("usr", tmp_path / "file") == ["file: is not a regular file"]


def test_a_format_of_one_corpus_has_no_other(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed) as failure:
        read("usr", placed(tmp_path, "[]"), "movies")
    assert str(failure.value) == (
        "file: holds no corpus 'movies': this format has one corpus a file, with no name"
    )


def test_rows_of_no_dialogue_of_a_dataset_are_named(tmp_path: Path) -> None:
    response = {"dialogue_id": "e", "turn": 0, "system": "cook", "text": "Hi."}
    path = placed(
        tmp_path,
        {
            "data/corpus.parquet": parquet_of({"name": "c", "lowest": 1.0, "highest": 5.0}),
            "data/dialogues.parquet": parquet_of({"dialogue_id": "d", "turns": [TURN]}),
            "data/responses.parquet": parquet_of(response),
        },
    )
    assert problems("dataset", path) == [
        "file: responses[1].dialogue_id: 'e' is not among the dialogues, or the rows of a dialogue "
        "do not stand together in the dialogues' order"
    ]


def test_what_is_left_out_of_a_file_counts_for_its_folder(tmp_path: Path) -> None:
    of_folder = Problems("folder")
    problems_of(of_folder, tmp_path, tmp_path / "a.csv").skip(2, "", "is a preview")
    assert [str(one) for one in of_folder.skipped] == ["a.csv:2: is a preview"]
    assert of_folder.skipped_count == 1


def test_a_table_that_grows_while_it_is_read_is_refused() -> None:
    readings = iter([1, 2])

    def rows(_problems: Problems) -> Iterator[tuple[Where, dict[str, str]]]:
        for number in range(next(readings)):
            yield number + 2, {"id": str(number), "response": "Hi."}

    found = Problems("file")
    mapping = TableMapping({"id": Column("conversation"), "response": Column("response")}, 1)
    with pytest.raises(ImportFailed) as failure:
        list(records_of_table(rows, mapping, False, found))
    assert str(failure.value) == "file:3: was not there before: the file changed meanwhile"
