"""Papers' tables of a corpus with ours beside."""

from __future__ import annotations

from functools import cache

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import version_or_404
from common.tables import Cell, Column, Row, Table
from common.web import page
from leaderboard.answers.published import PublishedTables, Shown, TableOfPaper
from leaderboard.corpus_context import corpus_context
from leaderboard.pages.published.query import is_published, published_tables
from leaderboard.results import look
from leaderboard.results.pages import waiting_page


@require_safe
def published(request: HttpRequest, slug: str) -> HttpResponse:
    """Of each paper that has figures of a corpus of this name: its tables, with every finished
    configuration and submitted metric beneath the printed figures."""
    version = version_or_404(request, slug)
    context = corpus_context(version, "metrics", version.main_aspect)
    if not is_published(slug):
        return page(request, "leaderboard/published.html", context)
    found = look(version, published_tables)
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Published tables", below_tab=True)
    answer = found.answer
    tables = cache(lambda: _tables(answer))
    context |= {
        "analysis": found,
        "look": found,
        "papers": lambda: list(zip(answer.papers, tables(), strict=True)),
        "written_from": (found.stored,),
    }
    files = [one for of_paper in tables() for one in of_paper] if "download" in request.GET else []
    return page(request, "leaderboard/published.html", context, files)


def _tables(answer: PublishedTables) -> list[list[Table]]:
    """By paper."""
    return [
        [_table(f"published-{number}-{index}", one) for index, one in enumerate(paper.tables)]
        for number, paper in enumerate(answer.papers)
    ]


def _table(name: str, table: TableOfPaper) -> Table:
    columns = [
        Column(f"figure-{index}", label, "estimate") for index, label in enumerate(table.columns)
    ]
    return Table(
        id=name,
        caption=table.title,
        columns=(Column("metric", "metric"), Column("source", "source"), *columns),
        rows=tuple(
            Row(
                f"{name}-{number}",
                {
                    "metric": Cell(line.metric),
                    "source": Cell(line.source),
                    **{
                        column.key: _cell(figure)
                        for column, figure in zip(columns, line.figures, strict=True)
                    },
                },
            )
            for number, line in enumerate(table.lines)
        ),
    )


def _cell(figure: Shown) -> Cell:
    if figure.value is None:
        return Cell(reason=figure.reason or "the paper has no figure")
    return Cell(figure.value, figure.ci, note="not significant" if figure.is_starred else "")
