"""The file behind a table's CSV and JSON links: ``?download=<table id>.csv`` or ``.json`` on the table's own page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from annotations.tables.table import Table
from annotations.tables.to_csv import table_to_csv
from annotations.tables.to_json import table_to_json


class Download(NamedTuple):
    filename: str
    content_type: str
    body: str


def download(tables: Iterable[Table], wish: str) -> Download | None:
    """The file named ``wish``, made from the table whose id it carries; None where no table has that name."""
    table_id, _, form = wish.rpartition(".")
    table = next((table for table in tables if table.id == table_id), None)
    if table is None:
        return None
    if form == "csv":
        return Download(wish, "text/csv; charset=utf-8", table_to_csv(table))
    if form == "json":
        return Download(wish, "application/json", table_to_json(table))
    return None
