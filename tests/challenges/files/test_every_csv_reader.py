"""Whatever takes CSV takes what spreadsheets write, or says what to do; there is one reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations.formats.importers.base import ImportFailed
from annotations.formats.importers.registry import importers
from leaderboard.challenges.files.layout_file import layout_of
from leaderboard.challenges.files.responses import check_responses, read_responses
from leaderboard.challenges.files.scores import check_scores, read_scores
from tests.challenges.files.helpers import SMALL, small_layout

Rows = Sequence[Sequence[str]]
PROJECT = Path(__file__).parents[3]
RESPONSES = [
    ("dialog_id", "turn", "response"),
    *((name, str(turn), f"Café 你好 {turn}") for name, turn in SMALL),
]
SCORES = [
    ("dialog_id", "turn", "system", "score"),
    *((name, str(turn), "né", "0.5") for name, turn in SMALL),
]
RATINGS = [
    ("dialog_id", "turn", "system", "context", "response", "rater", "score"),
    *((name, str(turn), "né", "How?", f"Café 你好 {turn}", "ann", "4.5") for name, turn in SMALL),
]


def responses(path: Path) -> Any:
    found = check_responses(path, small_layout())
    assert found.is_sound, found.problems
    return list(read_responses(path, small_layout()))


def scores(path: Path) -> Any:
    found = check_scores(path, "turn", small_layout(), ["né"])
    assert not found.problems, found.problems
    return list(read_scores(path, "turn", small_layout(), ["né"]))


def template(path: Path) -> Any:
    return list(layout_of(path))


def ratings(path: Path) -> Any:
    return list(importers()["ratings"].read(path))


READERS: dict[str, tuple[Callable[[Path], Any], Rows]] = {
    "responses": (responses, RESPONSES),
    "metric scores": (scores, SCORES),
    "a template": (template, RESPONSES),
    "ratings of a corpus": (ratings, RATINGS),
}


def table(rows: Rows, separator: str = ",", end: str = "\n", comma: bool = False) -> str:
    def cell(text: str) -> str:
        if comma and re.fullmatch(r"[0-9]+\.[0-9]+", text):
            text = text.replace(".", ",")
        return f'"{text}"' if separator in text else text

    return "".join(separator.join(map(cell, row)) + end for row in rows)


def empty_rows(rows: Rows, separator: str) -> str:
    return (separator * (len(rows[0]) - 1) + "\r\n") * 3 + "\r\n"


SHEETS: dict[str, Callable[[Rows], bytes]] = {
    "a byte order mark": lambda rows: b"\xef\xbb\xbf" + table(rows).encode(),
    "lines that end as on Windows": lambda rows: table(rows, end="\r\n").encode(),
    "semicolons and decimal commas": lambda rows: table(rows, ";", "\r\n", comma=True).encode(
        "utf-8-sig"
    ),
    "tabs": lambda rows: table(rows, "\t").encode(),
    "Excel's Unicode text": lambda rows: table(rows, "\t", "\r\n", comma=True).encode("utf-16"),
    "UTF-16, the other way round": lambda rows: b"\xfe\xff" + table(rows).encode("utf-16-be"),
    "empty rows at the end": lambda rows: (table(rows, ";") + empty_rows(rows, ";")).encode(),
    "empty columns at the end": lambda rows: table([(*row, "", "") for row in rows]).encode(),
    "a line that tells Excel the separator": lambda rows: (
        "sep=;\r\n" + table(rows, ";", "\r\n")
    ).encode(),
    "blanks around the headings": lambda rows: table(
        [[f" {cell} " for cell in rows[0]], *rows[1:]]
    ).encode(),
    "every cell in quotes": lambda rows: "".join(
        ",".join(f'"{cell}"' for cell in row) + "\r\n" for row in rows
    ).encode(),
}


@pytest.mark.parametrize("reader", sorted(READERS))
@pytest.mark.parametrize("sheet", sorted(SHEETS))
def test_what_a_spreadsheet_writes_is_read_as_the_plain_file(
    tmp_path: Path, sheet: str, reader: str
) -> None:
    read, rows = READERS[reader]
    (tmp_path / "plain.csv").write_text(table(rows), encoding="utf-8", newline="")
    (tmp_path / "sheet.csv").write_bytes(SHEETS[sheet](rows))
    assert read(tmp_path / "sheet.csv") == read(tmp_path / "plain.csv") != []


@pytest.mark.parametrize("sheet", sorted(SHEETS))
def test_a_table_that_guesses_its_columns_reads_the_same(tmp_path: Path, sheet: str) -> None:
    reader = importers()["table"]
    (tmp_path / "plain.csv").write_text(table(RATINGS), encoding="utf-8", newline="")
    (tmp_path / "sheet.csv").write_bytes(SHEETS[sheet](RATINGS))
    found, plain = (list(reader.read(tmp_path / f"{one}.csv")) for one in ("sheet", "plain"))
    assert found == plain != []


REFUSED: dict[str, tuple[bytes, str]] = {
    "another encoding": ("é,".encode("latin-1"), "in Excel save it as “CSV UTF-8”"),
    "an Excel file": (b"PK\x03\x04....", "save it as CSV UTF-8"),
    "an old Excel file": (b"\xd0\xcf\x11\xe0....", "save it as CSV in UTF-8"),
    "a Parquet file": (b"PAR1....", "is a Parquet file; give "),
}
TAKEN = dict.fromkeys(("responses", "metric scores", "a template"), "JSON or CSV")
DAMAGED = {"an Excel file": "is a damaged archive", "a Parquet file": "is damaged after row 0"}
"""Of a corpus's ratings these are read, too, where they are what they begin as."""


@pytest.mark.parametrize("reader", sorted(READERS))
@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_what_cannot_be_read_says_what_to_do(tmp_path: Path, kind: str, reader: str) -> None:
    read, rows = READERS[reader]
    start, advice = REFUSED[kind]
    (tmp_path / "file.csv").write_bytes(start + table(rows).encode())
    if kind == "a Parquet file":
        advice += TAKEN.get(reader, "CSV")
    if reader == "ratings of a corpus":
        advice = DAMAGED.get(kind, advice)
    with pytest.raises((ImportFailed, AssertionError), match=re.escape(advice)):
        read(tmp_path / "file.csv")


@pytest.mark.parametrize("reader", sorted(READERS))
def test_a_row_without_an_end_is_refused_in_utf_16_too(tmp_path: Path, reader: str) -> None:
    read, rows = READERS[reader]
    (tmp_path / "file.csv").write_bytes((table(rows) + '"' + "x" * 5_000_000).encode("utf-16"))
    with pytest.raises((ImportFailed, AssertionError), match="this row is longer than"):
        read(tmp_path / "file.csv")


def test_there_is_one_reader_of_csv() -> None:
    """Tables whose columns nobody knows are guessed from their beginnings, as formats are;
    baselines of BERTScore are a file of the metric's own, papers' figures files of the
    project's."""
    reading = re.compile(r"csv\.(reader|DictReader)\(|read_csv\(")
    found = {
        str(path.relative_to(PROJECT))
        for folder in ("common", "annotations", "workers", "leaderboard", "dialeval_site")
        for path in (PROJECT / folder).rglob("*.py")
        if reading.search(path.read_text(encoding="utf-8"))
    }
    assert found == {
        "annotations/formats/importers/csv_source.py",
        "annotations/formats/importers/sample.py",
        "leaderboard/reproduction/published/__init__.py",
        "workers/metrics/common/bertscore.py",
    }


# --- ratings as a table ---------------------------------------------------------------------------


def imported(folder: Path, text: str) -> list[str]:
    (folder / "ratings.csv").write_text(text, encoding="utf-8")
    try:
        return [type(record).__name__ for record in ratings(folder / "ratings.csv")]
    except ImportFailed as failure:
        return [str(problem) for problem in failure.problems]


def test_a_batch_of_mechanical_turk_is_taken_by_its_columns(tmp_path: Path) -> None:
    text = (
        '"HITId","WorkerId","WorkTimeInSeconds","Input.context","Input.response","Input.system",'
        '"Answer.overall","Answer.Natural"\n'
        '"3ABC","A1XX","31","What is in the pot?","Leeks.","cook","4","2"\n'
        '"3ABD","A2XX","12","What is in the pot?","Leeks.","cook","5",""\n'
        '"3ABE","A1XX","31","Who cooks?","I do.","cook","3","1"\n'
    )
    (tmp_path / "batch.csv").write_text(text, encoding="utf-8")
    corpus, *records = ratings(tmp_path / "batch.csv")
    assert corpus.aspects == ("overall", "Natural")
    found = [
        (one.dialogue_id, one.rater, one.aspect, one.score)
        for one in records
        if hasattr(one, "score")
    ]
    assert found == [
        ("0", "A1XX", "overall", 4.0),
        ("0", "A1XX", "Natural", 2.0),
        ("0", "A2XX", "overall", 5.0),
        ("1", "A1XX", "overall", 3.0),
        ("1", "A1XX", "Natural", 1.0),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "system,response\na,b\n",
            "has no column rater: the heading line must name system, response, rater and score",
        ),
        ("system,response,rater\na,b,c\n", "has no column score"),
        (
            "system,response,rater,score\na,b,c,good\n",
            "score: must be a number with a decimal point, not 'good'",
        ),
        (
            'system,response,rater,score\na,b,c,"4,5"\n',
            "score: must be a number with a decimal point, not '4,5'",
        ),
        ("system,response,rater,score\na,b,,4\n", "rater: is empty"),
        (
            "system,response,rater,score\na,b,c,4\na,other,d,4\n",
            "response: is another one than in line 2",
        ),
        (
            "system,response,rater,score\na,b,c,4\na,b,c,5\n",
            "the rater 'c' rates the same item for 'overall' twice",
        ),
        (
            "system,response,rater,score,turn\na,b,c,4,one\n",
            "turn: must be a whole number, not 'one'",
        ),
        ("system,response,rater,score\na,b,c,1e300\n", "score: is too large"),
        ("system,response,rater,score\na,b,c\n", "has 3 cells; the heading line has 4"),
        ('[{"system": "a"}]', "is JSON; this format is CSV"),
    ],
)
def test_a_fault_in_a_table_of_ratings_is_named_with_its_line(
    tmp_path: Path, text: str, fault: str
) -> None:
    (found, *_) = imported(tmp_path, text)
    assert found.startswith(
        f"ratings.csv:{1 if 'column' in fault or 'JSON' in fault else found.split(':')[1]}: "
    )
    assert fault in found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (
            '[{"id": 1, "data": {}, "annotations": [{"id": 7, "completed_by": 3, "result": []}]}]',
            "label-studio",
        ),
        ('{"id": "a", "label_annotations": {"overall": {"scale_4": "4"}}}', "potato"),
        (
            '[{"context": "User: Hi!\\nSystem: Hello.", "system": "M", "annotations": {"Overall": '
            "[3]}}]",
            "fed",
        ),
    ],
)
def test_a_file_that_is_read_as_another_format_says_what_it_looks_like(
    tmp_path: Path, content: str, what: str
) -> None:
    (tmp_path / "file.json").write_text(content, encoding="utf-8")
    for name in ("jsonl", "ratings", "usr"):
        with pytest.raises(CommandError, match=f"nothing was stored: .*the file looks like {what}"):
            call_command("import_corpus", name, str(tmp_path / "file.json"), "--slug", "x")
