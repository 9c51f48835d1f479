"""CSV injection: no cell of any file is a formula, whatever blanks stand before it."""

from __future__ import annotations

import ast

import pytest

from annotations.audit_words import as_csv as audit_as_csv
from annotations.exporters.csv_tables import safe_cell
from annotations.tables.table import Cell, Column, Row, Table
from annotations.tables.to_csv import table_to_csv
from leaderboard.challenges.files.csv_source import without_guard
from leaderboard.client.boards import as_csv as board_as_csv
from tests.security.test_what_is_read import MODULES
from tests.site import PROJECT

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "  @x", "\uff1d1+1", " \uff20x"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_an_export_is_a_formula(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    table = Table("t", "t", (Column("name", "Name"),), (Row("1", {"name": Cell(text)}),))
    assert f"'{text}" in table_to_csv(table)


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_the_log_is_a_formula(text: str) -> None:
    names = ("id", "at", "actor", "actor_id", "action", "subject", "challenge", "campaign")
    lines = list(audit_as_csv([{**dict.fromkeys(names, text), "details": {}}]))
    assert lines[1].count(f"'{text}") == len(names)


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_board_is_a_formula(text: str) -> None:
    """The command writes it from what a site says."""
    board = {"metrics": [], "entries": [{"rank": 1, "team": text, "system": text, "track": text, "reason": text}]}
    cells = board_as_csv(board).splitlines()[1].split(",")
    assert not [cell for cell in cells if cell.strip('" ').startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("name", [*FORMULAS, "plain", "'quoted'", " 1"])
def test_a_name_of_an_export_is_known_again_in_a_file_that_is_handed_in(name: str) -> None:
    assert without_guard(str(safe_cell(name))) == name


KNOWN_WRITERS = {
    "annotations/tables/to_csv.py", "annotations/audit_words.py", "annotations/exporters/csv_tables.py",
    "annotations/exporters/rating_files.py", "leaderboard/client/boards.py", "leaderboard/judges/export.py",
    # of commands, on an operator's own terminal
    "leaderboard/management/commands/normality.py", "leaderboard/management/commands/correlate.py",
    "leaderboard/papers/trained.py", "leaderboard/papers/fbd.py",
    "leaderboard/challenges/files/template.py", "leaderboard/papers/adversarial.py", "leaderboard/papers/cpdscore.py",
}  # fmt: skip


def test_whoever_writes_csv_knows_of_formulas() -> None:
    """A writer that is added comes through here: it names the rule, or fails."""
    writers = set()
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        if any(
            isinstance(node, ast.Call) and ast.unparse(node.func) in ("csv.writer", "csv.DictWriter")
            for node in ast.walk(ast.parse(text))
        ):
            assert any(rule in text for rule in ("safe_text", "safe_cell", "safe_value")), path
            writers.add(str(path.relative_to(PROJECT)))
    assert writers <= KNOWN_WRITERS
