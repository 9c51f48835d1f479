"""Tables that people make: what each column is, and what spreadsheets do to a file."""

from __future__ import annotations

import csv
import io
import json
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest

from annotations.formats.importers import table_reader
from annotations.formats.importers.added_rows import added_table
from annotations.formats.importers.column_mapping import (
    Column,
    TableMapping,
    guess_mapping,
    mapping_as_yaml,
    mapping_from_yaml,
)
from annotations.formats.importers.problems import ImportFailed, Problems
from annotations.formats.importers.registry import importers, likely_format, possible_formats
from annotations.formats.importers.table import FIRST_ROWS, with_mapping
from annotations.formats.importers.table_source import read_rows
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
)
from tests.annotations.formats.importers.helpers import file_of, of_type, problems, read

LONG = "dialog_id,system,response,rater,score\n"


def table(folder: Path, content: str | bytes, name: str = "table.csv") -> list[Record]:
    return read("table", file_of(folder, content, name))


# --- what a column is -----------------------------------------------------------------------------


def test_a_column_a_rater_and_a_column_an_aspect_are_told_apart() -> None:
    heading = ("item", "reply", "rater_1", "fluent", "overall r2", "time_s", "liked")
    rows = [("1", "a", "4", "2", "5", "12", "yes"), ("2", "b", "", "3", "n/a", "9", "no")]
    assert guess_mapping(heading, rows).columns == {
        "item": Column("conversation"),
        "reply": Column("response"),
        "rater_1": Column("score", "", "rater_1"),
        "fluent": Column("score", "fluent"),
        "overall r2": Column("score", "overall", "r2"),
        "time_s": Column("metadata"),
        "liked": Column("label", "liked"),
    }


def test_beside_a_column_of_scores_numbers_are_metadata() -> None:
    guess = guess_mapping(("response", "score", "epoch"), [("a", "4", "7")])
    assert guess.columns["epoch"] == Column("metadata")


def test_a_mapping_survives_its_file() -> None:
    mapping = TableMapping(
        {"item": Column("conversation"), "q1: a": Column("score", "fluent", "ann"),
         "reply": Column("response"), "": Column("ignore")},
        heading_line=3,
    )  # fmt: skip
    assert mapping_from_yaml(mapping_as_yaml(mapping)) == mapping


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("columns: [", "not YAML"),
        ("- a", "must have `columns`"),
        ("columns: {a: cat}", "'cat' is none of"),
        ("columns: {a: system, b: system, c: response}", "only one column can be the system"),
        ("columns: {a: system}", "must be the response"),
        ("columns: {a: {use: system, rater: ann}, b: response}", "only a score or label"),
        ("columns: &x {a: response}\nheading_line: *x", "anchors or aliases"),
        ("columns: {a: response}\nrun: 1", "unknown key: run"),
        ("columns: {a: !!python/object:os.system response}", "not YAML"),
    ],
)
def test_a_mapping_that_is_none_says_why(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mapping_from_yaml(text)


def test_a_mapping_overrules_the_guess(tmp_path: Path) -> None:
    """``bot`` is no name that is known for a system."""
    path = file_of(tmp_path, "bot,said,mark\ncook,Leeks.,4\nparrot,Pot?,1\n", "t.csv")
    mapping = TableMapping(
        {"bot": Column("system"), "said": Column("response"), "mark": Column("score", "taste")}
    )
    records = list(with_mapping(mapping).read(path))
    assert [(one.system, one.aspect, one.score) for one in of_type(records, RatingRecord)] == [
        ("cook", "taste", 4.0),
        ("parrot", "taste", 1.0),
    ]


def test_a_mapping_of_another_table_names_the_column_that_is_missing(tmp_path: Path) -> None:
    mapping = TableMapping({"said": Column("response")})
    with pytest.raises(ImportFailed, match=r"t\.csv:1: has no column 'said'; found a, b"):
        list(with_mapping(mapping).read(file_of(tmp_path, "a,b\n1,2\n", "t.csv")))


# --- what becomes of a row ------------------------------------------------------------------------


def test_unknown_columns_become_metadata_of_the_response(tmp_path: Path) -> None:
    """What raters' rows share is said once; what differs, by rater."""
    text = (
        "dialog_id,system,response,rater,score,lang,secs\n"
        "d,cook,Leeks.,ann,4,en,12\nd,cook,Leeks.,bob,5,en,9\n"
    )
    [response] = of_type(table(tmp_path, text), ResponseRecord)
    assert response.metadata == {"lang": "en", "secs": {"ann": "12", "bob": "9"}}


def test_text_among_numbers_is_skipped_and_text_alone_is_a_label(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        LONG.replace("score", "aspect,score")
        + "d,cook,Leeks.,ann,taste,4\nd,cook,Leeks.,bob,taste,nice\nd,cook,Leeks.,ann,tone,warm\n",
        "t.csv",
    )
    found = Problems("t.csv")
    records = list(importers()["table"].read_with(path, "", found, None))
    assert [one.score for one in of_type(records, RatingRecord)] == [4.0]
    assert [(one.question, one.value) for one in of_type(records, LabelRecord)] == [
        ("tone", "warm")
    ]
    assert [str(one) for one in found.skipped] == ["t.csv:3: taste: is no number: 'nice'"]


def test_raters_of_texts_and_of_labels_stand_in_the_order_of_the_rows(tmp_path: Path) -> None:
    columns = {"rater": Column("rater"), "response": Column("response")}
    columns |= {"taste": Column("score", "taste"), "fault": Column("label", "fault")}
    importer = with_mapping(TableMapping(columns, 1))
    text = "rater,response,taste,fault\nann,Leeks.,nice,\nbob,Leeks.,,short\n"
    records = list(importer.read(file_of(tmp_path, text)))
    assert [one.name for one in of_type(records, RaterRecord)] == ["ann", "bob"]


def test_records_of_jsonl_are_rows_of_what_they_add(tmp_path: Path) -> None:
    place = {"dialogue_id": "d", "turn": 0, "system": "cook"}
    lines = [
        {"type": "system", "name": "cook"},
        {"type": "response", **place, "text": "Leeks."},
        {"type": "rating", **place, "rater": "ann", "aspect": "taste", "score": 4},
        {"type": "label", **place, "rater": "ann", "question": "fault", "value": "short"},
    ]
    rows = read_rows(
        file_of(tmp_path, "".join(json.dumps(one) + "\n" for one in lines)), Problems("")
    )
    assert [(line, {key: one for key, one in row.items() if one}) for line, row in rows] == [
        (2, {"dialogue_id": "d", "turn": "0", "system": "cook", "response": "Leeks."}),
        (
            3,
            {"dialogue_id": "d", "turn": "0", "system": "cook"}
            | {"rater": "ann", "aspect": "taste", "score": "4"},
        ),
        (
            4,
            {"dialogue_id": "d", "turn": "0", "system": "cook"}
            | {"rater": "ann", "aspect": "fault", "score": "short"},
        ),
    ]


def test_without_ids_rows_of_one_context_are_one_conversation(tmp_path: Path) -> None:
    text = "context,system,response\nUser: hi,a,1\nUser: hi,b,2\nUser: ho,a,3\n"
    records = table(tmp_path, text)
    assert [one.id for one in of_type(records, DialogueRecord)] == ["1", "2"]
    assert [one.name for one in of_type(records, SystemRecord)] == ["a", "b"]


def test_another_context_for_the_same_turn_is_a_fault(tmp_path: Path) -> None:
    text = "dialog_id,context,system,response\nd,User: hi,a,1\nd,User: ho,b,2\n"
    path = file_of(tmp_path, text, "t.csv")
    assert problems("table", path) == [
        "t.csv:3: context: is another context than at 2, which has the same turn"
    ]


# --- how files are written ------------------------------------------------------------------------

SAVED = {
    "windows-1252": "dialog_id;system;response;score\r\nd;cook;Käse – ja;4,5\r\n".encode("cp1252"),
    "utf-16": "dialog_id\tsystem\tresponse\tscore\r\nd\tcook\tKäse – ja\t4,5\r\n".encode("utf-16"),
    "a title above": "My study\r\n\r\ndialog_id;system;response;score\r\nd;cook;Käse – ja;4,5\r\n".encode(),
    "bars": "dialog_id|system|response|score\nd|cook|Käse – ja|4.5\n".encode(),
    "JSON lines": '{"dialog_id": "d", "system": "cook", "response": "Käse – ja", "score": 4.5}\n'.encode(),
}


@pytest.mark.parametrize("content", SAVED.values(), ids=SAVED)
def test_whoever_saved_the_table_it_reads_the_same(tmp_path: Path, content: bytes) -> None:
    records = table(tmp_path, content)
    [response] = of_type(records, ResponseRecord)
    [rating] = of_type(records, RatingRecord)
    assert (response.system, response.text, rating.score) == ("cook", "Käse – ja", 4.5)


def sheet(folder: Path, rows: list[list[object]]) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "table.xlsx")
    return folder / "table.xlsx"


def test_a_formula_is_its_text(tmp_path: Path) -> None:
    rows: list[list[object]] = [["system", "response", "score"], ["cook", '=HYPERLINK("x")', 4]]
    [response] = of_type(read("table", sheet(tmp_path, rows)), ResponseRecord)
    assert response.text == '=HYPERLINK("x")'


def test_parquet_is_a_table_too(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"dialog_id": [1], "system": ["cook"], "response": ["Leeks."], "score": [4.5]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert possible_formats(tmp_path / "t.parquet")[0].name == "table"
    [rating] = of_type(read("table", tmp_path / "t.parquet"), RatingRecord)
    assert (rating.dialogue_id, rating.system, rating.score) == ("1", "cook", 4.5)


def test_a_zip_file_is_what_it_holds(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "study.zip", "w") as archive:
        archive.writestr("study/table.csv", LONG + "d,cook,Leeks.,ann,4\n")
        archive.writestr("__MACOSX/._table.csv", "x")
    assert possible_formats(tmp_path / "study.zip")[0].name == "table"
    assert len(of_type(read("table", tmp_path / "study.zip"), RatingRecord)) == 1


# --- hostile tables -------------------------------------------------------------------------------


def bomb(name: str, size: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        if name.startswith("xl/"):
            archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr(name, b"0" * size)
    return target.getvalue()


def zipped(*names: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return target.getvalue()


HOSTILE = {
    "NUL": (LONG.encode() + b"d,co\0ok,Leeks.,ann,4\n", "holds a NUL byte"),
    "a million columns": (b"a," * 1_000_000 + b"\n", "cells; at most 2,000"),
    "a quote without an end": (LONG.encode() + b'd,cook,"' + b"x\n" * 700_000, "a quote may be"),
    "a zip bomb": (bomb("table.csv", 60_000_000), "would unpack to more than"),
    "a spreadsheet bomb": (bomb("xl/worksheets/sheet1.xml", 60_000_000), "would unpack to"),
    "a way out": (zipped("../out.csv", "b.csv"), "has a member that is not taken"),
    "an absolute path": (zipped("/etc/out.csv", "b.csv"), "has a member that is not taken"),
    "half an archive": (zipped("a.csv", "b.csv")[:60], "is a damaged"),
    "a lying Parquet": (b"PAR1" + b"\xff" * 400 + b"\xff\xff\xff\x7fPAR1", "is damaged"),
    "half a Parquet": (b"PAR1" + b"\0" * 20, "is damaged"),
    "a million keys": (
        b'{"response": "x"' + b"".join(b', "k%d": 1' % n for n in range(100_000)) + b"}\n",
        "keys; at most 2,000",
    ),
}


@pytest.mark.parametrize(("content", "told"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_table_is_refused_in_bounded_time(
    tmp_path: Path, content: bytes, told: str
) -> None:
    path = file_of(tmp_path, content, "table.csv")
    began = time.monotonic()
    possible_formats(path)
    assert told in problems("table", path)[0]
    assert time.monotonic() - began < 30
    assert [one.name for one in tmp_path.iterdir()] == ["table.csv"]


def test_a_long_cell_is_refused_without_moving_the_limit_of_other_readers(tmp_path: Path) -> None:
    [found] = problems("table", file_of(tmp_path, f"{LONG}d,cook,{'x' * 131_073},ann,4\n"))
    assert "has a cell of more than 131,072 characters; a quote may be missing" in found
    assert csv.field_size_limit() == 131_072


@pytest.mark.parametrize("name", ["label-studio", "argilla"])
def test_a_number_beyond_a_double_is_refused(tmp_path: Path, name: str) -> None:
    [found] = problems(
        name,
        file_of(
            tmp_path, re.sub(r'"(rating|value)": 4', rf'"\1": {10**400}', importers()[name].example)
        ),
    )
    assert found == "file.json: $[0].score: must be a finite number"


def test_half_a_spreadsheet_is_refused(tmp_path: Path) -> None:
    path = sheet(tmp_path, [["system", "response"], *[["cook", f"Leeks {n}."] for n in range(99)]])
    path.write_bytes(path.read_bytes()[:-300])
    assert possible_formats(path) == []
    assert "is" in problems("table", path)[0]


# --- in bounded memory ----------------------------------------------------------------------------


def rows_of(conversations: int, rows: int, together: bool) -> str:
    """``rows`` raters of one response in each conversation, together or one rater after another."""
    places = [(number, rater) for number in range(conversations) for rater in range(rows)]
    if not together:
        places.sort(key=lambda place: place[1])
    return LONG + "".join(f"d{number},cook,Leeks.,r{rater},4\n" for number, rater in places)


def test_conversations_whose_rows_stand_together_are_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty conversations of four rows: one is held at a time."""
    monkeypatch.setattr(table_reader, "MAX_HELD", 4)
    found = table(tmp_path, rows_of(50, 4, together=True))
    assert len(of_type(found, RatingRecord)) == 200


def test_the_first_conversations_come_before_the_table_is_read(tmp_path: Path) -> None:
    path = file_of(tmp_path, rows_of(3, 2, together=True))
    given, read_lines = [], []
    mapping = guess_mapping(LONG.strip().split(","), [])

    def rows(noting: Problems) -> Iterator[tuple[int, dict[str, str]]]:
        del read_lines[:]
        for line, row in read_rows(path, noting):
            read_lines.append(line)
            yield line, row

    for record, _, _ in table_reader.records_of_table(rows, mapping, False, Problems("t")):
        if isinstance(record, DialogueRecord):
            given.append((record.id, len(read_lines)))
    assert given == [("d0", 2), ("d1", 4), ("d2", 6)]


def test_too_many_rows_that_wait_for_more_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_reader, "MAX_HELD", 9)
    [found] = problems("table", file_of(tmp_path, rows_of(5, 4, together=False)))
    assert "11: more than 9 rows are of conversations that go on later; sort" in found


def test_conversations_come_in_the_order_of_their_first_rows(tmp_path: Path) -> None:
    """d0 ends last."""
    text = LONG + "d0,cook,a,ann,1\nd1,baker,b,bob,2\nd0,baker,c,cat,3\n"
    found = table(tmp_path, text)
    assert [one.id for one in of_type(found, DialogueRecord)] == ["d0", "d1"]
    assert [one.name for one in of_type(found, SystemRecord)] == ["cook", "baker"]
    assert [one.rater for one in of_type(found, RatingRecord)] == ["ann", "cat", "bob"]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"], ids=["old Mac", "Windows", "Unix"])
def test_lines_may_end_in_any_way(tmp_path: Path, end: str) -> None:
    text = f"{LONG}d,cook,Leeks.,ann,4\n"
    assert table(tmp_path, text.replace("\n", end), "other.csv") == table(tmp_path, text)


@pytest.mark.parametrize(
    ("heading", "cells"),
    [
        ("Dialog-ID;Runde;System;Kontext;Antwort;Bewerter;Kriterium;Bewertung", "Grüß dich"),
        ("对话;轮次;模型;上下文;回复;评分者;维度;分数", "你好"),
    ],
)
def test_headings_of_other_languages_are_known(tmp_path: Path, heading: str, cells: str) -> None:
    path = file_of(tmp_path, f"{heading}\nd1;0;m1;User: hi;{cells};ann;fluent;3,5\n", "t.csv")
    assert likely_format(path) == ("table", "")
    [rating] = of_type(read("table", path), RatingRecord)
    assert (rating.system, rating.rater, rating.aspect, rating.score) == (
        "m1",
        "ann",
        "fluent",
        3.5,
    )


def test_answers_in_the_json_of_a_task_of_mturk_are_read(tmp_path: Path) -> None:
    answers = json.dumps([{"overall": {"1": False, "2": True}, "fluent": 4, "why": "short"}])
    rows = [
        ["HITId", "WorkerId", "Input.dialog_id", "Input.response", "Answer.taskAnswers"],
        ["H1", "W1", "d1", "Leeks.", answers],
    ]
    written = io.StringIO(newline="")
    csv.writer(written).writerows(rows)
    path = file_of(tmp_path, written.getvalue(), "batch.csv")
    assert likely_format(path) == ("mturk", "")
    found = of_type(read("mturk", path), RatingRecord)
    assert {one.aspect: (one.rater, one.score) for one in found} == {
        "overall": ("W1", 2.0),
        "fluent": ("W1", 4.0),
    }
    assert [one.comment for one in found if one.comment] == ["short"]


@pytest.mark.parametrize("ending", ["tsv", "xlsx"])
def test_a_survey_of_qualtrics_may_be_another_table(tmp_path: Path, ending: str) -> None:
    rows = [
        ["ResponseId", "Status", "1_Q2"],
        ["Response ID", "Response Type", "How good?"],
        ['{"ImportId":"_recordId"}', '{"ImportId":"status"}', '{"ImportId":"1_QID2"}'],
        ["R_1", "IP Address", "7 - Excellent"],
    ]
    if ending == "xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / "answers.xlsx")
    else:
        written = io.StringIO(newline="")
        csv.writer(written, delimiter="\t").writerows(rows)
        (tmp_path / "answers.tsv").write_text(written.getvalue(), encoding="utf-16")
    items = "loop,dialog_id,turn,system,context,response\n1,d1,0,m1,User: hi,Leeks.\n"
    file_of(tmp_path, items, "items.csv")
    assert likely_format(tmp_path) == ("qualtrics", "")
    [rating] = of_type(read("qualtrics", tmp_path), RatingRecord)
    assert (rating.rater, rating.system, rating.aspect, rating.score) == ("R_1", "m1", "Q2", 7.0)


def test_no_row_is_lost_after_those_that_columns_are_guessed_from(tmp_path: Path) -> None:
    """Of a table that adds to a corpus, one row more than are looked at, and one after it."""
    rows = "".join(f"d{number},0,cook,{number}\n" for number in range(FIRST_ROWS + 2))
    path = file_of(tmp_path, f"dialog_id,turn,system,taste\n{rows}", "t.csv")
    found = [row.conversation for row in added_table(path, Problems("t.csv")).rows]
    assert found == [f"d{number}" for number in range(FIRST_ROWS + 2)]
