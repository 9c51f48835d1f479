"""What stands around a table on a page: its addresses, and the forms that choose columns and order.
Lists that grow with the columns are written here: a template takes as long for them as for the rest
of the page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from common.tables import Column, Table
from common.tables.arrange import first_direction, order_of, parse_columns, parse_sort, with_details
from common.tables.lane import Lane
from common.tables.to_html import TableWriter

Sort = tuple[str, bool] | None
LONG, FIRST_ROWS = 200, 100
"""Of a table with more rows than ``LONG``, the first in its order show until the reader asks for
all: nobody reads five hundred systems, and all of them with their intervals are two megabytes of
page."""
ALL = "all"


def page_writer(table: Table, lane: Lane | None = None) -> TableWriter:
    """The table as pages show it."""
    return TableWriter(with_details(table), lane=lane)


class Address:
    """A page's address, from which others with one parameter changed are made. With the path,
    because a fragment stands on a page of another address."""

    def __init__(self, request: HttpRequest | None) -> None:
        self.path = request.path if request is not None else ""
        self.asked = request.GET if request is not None else QueryDict()
        self._encoded = {
            name: "&".join(_pair(name, one) for one in values)
            for name, values in self.asked.lists()
        }

    def changed(self, name: str, value: str) -> str:
        pairs = {**self._encoded, name: _pair(name, value)}
        return f"{self.path}?{'&'.join(filter(None, pairs.values()))}"

    def without(self, name: str) -> list[tuple[str, str]]:
        """What a form must send along so that the rest of the address stays."""
        return [
            (one, value) for one, values in self.asked.lists() if one != name for value in values
        ]


def _pair(name: str, value: str) -> str:
    return urlencode({name: value})


def frame_of(
    request: HttpRequest | None,
    writer: TableWriter,
    prefix: str,
    csv_url: str,
    json_url: str,
    columns: str,
) -> dict[str, Any]:
    """The context of ``components/data_table.html``; the arguments are those of the tag
    ``data_table``."""
    table, address = writer.table, Address(request)
    sort_name, columns_name, rows_name = f"{prefix}sort", f"{prefix}columns", f"{prefix}rows"
    sort = parse_sort(address.asked.get(sort_name, ""), table)
    long, all_rows = len(table.rows) > LONG, address.asked.get(rows_name) == ALL
    order = order_of(table, sort)
    shown = parse_columns(address.asked.getlist(columns_name) or columns, table)
    links = {
        column.key: address.changed(sort_name, _next_sort(column, sort))
        for column in table.columns
        if column.key in shown
    }
    html = writer.html(order if all_rows or not long else order[:FIRST_ROWS], sort, shown, links)
    return {
        "table": table,
        "html": mark_safe(html),  # noqa: S308  every text in it is escaped there
        "choices": _choices(table.columns[1:], columns_name, shown),
        "choosable": len(table.columns) > 3,
        "folded": _folded(writer),
        "source": request.get_full_path() if request is not None else "",
        "sort_name": sort_name,
        "columns_name": columns_name,
        "rows_name": rows_name,
        "long": long,
        "all_rows": all_rows,
        "first_rows": FIRST_ROWS,
        "rows_url": _rows_address(address, rows_name, all_rows),
        "sort_now": _sort_param(sort),
        "orders": _orders(table.columns, _sort_param(sort)),
        "kept_for_columns": address.without(columns_name),
        "kept_for_sort": address.without(sort_name),
        "csv_url": csv_url or address.changed("download", f"{table.id}.csv"),
        "json_url": json_url or address.changed("download", f"{table.id}.json"),
        "paper_urls": []
        if csv_url or json_url
        else [
            (label, words, _paper_address(address, table, sort, shown, form))
            for label, words, form in (
                ("LaTeX", _("as LaTeX"), "tex"),
                ("Markdown", _("as Markdown"), "md"),
            )
        ],
    }


def _folded(writer: TableWriter) -> str:
    """What the cards of a phone leave out until one asks for it, in words."""
    if writer.folds_intervals:
        return _("intervals and every column") if writer.folds_columns else _("intervals")
    return _("every column") if writer.folds_columns else ""


def _rows_address(address: Address, name: str, all_rows: bool) -> str:
    return (
        f"{address.path}?{urlencode(address.without(name))}"
        if all_rows
        else address.changed(name, ALL)
    )


def _paper_address(
    address: Address, table: Table, sort: Sort, shown: frozenset[str], form: str
) -> str:
    """The file of the table as it is arranged on the page: its columns and its order, whatever the
    page calls them."""
    columns = [column.key for column in table.columns if column.key in shown]
    query = address.asked.copy()
    query["download"], query["file-sort"] = f"{table.id}.{form}", _sort_param(sort)
    if len(columns) < len(table.columns):
        query["file-columns"] = ",".join(columns)
    return f"{address.path}?{query.urlencode()}"


def _sort_param(sort: Sort) -> str:
    return "" if sort is None else f"{'-' if sort[1] else ''}{sort[0]}"


def _next_sort(column: Column, sort: Sort) -> str:
    """A second click on the sorted column turns the order round."""
    is_sorted = sort is not None and sort[0] == column.key
    descending = not sort[1] if sort is not None and is_sorted else first_direction(column)
    return f"-{column.key}" if descending else column.key


def _choices(columns: Iterable[Column], name: str, shown: frozenset[str]) -> SafeString:
    """A box to tick for each column, under the names of their groups."""
    parts = []
    for group, members in groupby(columns, key=lambda column: column.group):
        if group:
            parts.append(f'<p class="choice-group">{escape(group)}</p>')
        for column in members:
            box = f'<input type="checkbox" name="{escape(name)}" value="{escape(column.key)}"'
            checked = " checked" if column.key in shown else ""
            parts.append(f'<label class="choice">{box}{checked}> {escape(column.label)}</label>')
    return mark_safe("\n".join(parts))  # noqa: S308  every text in it is escaped


def _orders(columns: Iterable[Column], now: str) -> SafeString:
    """Two options for each column: ascending and descending."""
    ascending, descending = _("%s, ascending"), _("%s, descending")
    parts = []
    for column in columns:
        named = escape(f"{column.label} ({column.group})" if column.group else column.label)
        for requested, words in ((column.key, ascending), (f"-{column.key}", descending)):
            selected = " selected" if requested == now else ""
            parts.append(f'<option value="{escape(requested)}"{selected}>{words % named}</option>')
    return mark_safe("\n".join(parts))  # noqa: S308  every text in it is escaped
