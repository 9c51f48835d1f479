"""``{% load dialeval %}``: the components that need more than an include. ``docs/look.md`` shows
how they are used."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import QueryDict
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.timesince import timesince
from django.utils.translation import get_language, gettext

from common.cache import part
from common.table_frame import Address, frame_of, page_writer
from common.tables import Table
from common.tables.markers import swatch_svg
from common.tables.numerals import DASH, written
from common.tables.to_html import TableWriter

register = template.Library()


@register.inclusion_tag("components/data_table.html", takes_context=True)
def data_table(
    context: template.Context,
    table: Table | TableWriter,
    prefix: str = "",
    csv_url: str = "",
    json_url: str = "",
    columns: str = "",
) -> dict[str, Any]:
    """A table with sorting, column choice and downloads. Reads ``?sort=`` and ``?columns=`` of the
    request itself.

    ``prefix`` keeps two tables of one page apart (``?turn-sort=``). ``columns`` are the keys to
    show where the URL names none. The links default to this page with ``?download=<table id>.csv``,
    which ``common.tables.download`` answers. A ``TableWriter`` that is kept (``memoize``)
    has written its cells.
    """
    writer = table if isinstance(table, TableWriter) else page_writer(table)
    return frame_of(context.get("request"), writer, prefix, csv_url, json_url, columns)


def _query(context: template.Context) -> QueryDict:
    request = context.get("request")
    return request.GET if request is not None else QueryDict()


@register.inclusion_tag("components/chart.html", takes_context=True)
def chart(context: template.Context, figure: Any, data_url: str = "") -> dict[str, Any]:
    """A ``leaderboard.figures.Figure``: the drawing, its caption, its text alternative and the data
    beneath."""
    return {
        "request": context.get("request"),
        "figure": figure,
        "legend": _legend(figure.legend),
        "drawing": json_element(figure.drawing, figure.document_id),
        "data_url": data_url
        or Address(context.get("request")).changed("download", f"{figure.points.id}.csv"),
        "file_name": _file_name(context, figure.id),
    }


def _legend(systems: Iterable[tuple[str, int]]) -> SafeString:
    """A hundred systems and more than one drawing are too many for a template."""
    items = (f"<li>{swatch_svg(number)} {escape(name)}</li>" for name, number in systems)
    return mark_safe("".join(items))  # noqa: S308  every text in it is escaped


def _file_name(context: template.Context, figure_id: str) -> str:
    """What the files of a drawing are called: what the page is of, the figure, and what was chosen
    on the page."""
    request = context.get("request")
    place = request.resolver_match if request is not None else None
    of_page = [str(value) for value in place.kwargs.values()] if place else []
    chosen = [
        value
        for name, value in _query(context).items()
        if name in ("metric", "aspect", "first", "second")
    ]
    return (
        "-".join(filter(None, (slugify(part) for part in (*of_page, figure_id, *chosen))))
        or "chart"
    )


@register.simple_tag
def swatch(number: int | None) -> SafeString:
    """The marker of a system in its colour: ``{% swatch system.number %}``."""
    # A drawing made from a number.
    return mark_safe("" if number is None else swatch_svg(int(number)))  # noqa: S308


@register.simple_tag
def options(choices: Iterable[object], chosen: object) -> SafeString:
    """The options of a ``<select>``: values, or pairs of a value and its words. A hundred systems
    twice over are more than a template writes in a moment."""
    pairs = (one if isinstance(one, tuple) else (one, one) for one in choices)
    return format_html_join(
        "",
        '<option value="{}"{}>{}</option>',
        ((value, " selected" if value == chosen else "", words) for value, words in pairs),
    )


@register.simple_tag
def heat_rows(heat: Any, plots_url: str = "") -> SafeString:
    """The rows of a ``leaderboard.pages.maps.heat_figure.HeatTable``."""
    return mark_safe(heat.rows_html(plots_url))  # noqa: S308  every text in it is escaped there


def json_element(text: str, element_id: str) -> SafeString:
    """JSON as Django's ``json_script`` writes it, whose escaping goes letter by letter: ten times
    quicker for a drawing of 100 kB."""
    text = text.replace("&", "\\u0026").replace("<", "\\u003C").replace(">", "\\u003E")
    written_json = mark_safe(text)  # noqa: S308  nothing in it can end the element
    return format_html(
        '<script id="{}" type="application/json">{}</script>', element_id, written_json
    )


@register.filter
def figure(value: float | str | None, decimals: int = 3) -> str:
    """A number as tables write it: ``{{ score|figure:3 }}``; undefined is a dash."""
    return DASH if value in (None, "") else written(float(value), int(decimals))


@register.filter
def age(moment: datetime) -> str:
    """``timesince``, which calls the first minute "0 minutes"."""
    young = timezone.now() - moment < timedelta(minutes=1)
    return gettext("less than a minute") if young else timesince(moment)


@register.simple_tag(takes_context=True)
def query(context: template.Context, **changes: Any) -> str:
    """The page's own query string with some parameters changed or (None) removed: ``{% query page=2
    %}``."""
    # A page has hundreds of these, and ``QueryDict.copy`` takes most of their time
    params = dict(_query(context).lists())
    for name, value in changes.items():
        if value is None:
            params.pop(name, None)
        else:
            params[name] = [str(value)]
    return f"?{urlencode(params, doseq=True)}"


@register.simple_tag
def score(value: float | str | None, reason: str = "", decimals: int = 3) -> SafeString:
    """One score outside a table; an undefined one keeps its reason within reach.

    A variable that a template does not have arrives as empty text: that is undefined too.
    """
    if value not in (None, ""):
        return format_html('<span class="figure">{}</span>', written(float(value), int(decimals)))
    return format_html(
        '<details class="undefined"><summary aria-label="undefined: '
        '{0}">{1}</summary>{0}</details>',
        reason or "not available",
        DASH,
    )


@register.simple_tag
def score_list(scores: Iterable[tuple[str, float | None, str, str]]) -> SafeString:
    """Scores by metric: (metric, value, reason, remark). A page holds a thousand, too many for a
    template."""
    parts = (
        f"<div><dt>{escape(metric)}</dt><dd>{score(value, reason)}</dd>{_remark(remark)}</div>"
        for metric, value, reason, remark in scores
    )
    return mark_safe("".join(parts))  # noqa: S308  every text in it is escaped


@register.simple_tag
def rating_list(ratings: Iterable[tuple[str, str]]) -> SafeString:
    """(rater, score) pairs; a rater without a name is a score alone. A page of a dialogue holds
    five hundred."""
    parts = (
        f"<span>{escape(rater)}{': ' if rater else ''}{escape(value)}</span>"
        for rater, value in ratings
    )
    return mark_safe(", ".join(parts))  # noqa: S308  every text in it is escaped


def _remark(words: str) -> str:
    return f'<dd class="remark">{escape(words)}</dd>' if words else ""


@register.tag
def kept(parser: template.base.Parser, token: template.base.Token) -> template.Node:
    """``{% kept marks %} … {% endkept %}``: a part of a page that follows from stored answers and
    from the address alone is written once. ``marks`` name the answers, and change with them
    (``Look.stored``); without marks nothing is kept. What differs from reader to reader (names,
    rights, forms with a token) has no place in it. Give it functions in the place of tables and
    drawings, and these are made only when the part is written."""
    _tag, marks = token.split_contents()
    nodes = parser.parse(("endkept",))
    parser.delete_first_token()
    parser.parts_kept = getattr(parser, "parts_kept", 0) + 1
    return _Cached(parser.compile_filter(marks), nodes, f"{parser.origin}:{parser.parts_kept}")


class _Cached(template.Node):
    def __init__(
        self, marks: template.base.FilterExpression, nodelist: template.NodeList, place: str
    ) -> None:
        self.marks, self.nodelist, self.place = marks, nodelist, place

    def render(self, context: template.Context) -> SafeString:
        marks, request = self.marks.resolve(context), context.get("request")
        if not marks or request is None:
            return self.nodelist.render(context)
        key = (self.place, request.path, request.GET.urlencode(), get_language(), tuple(marks))
        found = part(key, lambda: self.nodelist.render(context))
        # For who compresses the page
        request.kept_parts = [*getattr(request, "kept_parts", ()), found]
        return mark_safe(found.written.decode())  # noqa: S308  written by templates
