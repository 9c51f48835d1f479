"""The files behind a table's links: ``?download=<table id>.csv``, ``.json``, ``.tex`` or ``.md`` on
its own page.

CSV and JSON hold all of the table. LaTeX and Markdown are for a paper: rows and columns as the
reader arranged them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from annotations.tables.arrange import choose_columns, sort_table
from annotations.tables.table import Table
from annotations.tables.to_csv import table_to_csv
from annotations.tables.to_json import table_to_json
from annotations.tables.to_latex import table_to_latex
from annotations.tables.to_markdown import table_to_markdown


class Download(NamedTuple):
    filename: str
    content_type: str
    body: str


def download(
    tables: Iterable[Table], requested: str, columns: str = "", sort: str = ""
) -> Download | None:
    """The file named ``requested``, made from the table whose id it carries; None where no table
    has that name. ``columns`` and ``sort`` are as in the table's address."""
    table_id, _, form = requested.rpartition(".")
    table = next((table for table in tables if table.id == table_id), None)
    if table is None:
        return None
    if form == "csv":
        return Download(requested, "text/csv; charset=utf-8", table_to_csv(table))
    if form == "json":
        return Download(requested, "application/json", table_to_json(table))
    if form == "tex":
        return Download(
            requested,
            "application/x-tex; charset=utf-8",
            table_to_latex(_arranged(table, columns, sort)),
        )
    if form == "md":
        return Download(
            requested,
            "text/markdown; charset=utf-8",
            table_to_markdown(_arranged(table, columns, sort)),
        )
    return None


def _arranged(table: Table, columns: str, sort: str) -> Table:
    return choose_columns(sort_table(table, sort), columns)
