"""``{% load dialeval %}``: the components that need more than an include. ``docs/look.md`` shows how they are used."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django import template
from django.core.serializers.json import DjangoJSONEncoder
from django.http import QueryDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotations.tables import Table, parse_columns, sort_table
from annotations.tables.arrange import first_direction
from annotations.tables.markers import swatch_svg
from annotations.tables.numerals import DASH, written
from annotations.tables.to_html import table_to_html
from annotations.written_parts import part

register = template.Library()
CARD_COLUMNS = 6
"""Where a table says nothing of detail, a row's card on a phone shows this many columns at first."""


@register.inclusion_tag("components/data_table.html", takes_context=True)
def data_table(
    context: template.Context,
    table: Table,
    prefix: str = "",
    csv_url: str = "",
    json_url: str = "",
    columns: str = "",
) -> dict[str, Any]:
    """A table with sorting, column choice and downloads. Reads ``?sort=`` and ``?columns=`` of the request itself.

    ``prefix`` keeps two tables of one page apart (``?turn-sort=``). ``columns`` are the keys to show where the URL
    names none. The links default to this page with ``?download=<table id>.csv``, which
    ``annotations.tables.download`` answers.
    """
    asked = _query(context)
    sort_name, columns_name = f"{prefix}sort", f"{prefix}columns"
    arranged = sort_table(_with_details(table), asked.get(sort_name, ""))
    shown = parse_columns(asked.getlist(columns_name) or columns, table)
    links = {column.key: _address(context, sort_name, _next_sort(arranged, column.key)) for column in table.columns}
    return {
        "table": arranged,
        "html": mark_safe(table_to_html(arranged, shown, links)),  # noqa: S308  every text in it is escaped there
        "choices": [(column, column.key in shown) for column in table.columns[1:]],
        "choosable": len(table.columns) > 3,
        "folds": _folds(arranged),
        "source": context["request"].get_full_path() if "request" in context else "",
        "sort_name": sort_name,
        "columns_name": columns_name,
        "sort_now": _sort_wish(arranged),
        "kept_for_columns": _kept(asked, columns_name),
        "kept_for_sort": _kept(asked, sort_name),
        "csv_url": csv_url or _address(context, "download", f"{table.id}.csv"),
        "json_url": json_url or _address(context, "download", f"{table.id}.json"),
        "paper_urls": []
        if csv_url or json_url
        else [
            (label, words, _paper_address(context, arranged, shown, form))
            for label, words, form in (("LaTeX", _("as LaTeX"), "tex"), ("Markdown", _("as Markdown"), "md"))
        ],
    }


def _with_details(table: Table) -> Table:
    if any(column.detail for column in table.columns):
        return table
    columns = tuple(replace(column, detail=number >= CARD_COLUMNS) for number, column in enumerate(table.columns))
    return replace(table, columns=columns)


def _folds(table: Table) -> bool:
    """Whether the cards of a phone leave something out at first: detail columns, or intervals in words."""
    return any(column.detail for column in table.columns) or any(
        cell.ci is not None for row in table.rows for cell in row.cells.values()
    )


def _query(context: template.Context) -> QueryDict:
    request = context.get("request")
    return request.GET if request is not None else QueryDict()


def _kept(asked: QueryDict, without: str) -> list[tuple[str, str]]:
    """What a form must send along so that the rest of the address stays."""
    return [(name, value) for name, values in asked.lists() if name != without for value in values]


def _address(context: template.Context, name: str, value: str) -> str:
    """This page with one parameter changed. With the path, because a fragment stands on a page of another address."""
    request = context.get("request")
    changed = _query(context).copy()
    changed[name] = value
    return f"{request.path if request is not None else ''}?{changed.urlencode()}"


def _paper_address(context: template.Context, arranged: Table, shown: frozenset[str], form: str) -> str:
    """The file of the table as it is arranged on the page: its columns and its order, whatever the page calls them."""
    columns = [column.key for column in arranged.columns if column.key in shown]
    asked = {"file-sort": _sort_wish(arranged)}
    if len(columns) < len(arranged.columns):
        asked["file-columns"] = ",".join(columns)
    query = _query(context).copy()
    for name, value in {"download": f"{arranged.id}.{form}", **asked}.items():
        query[name] = value
    request = context.get("request")
    return f"{request.path if request is not None else ''}?{query.urlencode()}"


def _sort_wish(table: Table) -> str:
    return "" if table.sort is None else f"{'-' if table.sort[1] else ''}{table.sort[0]}"


def _next_sort(table: Table, key: str) -> str:
    """A second click on the sorted column turns the order round."""
    column = table.column(key)
    descending = column is not None and first_direction(column)
    if table.sort is not None and table.sort[0] == key:
        descending = not table.sort[1]
    return f"-{key}" if descending else key


@register.inclusion_tag("components/chart.html", takes_context=True)
def chart(context: template.Context, figure: Any, data_url: str = "") -> dict[str, Any]:
    """A ``leaderboard.figures.Figure``: the drawing, its caption, its text alternative and the data beneath."""
    return {
        "request": context.get("request"),
        "figure": figure,
        "document": {"data": figure.data, "layout": figure.layout},
        "data_url": data_url or _address(context, "download", f"{figure.points.id}.csv"),
        "file_name": _file_name(context, figure.id),
    }


def _file_name(context: template.Context, figure_id: str) -> str:
    """What the files of a drawing are called: what the page is of, the figure, and what was chosen on the page."""
    request = context.get("request")
    place = request.resolver_match if request is not None else None
    of_page = [str(value) for value in place.kwargs.values()] if place else []
    chosen = [value for name, value in _query(context).items() if name in ("metric", "aspect", "first", "second")]
    return "-".join(filter(None, (slugify(part) for part in (*of_page, figure_id, *chosen)))) or "chart"


@register.simple_tag
def swatch(number: int | None) -> SafeString:
    """The marker of a system in its colour: ``{% swatch system.number %}``."""
    return mark_safe("" if number is None else swatch_svg(int(number)))  # noqa: S308  a drawing made from a number


@register.simple_tag
def options(values: Iterable[str], chosen: str) -> SafeString:
    """The options of a ``<select>`` whose words are its values: a hundred systems twice over are more than a template
    writes in a moment."""
    return format_html_join(
        "", "<option{}>{}</option>", ((" selected" if value == chosen else "", value) for value in values)
    )


@register.filter
def script_json(value: Any, element_id: str) -> SafeString:
    """As Django's ``json_script``, whose escaping goes letter by letter: ten times quicker for a drawing of 100 kB."""
    text = json.dumps(value, cls=DjangoJSONEncoder)
    text = text.replace("&", "\\u0026").replace("<", "\\u003C").replace(">", "\\u003E")
    written_json = mark_safe(text)  # noqa: S308  nothing in it can end the element
    return format_html('<script id="{}" type="application/json">{}</script>', element_id, written_json)


@register.filter
def figure(value: float | str | None, decimals: int = 3) -> str:
    """A number as tables write it: ``{{ score|figure:3 }}``; undefined is a dash."""
    return DASH if value in (None, "") else written(float(value), int(decimals))


@register.simple_tag(takes_context=True)
def query(context: template.Context, **changes: Any) -> str:
    """The page's own query string with some parameters changed or (None) removed: ``{% query page=2 %}``."""
    asked = _query(context).copy()
    for name, value in changes.items():
        if value is None:
            asked.pop(name, None)
        else:
            asked[name] = str(value)
    return f"?{asked.urlencode()}"


@register.simple_tag
def score(value: float | str | None, reason: str = "", decimals: int = 3) -> SafeString:
    """One score outside a table; an undefined one keeps its reason within reach.

    A variable that a template does not have arrives as empty text: that is undefined too.
    """
    if value not in (None, ""):
        return format_html('<span class="figure">{}</span>', written(float(value), int(decimals)))
    return format_html(
        '<details class="undefined"><summary aria-label="undefined: {0}">{1}</summary>{0}</details>',
        reason or "not available",
        DASH,
    )


@register.tag
def kept(parser: template.base.Parser, token: template.base.Token) -> template.Node:
    """``{% kept marks %} … {% endkept %}``: a part of a page that follows from stored answers and from the address
    alone is written once. ``marks`` name the answers, and change with them (``Look.stored``); without marks nothing is
    kept. What differs from reader to reader (names, rights, forms with a token) has no place in it. Give it functions
    in the place of tables and drawings, and these are made only when the part is written."""
    _tag, marks = token.split_contents()
    nodes = parser.parse(("endkept",))
    parser.delete_first_token()
    parser.parts_kept = getattr(parser, "parts_kept", 0) + 1
    return _Kept(parser.compile_filter(marks), nodes, f"{parser.origin}:{parser.parts_kept}")


class _Kept(template.Node):
    def __init__(self, marks: template.base.FilterExpression, nodelist: template.NodeList, place: str) -> None:
        self.marks, self.nodelist, self.place = marks, nodelist, place

    def render(self, context: template.Context) -> SafeString:
        marks, request = self.marks.resolve(context), context.get("request")
        if not marks or request is None:
            return self.nodelist.render(context)
        key = (self.place, request.path, request.GET.urlencode(), get_language(), tuple(marks))
        return mark_safe(part(key, lambda: self.nodelist.render(context)))  # noqa: S308  written by templates
