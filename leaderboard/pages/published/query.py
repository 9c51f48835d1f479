"""Papers' tables as far as they are of one corpus, with all that is computed of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotations.models import CorpusVersion
from leaderboard.answers.published import (
    Line,
    PaperWithOurs,
    PublishedTables,
    Shown,
    TableOfPaper,
)
from leaderboard.reproduction.cmn import cmn_table
from leaderboard.reproduction.corpora import Choice
from leaderboard.reproduction.cpdscore import cpdscore_table
from leaderboard.reproduction.density import density_table
from leaderboard.reproduction.fbd import fbd_table
from leaderboard.reproduction.output.comparison import comparison_sentences
from leaderboard.reproduction.published import paper
from leaderboard.results.kinds import registered

SYMBOLS = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}
Document = Mapping[str, Any]


def is_published(slug: str) -> bool:
    """Whether a paper has figures of a corpus of this name."""
    return any(_keys(name, slug) for name, _, _ in PAPERS.values())


@registered("published-tables", version=3)
def published_tables(version: CorpusVersion) -> PublishedTables:
    """The corpus is known by its slug. Tables and rows that hold nothing of it are left out."""
    slug = version.corpus.slug
    papers = []
    for command, (name, table, converted) in PAPERS.items():
        keys = _keys(name, slug)
        if not keys:
            continue
        document = table(Choice(dict.fromkeys(keys, slug), keys, version=version))
        papers.append(
            PaperWithOurs(
                citation=document["published"],
                comparison=tuple(comparison_sentences(document)),
                command=f"manage.py tables {command} --corpora {keys[0]}={slug}",
                tables=tuple(converted(document)),
                notes=tuple(document["notes"]),
            )
        )
    return PublishedTables(corpus=slug, corpus_version=version.label, papers=tuple(papers))


def _keys(name: str, slug: str) -> list[str]:
    return [one.key for one in paper(name).corpora if slug in one.slugs]


# --- each paper's document as lines ---------------------------------------------------------------


def _of_fbd(document: Document) -> Iterator[TableOfPaper]:
    """Sizes of correlations, as the paper prints them."""
    names = ("spearman", "pearson")
    lines = []
    for row in document["rows"]:
        (cell,) = row["cells"]
        for one in cell["published"]:
            printed = [Shown(value=one[name]) for name in names]
            lines.append(_printed(row["metric"], one["encoder"], printed))
        ours = [
            Shown(
                value=cell[name].get("absolute"),
                reason=cell[name].get("reason", "") if cell[name]["value"] is None else "",
            )
            for name in names
        ]
        lines.append(_ours(row["metric"], row["configuration"], ours))
    yield TableOfPaper(
        title="Table 1. Metrics against people, system level",
        columns=tuple(f"|{SYMBOLS[name]}|" for name in names),
        lines=tuple(lines),
    )


def _of_comperdial(document: Document) -> Iterator[TableOfPaper]:
    for table in document["tables"]:
        names = table["coefficients"]
        lines = []
        for row in table["rows"]:
            for printed in row["published"]:
                figures = _of_cells(printed["cells"], names)
                lines.append(_printed(row["metric"], printed["model"], figures))
            for one in row["ours"]:
                figures = _of_cells(one["cells"], names)
                lines.append(_ours(row["metric"], one["configuration"], figures))
        yield TableOfPaper(
            title=f"Table {table['number']}. {table['title']}",
            columns=tuple(
                f"{place['level']} {SYMBOLS[name]}" for place in table["places"] for name in names
            ),
            lines=tuple(lines),
        )


def _of_trained(document: Document) -> Iterator[TableOfPaper]:
    for table in document["tables"]:
        heading = "Tables" if "," in table["number"] else "Table"
        names = table["coefficients"]
        lines = []
        for row in table["rows"]:
            metric = f"{row['metric']}, {row['group']}" if table["number"] == "2" else row["metric"]
            for printed in row["published"]:
                lines.append(_printed(metric, printed["set"], _of_cells([printed], names)))
            for one in (one for group in row["ours"] for one in group["scored"]):
                lines.append(_ours(metric, one["configuration"], _of_cells([one], names)))
        yield TableOfPaper(
            title=f"{heading} {table['number']}. {table['title'][0].upper()}{table['title'][1:]}",
            columns=tuple(f"{table['level']} {SYMBOLS[name]}" for name in names),
            lines=tuple(lines),
        )


def _printed(metric: str, of: str | None, figures: Sequence[Shown]) -> Line:
    source = f"paper, {of}" if of else "paper"
    return Line(metric=metric, source=source, is_published=True, figures=tuple(figures))


def _ours(metric: str, configuration: str, figures: Sequence[Shown]) -> Line:
    return Line(metric=metric, source=configuration, is_published=False, figures=tuple(figures))


def _of_cells(cells: Iterable[Document], names: Sequence[str]) -> list[Shown]:
    estimates = [cell[name] for cell in cells for name in names]
    return [
        Shown(
            value=one["value"],
            ci=(one["ci"][0], one["ci"][1]) if one.get("ci") else None,
            reason="" if one["value"] is not None else one.get("reason", ""),
            is_starred=not one.get("significant", True),
        )
        for one in estimates
    ]


Convert = Callable[[Document], Iterator[TableOfPaper]]
PAPERS: Mapping[str, tuple[str, Callable[[Choice], dict[str, Any]], Convert]] = {
    "fbd": ("fbd", fbd_table, _of_fbd),
    "cmn": ("cmn", cmn_table, _of_trained),
    "density": ("density", density_table, _of_trained),
    "cpdscore": ("comperdial", cpdscore_table, _of_comperdial),
}
"""By the argument of ``tables``: the paper's files, its document, and that as lines."""
