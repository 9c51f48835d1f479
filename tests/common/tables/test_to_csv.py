from __future__ import annotations

import csv
import io

import pytest

from common.tables import Cell, Column, Row, Table, table_to_csv
from common.tables.download import download
from tests.common.tables.example import TABLE


def records(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table_to_csv(table).removeprefix("\ufeff"))))


def test_intervals_p_and_reasons_have_columns_of_their_own() -> None:
    first, second, _ = records(TABLE)
    assert (first["r"], first["r_low"], first["r_high"], first["r_p"]) == (
        "0.25",
        "0.1",
        "0.4",
        "0.0004",
    )
    assert (second["r"], second["r_low"], second["r_reason"]) == ("", "", "no turn level")


def test_numbers_keep_all_their_digits() -> None:
    table = Table(
        "t", "", (Column("a", "a", "number", decimals=1),), (Row("1", {"a": Cell(1 / 3)}),)
    )
    assert float(records(table)[0]["a"]) == 1 / 3


def test_text_that_a_spreadsheet_would_run_is_made_text() -> None:
    """tests/security/test_formulas.py has every such text."""
    table = Table("t", "", (Column("a", "a"),), (Row("1", {"a": Cell("  =1")}),))
    assert records(table)[0]["a"] == "  '=1"


def test_a_negative_number_stays_a_number() -> None:
    assert records(TABLE)[2]["r"] == "-0.5"


def test_badges_and_signature_travel_along() -> None:
    assert records(TABLE)[2]["badges"] == "simulated"
    assert {record["signature"] for record in records(TABLE)} == {"corpus:1|seed:0"}


def test_a_download_is_found_by_the_name_of_its_table() -> None:
    found = download([TABLE], "metrics.csv")
    assert found is not None
    assert (found.filename, found.body) == ("metrics.csv", table_to_csv(TABLE))


@pytest.mark.parametrize("params", ["", "metrics", "metrics.exe", "other.csv", "../metrics.csv"])
def test_anything_else_is_no_download(params: str) -> None:
    assert download([TABLE], params) is None


def test_excel_reads_a_file_as_utf_8_by_its_mark() -> None:
    table = Table("t", "T", (Column("name", "Name"),), (Row("r", {"name": Cell("Café 你好")}),))
    written = table_to_csv(table).encode()
    assert written.startswith(b"\xef\xbb\xbf")
    assert written.decode("utf-8-sig") == '"name"\r\n"Café 你好"\r\n'
