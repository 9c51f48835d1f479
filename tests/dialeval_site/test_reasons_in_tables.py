"""Commands that print tables say why where they print "–".

A fixture of all tests (``a_dash_has_a_reason``) holds every table that a test prints to it; so a
command is held as soon as it has a test. Here: that commands have no other way to print one, and
what readers see.
"""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import BaseCommand

from annotations.console import ConsoleCommand
from common.tables.numerals import Dash
from tests.annotations.stored import dialogue, rated_corpus, stored

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(ROOT.glob("*/management/commands/*.py")) + sorted(
    ROOT.glob("*/*/management/commands/*.py")
)


def test_commands_print_tables_by_print_table_alone() -> None:
    printing = [path.stem for path in COMMANDS if "print_table(" in path.read_text()]
    assert {
        "agreement",
        "correlate",
        "compare",
        "tables",
        "normality",
        "adversarial",
        "score",
        "train",
    } <= {*printing}
    assert not [path.stem for path in COMMANDS if "text_table(" in path.read_text()]


@pytest.mark.parametrize(
    "command", [path for path in COMMANDS if "print_table(" in path.read_text()], ids=str
)
def test_a_command_that_prints_tables_has_tests_that_print_them(command: Path) -> None:
    """Without one, the fixture that looks for bare dashes never sees its tables."""
    tests = "".join(
        path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)
    )
    called = rf"[\"']{command.stem}[\"']"
    assert re.search(called, tests), f"no test calls {command.stem}"


class Printing(ConsoleCommand):
    reads_database = False

    def handle(self, *args: object, **options: object) -> None:
        self.print_table(
            ["metric", "r", "p"],
            [
                ["one", Dash("all scores are equal"), Dash("all scores are equal")],
                ["two", "0.5", Dash("not tested")],
            ],
        )


def test_a_reason_stands_once_beneath_the_table_with_the_cells_that_have_it() -> None:
    out = StringIO()
    call_command(Printing(stdout=out))
    assert out.getvalue().splitlines()[4:] == [
        "– one, r, one, p: all scores are equal",
        "– two, p: not tested",
    ]


class Bare(BaseCommand):
    def handle(self, *args: object, **options: object) -> None:
        ConsoleCommand().print_table(["metric", "r"], [["one", "–"]])


def test_a_dash_without_a_reason_fails_whatever_test_prints_it() -> None:
    with pytest.raises(AssertionError, match="no reason"):
        call_command(Bare())


def test_parts_of_a_cell_bring_their_reasons() -> None:
    joined = Dash.joined(["0.5", Dash("few"), Dash("few"), Dash("none")], "0.5 –")
    assert isinstance(joined, Dash)
    assert (str(joined), joined.reason) == ("0.5 –", "few; none")
    assert not isinstance(Dash.joined(["1", "2"], "1 2"), Dash)


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["fbd", "cpdscore", "density", "cmn"])
def test_papers_tables_without_data_say_why(table: str, tmp_path: Path) -> None:
    stored(rated_corpus([dialogue("d0")], {("d0", 0, "echo"): "yes"}), tmp_path, "personam")
    out = StringIO()
    call_command("tables", table, stdout=out, stderr=StringIO())
    lines = out.getvalue().splitlines()
    if any("–" in line.split() and not line.startswith("– ") for line in lines):
        assert any(re.match(r"– .+: .+", line) for line in lines)
