"""A page with a figure of every kind, made of a few made rows: what plotly draws can be held
against known numbers.

It stands on the site's own frame, with its style sheets, its scripts and its content security
policy, and needs no database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.staticfiles import finders
from django.template import engines
from django.test import RequestFactory

from leaderboard.figures import Figure
from leaderboard.pages.maps.heat_figure import HeatTable

TEMPLATE = """{% extends "base.html" %}{% load dialeval %}
{% block header %}{% endblock %}{% block heading %}Figures{% endblock %}
{% block content %}{% for figure in figures %}{% chart figure %}{% endfor %}{% endblock %}"""


HEAT = """{% extends "base.html" %}{% load static %}
{% block head %}<link rel="stylesheet" href="{% static 'dialeval/heat.css' %}">{% endblock %}
{% block header %}{% endblock %}{% block heading %}Heat map{% endblock %}
{% block content %}{% include "components/heat_table.html" %}{% endblock %}"""


def heat_page(heat: HeatTable) -> str:
    request = RequestFactory().get("/heat/")
    request.user = AnonymousUser()
    return str(engines["django"].from_string(HEAT).render({"heat": heat}, request))


def page_of(figures: Sequence[Figure], path: str) -> str:
    request = RequestFactory().get(path)
    request.user = AnonymousUser()
    return str(engines["django"].from_string(TEMPLATE).render({"figures": figures}, request))


def policy() -> str:
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    return "; ".join(
        name if sources is True else f"{name} {' '.join(map(str, sources))}"
        for name, sources in directives.items()
        if sources is not False
    )


@contextmanager
def gallery(pages: Mapping[str, str]) -> Iterator[str]:
    """Serves ``{path: page}``; yields the address."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path in pages:
                self._send(200, "text/html; charset=utf-8", pages[path].encode())
                return
            found = (
                finders.find(path.removeprefix(settings.STATIC_URL))
                if path.startswith(settings.STATIC_URL)
                else None
            )
            if found:
                self._send(
                    200,
                    guess_type(found)[0] or "application/octet-stream",
                    Path(found).read_bytes(),
                )
            else:
                self._send(404, "text/plain", b"")

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", policy())
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
