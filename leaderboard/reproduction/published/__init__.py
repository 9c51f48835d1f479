"""What papers print, from data files: ``papers.toml`` has the papers with their corpora and tables,
``<paper>.csv`` a line for each figure, with its digits as they are printed.

What the figures are:

- ``fbd`` (Xiang et al., 2021). Absolute values. The two known versions of the paper print the same
  figures: Tables 1, 2 and 3 of one are Tables 3, 4 and 5 of the other.
- ``cmn`` (Zhao et al., 2023). Their heads call Pearson's coefficient ρ and Spearman's τ. The text
  counts 200 standard and 600 diverse samples, evenly split between two sources. The printed p
  belong to 82 and 56 standard ones and to about 467 and 187 diverse ones (p of r by Student's t).
  One does not: CMN without NSP, diverse, PersonaChat, 0.2947 (0.0025).
- ``density`` (Park et al., 2023). Hundredths; a star marks p > .01. METEOR and BERTScore have the
  same two figures on ConvAI2-GRADE, 22.48 and 22.50: so it is printed. Table 2 has no stars, and
  the crosses of Table 4 mark figures from other papers. Table 5: R@1 and MRR on test splits, among
  16 candidates (DailyDialog) or 20 (ConvAI2).
- ``comperdial`` (Wakaki et al., 2024). A star marks p ≥ .05. Table 3 shows GPT-4 alone with
  Spearman and Kendall; appendix C.3 prints the same rows with Pearson and GPT-3.5, and so does its
  second table with Table 6: those stand here. (The text beside Table 3 speaks of .821 and .642 for
  the original prompts; both tables have .820 and .674.) The judges are gpt-3.5-turbo-0125 and
  gpt-4-turbo-2024-04-09; a score is the mean of three calls but in Table 3.
"""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent
COLUMNS = ["table", "group", "row", "model", "column", "statistic", "value", "star", "p"]
NOT_SIGNIFICANT = "*"


class PublishedDataError(ValueError):
    """A data file does not hold what it should."""


@dataclass(frozen=True, slots=True)
class Figure:
    value: float
    digits: int
    """Decimals of ``value`` that the paper prints."""
    significant: bool = True
    """False where the paper stars it, or prints a p that is not below its bound."""
    p: float | None = None
    """As printed; "<0.0001" is 0.0001. None where the paper prints none."""

    def is_same(self, value: float) -> bool:
        """Whether a computed value is the printed one to the printed digits."""
        return abs(value - self.value) <= 0.5 * 10.0**-self.digits + 1e-9


@dataclass(frozen=True, slots=True)
class Corpus:
    """Rated responses that a paper's column is of."""

    key: str
    title: str
    slugs: tuple[str, ...]
    """What it may be called here where nobody says otherwise."""
    how: str
    """What follows ``manage.py import_corpus`` where it is not there."""
    rated: str = ""
    """The human score that the paper takes, and of how much."""
    aspect: str = ""
    """The human score here where the corpus has it and no other is asked for."""
    systems: tuple[str, ...] = ()
    """The models that the paper names, in no order of the files'."""
    decoding: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    metric: str
    group: str
    model: str
    """The encoder or judge, "" where the table names none."""
    figures: Mapping[tuple[str, str], Figure]
    """By column and statistic, in the table's order."""

    def of_column(self, column: str) -> dict[str, Figure]:
        return {name: one for (of, name), one in self.figures.items() if of == column}


@dataclass(frozen=True, slots=True)
class Table:
    number: str
    title: str
    columns: tuple[str, ...]
    statistics: tuple[str, ...]
    """A figure for each of these in each column."""
    rated: Literal["turn", "dialogue"]
    """What people rated, that scores are held against."""
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    citation: str
    alpha: float
    """From which p on a figure is not significant."""
    setup: str
    """How the paper's models were trained."""
    corpora: tuple[Corpus, ...]
    tables: Mapping[str, Table]


@cache
def paper(name: str) -> Paper:
    """Read what a paper prints.

    Args:
        name: ``fbd``, ``cmn``, ``density`` or ``comperdial``.

    Returns:
        The paper with its corpora and tables, in the order of ``papers.toml``.

    Raises:
        PublishedDataError: a file lacks a column or a cell, has one twice, or a value that is no
            number.
    """
    return read_paper(name, FOLDER)


def read_paper(name: str, folder: Path) -> Paper:
    """``paper``, from the files of another folder."""
    with (folder / "papers.toml").open("rb") as file:
        about = tomllib.load(file)[name]
    path = folder / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows: Any = csv.DictReader(file, strict=True)
        if rows.fieldnames != COLUMNS:
            raise PublishedDataError(
                f"{path.name} has the columns {rows.fieldnames}, not {COLUMNS}"
            )
        cells = [(f"{path.name}, line {rows.line_num}", cell) for cell in rows]
    known = {table["number"] for table in about["tables"]}
    for place, cell in cells:
        if None in cell or None in cell.values():
            raise PublishedDataError(f"{place} has not {len(COLUMNS)} cells")
        if cell["table"] not in known:
            raise PublishedDataError(f"{place}: the paper has no table {cell['table']!r}")
    alpha = about.get("alpha", 0.05)
    tables = {
        table["number"]: _table(
            table, [one for one in cells if one[1]["table"] == table["number"]], alpha
        )
        for table in about["tables"]
    }
    corpora = tuple(Corpus(**_with_tuples(one)) for one in about.get("corpora", ()))
    return Paper(about["citation"], alpha, about.get("setup", ""), corpora, tables)


def _table(
    about: Mapping[str, Any], cells: Iterable[tuple[str, Mapping[str, str]]], alpha: float
) -> Table:
    """``percent``: figures are hundredths. ``sparse``: rows have not all columns."""
    order = {
        (column, statistic): number
        for number, (column, statistic) in enumerate(
            (column, statistic) for column in about["columns"] for statistic in about["statistics"]
        )
    }
    rows: dict[tuple[str, str, str], dict[tuple[str, str], Figure]] = {}
    for place, cell in cells:
        row = rows.setdefault((cell["row"], cell["group"], cell["model"]), {})
        key = (cell["column"], cell["statistic"])
        if key not in order:
            raise PublishedDataError(f"{place}: Table {about['number']} has no column {key}")
        if key in row:
            raise PublishedDataError(f"{place}: the cell {cell['row']}, {key} is there twice")
        row[key] = _figure(place, cell, alpha, about.get("percent", False))
    for (metric, _, model), row in rows.items():
        lacking = [key for key in order if key not in row]
        if lacking and not about.get("sparse"):
            raise PublishedDataError(
                f"Table {about['number']}, {metric} {model}: no figure of {lacking[0]}"
            )
    return Table(
        about["number"],
        about["title"],
        tuple(about["columns"]),
        tuple(about["statistics"]),
        about.get("rated", "turn"),
        tuple(
            Row(*names, dict(sorted(row.items(), key=lambda item: order[item[0]])))
            for names, row in rows.items()
        ),
    )


def _figure(place: str, cell: Mapping[str, str], alpha: float, percent: bool) -> Figure:
    value = _number(place, cell["value"])
    p = _number(place, cell["p"].removeprefix("<")) if cell["p"] else None
    if cell["star"] not in ("", NOT_SIGNIFICANT):
        raise PublishedDataError(f"{place}: the star is {cell['star']!r}")
    if p is not None and not 0 <= p <= 1:
        raise PublishedDataError(f"{place}: p is {p}")
    digits = len(cell["value"].partition(".")[2])
    significant = not cell["star"] and (p is None or p < alpha)
    if percent:
        return Figure(round(value / 100, digits + 2), digits + 2, significant, p)
    return Figure(value, digits, significant, p)


def _number(place: str, text: str) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        raise PublishedDataError(f"{place}: {text!r} is no number") from None
    if not math.isfinite(value):
        raise PublishedDataError(f"{place}: {text!r} is no number")
    return value


def _with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }


BANDS = ((0.0, "below 0"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
"""Upper ends, after Landis and Koch (1977); CMN names the last two. Above: almost perfect."""


def band(value: float) -> str:
    return next((name for end, name in BANDS if value < end), "almost perfect")
