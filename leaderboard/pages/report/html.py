"""The report as one HTML file: style sheets, the chart library and the data are all in it, and it
asks no network."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly
from django.conf import settings
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from common.tables import Table
from common.tables.to_html import table_to_html
from leaderboard.figures import Figure
from leaderboard.pages.report.contents import Contents

STYLES = ("tokens", "base", "components", "tables", "charts", "report")
SCRIPTS = ("tips", "charts")
NOTHING_FROM_OUTSIDE = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: "
    "blob:; connect-src blob:"
)
FONT_FACES = re.compile(r"@font-face\s*\{[^}]*\}")
"""They name files of the site; a file of its own is set in its reader's typefaces."""
_STATIC = settings.PROJECT / "dialeval_site" / "static" / "dialeval"


@dataclass(frozen=True, slots=True)
class Chart:
    figure: Figure

    @property
    def document(self) -> dict[str, Any]:
        return {"data": self.figure.data, "layout": self.figure.layout}

    @property
    def data(self) -> SafeString:
        return _html(self.figure.summary)


def html_of(contents: Contents) -> str:
    body = render_to_string(
        "leaderboard/report.html", {"report": contents, "sections": _sections(contents)}
    )
    title = escape(
        f"{contents.version.corpus.name}, {contents.aspect}: metrics and systems compared with "
        "human ratings"
    )
    styles = FONT_FACES.sub("", "\n".join(_asset(f"{name}.css") for name in STYLES))
    print_style = _asset("print.css")
    scripts = "".join(
        f"<script>{_script(text)}</script>\n"
        for text in (_library(), *(_asset(f"{name}.js") for name in SCRIPTS))
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{NOTHING_FROM_OUTSIDE}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="{escape(contents.software)}">\n'
        f"<title>{title}</title>\n<style>{styles}</style>\n"
        f'<style media="print">{print_style}</style>\n</head>\n'
        f"<body>\n{body}\n{scripts}</body>\n</html>\n"
    )


def _sections(contents: Contents) -> list[dict[str, Any]]:
    return [
        {
            "section": section,
            "charts": [Chart(figure) for figure in section.figures],
            "tables": [(shown.table, _html(shown.table), shown.latex) for shown in section.tables],
        }
        for section in contents.sections
    ]


def _html(table: Table) -> SafeString:
    return mark_safe(table_to_html(table))  # noqa: S308  every text in it is escaped there


def _asset(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")


def _library() -> str:
    return (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(
        encoding="utf-8"
    )


def _script(text: str) -> str:
    """No word in it ends the element that holds it."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
