"""The audit log as a page and as files, for organisers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotations.audit import queries
from annotations.audit.queries import Params
from annotations.audit.text import as_csv, as_json, detail_items
from common.text import DIGITS_OF_A_KEY, parse_integer
from common.web import organisers_page, stream_as_file

FILES: dict[str, tuple[str, Callable[[Iterable[dict[str, Any]]], Iterator[str]]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
}
MAX_PARAM_LENGTH = 200


@never_cache
@require_safe
@organisers_page("home", _("only organisers read the log"))
def audit(request: HttpRequest) -> HttpResponse:
    """Who did what to what: one ``action`` (``round.changed``) or all of a kind, ``actor``,
    ``challenge``, ``campaign``, ``words`` in the actor's name or the subject; ``before``,
    ``after``: older, newer lines, 50 at a time; ``download=csv`` or ``json``: all lines asked
    for."""
    params = _params(request)
    if "download" in request.GET:
        return _file(params, request.GET["download"])
    stretch = queries.stretch(params, _key(request, "before"), _key(request, "after"))
    requested = {name: value for name, value in vars_of(params).items() if value}
    context = {
        "section": "audit",
        "params": params,
        "choices": queries.choices(),
        "entries": [(entry, detail_items(entry.details)) for entry in stretch.entries],
        "older": urlencode({**requested, "before": stretch.older}) if stretch.older else "",
        "newer": urlencode({**requested, "after": stretch.newer}) if stretch.newer else "",
        "files": [(form, urlencode({**requested, "download": form})) for form in FILES],
    }
    return render(request, "annotations/audit.html", context)


def vars_of(params: Params) -> dict[str, str]:
    return {name: getattr(params, name) for name in params.__slots__}


def _params(request: HttpRequest) -> Params:
    """What cannot stand in the log finds nothing; a NUL would be an error of the database."""
    return Params(
        **{
            name: request.GET.get(name, "").replace("\0", "\ufffd")[:MAX_PARAM_LENGTH]
            for name in Params.__slots__
        }
    )


def _key(request: HttpRequest, name: str) -> int | None:
    return parse_integer(request.GET.get(name, ""), DIGITS_OF_A_KEY)


def _file(params: Params, form: str) -> HttpResponse:
    if form not in FILES:
        raise Http404("the log comes as csv or json")
    content_type, written = FILES[form]
    documents = (queries.document_of(entry) for entry in queries.every_entry(params))
    return stream_as_file(written(documents), f"audit-log.{form}", content_type)
