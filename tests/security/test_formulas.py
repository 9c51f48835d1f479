"""CSV injection: no cell of any file is a formula, wherever a spreadsheet splits and whatever it
skips."""

from __future__ import annotations

import ast
import csv
import json
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.audit.text import as_csv as audit_as_csv
from annotations.formats.exporters.registry import exporters
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from common.tables.csv_text import csv_line, csv_table, guarded, json_cell, without_guard
from common.tables.table import Cell, Column, Row, Table
from common.tables.to_csv import table_to_csv
from leaderboard.client.boards import as_csv as board_as_csv
from tests.security.test_what_is_read import MODULES

FORMULAS = [
    *(
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "  @x",
        "\uff1d1+1",
        " \uff20x",
    ),
    *(
        "\xa0=1",
        "\u200b=1",
        "\ufeff=1",
        "\xad=1",
        "\x00=1",
        "\u2060\u3000 =1",
        "\u3164=1",
        "\ufe0f=1",
    ),
]
SEPARATORS = [",", ";", "\t", "|", "\n", "\r", "\u2028"]
SPLIT = [f"x{separator}{formula}" for separator in SEPARATORS for formula in FORMULAS]
SIGNS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?")


def cells_of(text: str) -> Iterator[str]:
    """What a spreadsheet may take for a cell: split at any separator, with our quotes and
    without."""
    lines = text.splitlines(keepends=True)
    for separator in ",;\t|":
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
            for row in csv.reader(lines, delimiter=separator, quoting=quoting):
                yield from row


def formulas_of(text: str) -> list[str]:
    """Cells that begin with a sign after what shows nothing, and are no numbers."""
    return [cell for cell in cells_of(text) if is_formula(cell)]


def is_formula(cell: str) -> bool:
    shown = cell
    while shown and (
        unicodedata.category(shown[0])[0] in "CZ" or shown[0] in '"\u3164\ufe0f\u2800'
    ):
        shown = shown[1:]
    return shown.startswith(SIGNS) and not NUMBER.fullmatch(shown.strip())


TEXTS = st.text(
    st.one_of(
        st.sampled_from(
            [*SIGNS, *SEPARATORS, *" \"'\xa0\u200b\ufeff\xad\u3164\ufe0f\v\f\x1c\x85", "a", "1"]
        ),
        st.characters(),
    ),
    max_size=12,
)
CELLS = st.one_of(TEXTS, st.none(), st.integers(-9, 9), st.floats(-1e9, 1e9, allow_nan=False))


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, CELLS, CELLS, CELLS), min_size=1, max_size=3))
def test_no_cell_is_a_formula_wherever_a_spreadsheet_splits(rows: list[tuple[Any, ...]]) -> None:
    """Rows begin with text: one that began with -1 would be, split at semicolons, that number and
    quoted text."""
    text = "".join(csv_line(row) for row in rows)
    assert formulas_of(text) == []


@settings(deadline=None)
@given(st.lists(CELLS, min_size=2, max_size=4))
def test_what_was_written_reads_back_exactly(row: list[Any]) -> None:
    """By a reader of CSV, and without the guard."""
    [cells] = csv.reader([csv_line(row)], strict=True)
    assert [without_guard(cell) for cell in cells] == [
        "" if cell is None else str(cell) for cell in row
    ]


DOCUMENTS = st.recursive(
    st.one_of(TEXTS, st.integers(-9, 9), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)


@settings(deadline=None)
@given(DOCUMENTS)
def test_json_in_a_cell_is_no_formula_and_reads_back_as_it_stands(document: Any) -> None:
    line = csv_line(["x", json_cell([document]), "y"])
    [cells] = csv.reader([line], strict=True)
    assert json.loads(cells[1]) == [document]
    # A negative number in a list is none: JSON knows no other way to write it.
    assert [cell for cell in formulas_of(line) if not re.match(r'[\s"]*-\d', cell)] == []


@pytest.mark.parametrize("text", [*FORMULAS, *SPLIT])
def test_a_formula_in_the_middle_of_a_text_is_guarded_where_it_would_begin_a_cell(
    text: str,
) -> None:
    assert guarded(text) != text
    assert without_guard(guarded(text)) == text
    assert formulas_of(csv_line(["a", text, "b"])) == []


@pytest.mark.parametrize(
    "text", ["plain", "a=b", "x - y", "me@example.org", "'quoted'", "1 + 1", "", "C++, C#", "a: -1"]
)
def test_ordinary_text_stays_readable(text: str) -> None:
    assert guarded(text) == text


def test_text_is_quoted_and_numbers_are_not() -> None:
    assert csv_line(["a", 1, -0.5, None, True, 'say "x"']) == '"a",1,-0.5,,True,"say ""x"""\r\n'


def test_what_is_no_number_of_a_spreadsheet_is_text() -> None:
    assert csv_line([float("-inf"), float("nan")]) == '"\'-inf","nan"\r\n'


def test_a_long_text_of_apostrophes_or_blanks_takes_no_time() -> None:
    """Else a response of a few kilobytes would hold up an export."""
    for text in ("'" * 200_000, " " * 200_000 + "=", ("'" * 100 + "\t") * 2_000, "=" * 200_000):
        assert without_guard(guarded(text)) == text


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
@pytest.mark.parametrize("separators", ["44", "59", "44/59/9"])
def test_libreoffice_finds_no_formula_whatever_it_splits_at(
    tmp_path: Path, separators: str
) -> None:
    """Comma, semicolon, and comma, semicolon and tab: with quotes (34) and as if there were
    none."""
    texts = [text for text in [*FORMULAS, *SPLIT] if "\0" not in text]
    path = tmp_path / "table.csv"
    lines = [csv_line(["a", text, -1.5, text, "b"]) for text in texts]
    path.write_text("".join(lines), encoding="utf-8", newline="")
    for quote in ("34", "0"):
        options = f"CSV:{separators},{quote},76,1,,0,false,false,false,false"
        command = ["soffice", "--headless", f"-env:UserInstallation=file://{tmp_path}/profile"]
        command += ["--convert-to", "fods", "--infilter=" + options, "--outdir", str(tmp_path)]
        subprocess.run([*command, str(path)], capture_output=True, check=True, timeout=600)
        sheet = (tmp_path / "table.fods").read_text(encoding="utf-8")
        assert sheet.count("<table:table-cell") > len(texts)
        assert "table:formula" not in sheet


# --- every file -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*FORMULAS, "x;=1+1", "a\n=1"])
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    table = Table(
        "t", "t", (Column(text, "Name"),), (Row("1", {text: Cell(text)}, badges=(text,)),)
    )
    assert formulas_of(table_to_csv(table)) == []


@pytest.mark.parametrize("text", [*FORMULAS, "x;=1+1", "a\n=1"])
def test_no_cell_of_the_log_is_a_formula(text: str) -> None:
    names = ("id", "at", "actor", "actor_id", "action", "subject", "challenge", "campaign")
    lines = list(audit_as_csv([{**dict.fromkeys(names, text), "details": {text: [text, text]}}]))
    assert formulas_of("".join(lines)) == []


@pytest.mark.parametrize("text", [*FORMULAS, "x;=1+1", "a\n=1"])
def test_no_cell_of_a_board_is_a_formula(text: str) -> None:
    """The command writes it from what a site says."""
    board = {
        "metrics": [{"metric": text}],
        "entries": [{"rank": 1, "team": text, "name": text, "track": text, "reason": text}],
    }
    assert formulas_of(board_as_csv(board)) == []


HOSTILE = "x;=1+1"


def hostile_corpus() -> list[Record]:
    """A formula wherever a corpus has text."""
    turn = TurnRecord(0, (Utterance("A", HOSTILE), Utterance("B", "=2")), ("=3", HOSTILE))
    return [
        CorpusRecord("small", "Small"),
        SystemRecord("-system", "model"),
        DialogueRecord("=dialogue", ("=4",), (HOSTILE,), (turn,)),
        ResponseRecord("=dialogue", 0, "-system", HOSTILE),
    ]


def test_no_cell_of_an_exported_corpus_is_a_formula(tmp_path: Path) -> None:
    exporters()["csv"].export(hostile_corpus(), tmp_path / "out", ())
    written = list((tmp_path / "out").glob("*.csv"))
    assert len(written) == 4
    for path in written:
        assert formulas_of(path.read_text(encoding="utf-8")) == [], path.name


def test_a_corpus_s_lists_read_back_as_they_stand(tmp_path: Path) -> None:
    exporters()["csv"].export(hostile_corpus(), tmp_path / "out", ())
    with (tmp_path / "out" / "dialogues.csv").open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert json.loads(row["references"]) == ["=3", HOSTILE]
    assert json.loads(row["context"]) == [f"A: {HOSTILE}", "B: =2"]


def test_no_table_for_mt_metrics_eval_has_a_formula(tmp_path: Path) -> None:
    """Its tool reads tables without quotes: names are such as need none. Sources and outputs are
    texts, no tables."""
    exporters()["mt-metrics-eval"].export(hostile_corpus(), tmp_path / "out", ())
    tables = [
        path for path in (tmp_path / "out").rglob("*") if path.suffix in (".tsv", ".docs", ".score")
    ]
    assert {path.suffix for path in tables} >= {".tsv", ".docs"}
    for path in tables:
        assert formulas_of(path.read_text(encoding="utf-8")) == [], path.name
    names = (tmp_path / "out" / "names.tsv").read_text(encoding="utf-8").splitlines()
    assert "system\t'-system\t_system" in names
    assert not [path for path in (tmp_path / "out").rglob("*") if path.name.startswith(("-", "+"))]


def test_whoever_writes_csv_knows_of_formulas() -> None:
    """No module of the site names Python's own writer, or pandas: all lines are made by
    ``csv_line``."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) not in ("csv.writer", "csv.DictWriter"), path
            if isinstance(node, ast.ImportFrom | ast.Import):
                modules = {one.name.split(".")[0] for one in node.names}
                if isinstance(node, ast.ImportFrom):
                    modules = {(node.module or "").split(".")[0]}
                    assert node.module != "csv", path
                assert "pandas" not in modules, path


def test_every_table_of_a_command_is_made_by_the_one_writer() -> None:
    assert formulas_of(csv_table(["=a", "b"], [{"=a": "x;=1"}, {"b": "\u200b-1"}], "\n")) == []
