"""The files behind a table's links: ``?download=<table id>.csv``, ``.json``, ``.tex`` or ``.md`` on
its own page.

CSV and JSON hold all of the table. LaTeX and Markdown are for a paper: rows and columns as the
reader arranged them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from common.tables.arrange import choose_columns, sort_table
from common.tables.table import Table
from common.tables.to_csv import table_to_csv
from common.tables.to_json import table_to_json
from common.tables.to_latex import table_to_latex
from common.tables.to_markdown import table_to_markdown


class Download(NamedTuple):
    """A file to be sent.

    Attributes:
        filename: name for the reader's disk.
        content_type: media type, with the character set.
        body: content of the file.
    """

    filename: str
    content_type: str
    body: str


def download(
    tables: Iterable[Table], requested: str, columns: str = "", sort: str = ""
) -> Download | None:
    """Make the file behind a table's download link.

    Args:
        tables: the tables of the page.
        requested: id of a table and ``.csv``, ``.json``, ``.tex`` or ``.md``.
        columns: keys to show, as in ``parse_columns``; for LaTeX and Markdown only.
        sort: order of the rows, as in ``parse_sort``; for LaTeX and Markdown only.

    Returns:
        The file, named ``requested``; None where no table has that id, or for another format.
    """
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
