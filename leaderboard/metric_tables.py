"""The tables of a metric's page, from stored answers and counts. No statistics are computed here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from annotations.models import CorpusVersion
from annotations.tables import Cell, Column, Row, Table
from leaderboard.board_tables import COEFFICIENT_NAMES, COEFFICIENTS, ceiling_cell, cell_of
from leaderboard.queries import Judged, MadeWith
from workers.metrics.configuration import Configuration

OnCorpus = tuple[CorpusVersion, dict[str, Any]]
"""A corpus version and its stored ``meta_evaluation``."""


def agreement_table(configuration: Configuration, answers: Sequence[OnCorpus]) -> Table:
    """One row a corpus and level: the coefficients with their intervals, the human ceiling beside them."""
    coefficients = [
        Column(name, symbol, "estimate", group="metric and people", help=f"{COEFFICIENT_NAMES[name]}, 95 % interval.")
        for name, symbol in COEFFICIENTS
    ]
    columns = (
        Column("corpus", "Corpus", "link"),
        Column("level", "Level"),
        *coefficients,
        Column(
            "ceiling",
            "r",
            "estimate",
            group="human ceiling",
            help="One rater against the others, leave-one-out: Pearson's r.",
        ),
        Column("n", "n", "number", decimals=0, help="Pairs of scores.", detail=True),
        Column("aspect", "Aspect", help="The corpus's main human score; its leaderboard has the others.", detail=True),
    )
    rows = tuple(
        _agreement_row(version, document, row)
        for version, document in answers
        for row in document["rows"]
        if row["metric"] == configuration.text
    )
    resamples = {(document["resamples"], document["seed"]) for _, document in answers}
    made = "; ".join(f"{draws} draws of dialogues, seed {seed}" for draws, seed in sorted(resamples))
    return Table(
        "metric-agreement",
        f"Correlation of {configuration.text} with people",
        columns,
        rows,
        notes=(f"Intervals: 95 %, from {made}. Signs are kept: of a metric of which lower is better, the best is −1.",)
        if rows and not configuration.higher_is_better
        else (f"Intervals: 95 %, from {made}.",)
        if rows
        else (),
    )


def _agreement_row(version: CorpusVersion, document: dict[str, Any], row: dict[str, Any]) -> Row:
    address = reverse("metric-leaderboard", args=[version.corpus.slug])
    link = f"{address}?{urlencode({'metric': row['metric'], 'aspect': document['aspect']})}#plots"
    cells = {
        "corpus": Cell(version.corpus.name, href=link),
        "level": Cell(row["level"]),
        **{name: cell_of(row[name]) for name, _ in COEFFICIENTS},
        "ceiling": ceiling_cell(document["human_ceiling"][row["level"]], "pearson"),
        "n": Cell(row["n"]),
        "aspect": Cell(document["aspect"]),
    }
    badges = ("simulated",) if version.simulated else ()
    return Row(f"{version.corpus.slug}-{row['level']}", cells, badges=badges, signature=row["signature"])


def options_table(configuration: Configuration) -> Table:
    """What can be set, and what is set on this page."""
    columns = (
        Column("option", "Option"),
        Column("help", "What it does"),
        Column("default", "Default"),
        Column("here", "Here"),
        Column("choices", "May be"),
    )
    values = configuration.options
    rows = tuple(
        Row(
            f"option-{one.name}",
            {
                "option": Cell(one.name),
                "help": Cell(one.help),
                "default": Cell(_written(one.default)),
                "here": Cell(_written(values[one.name])),
                "choices": Cell(", ".join(map(_written, one.choices)) or _KINDS[type(one.default)]),
            },
        )
        for one in configuration.metric.options
    )
    return Table("metric-options", f"Options of {configuration.metric.name}", columns, rows)


_KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "(empty)"


def made_with_table(rows: Iterable[MadeWith]) -> Table:
    columns = (
        Column("model", "Model and revision"),
        Column("device", "Computed on"),
        Column("runs", "Runs", "number", decimals=0, help="One run is one system of one corpus."),
    )
    found = tuple(
        Row(
            f"made-{number}",
            {
                "model": Cell(row.model or None, reason="it needs no model"),
                "device": Cell(row.device or None, reason="not recorded"),
                "runs": Cell(row.runs),
            },
        )
        for number, row in enumerate(rows)
    )
    return Table("metric-models", "Models and machines that its runs used", columns, found)


def judged_table(side: str, rows: Sequence[Judged], caption: str, signature: str) -> Table:
    """The widest gaps as a file: the page shows them as cards."""
    columns = (
        Column("system", "System"),
        Column("dialogue", "Dialogue"),
        Column("turn", "Turn", "number", decimals=0),
        Column("response", "Response"),
        Column("metric", "Metric", "number"),
        Column("human", "Human", "number"),
        Column("metric_z", "z of the metric", "number"),
        Column("human_z", "z of people", "number"),
        Column("gap", "Gap", "number"),
    )
    found = tuple(
        Row(
            f"{side}-{number}",
            {
                "system": Cell(row.system),
                "dialogue": Cell(row.dialogue.external_id if row.dialogue else None, reason="of the whole system"),
                "turn": Cell(row.turn, reason="of no single turn"),
                "response": Cell(row.response or None, reason="of no single response"),
                "metric": Cell(row.metric),
                "human": Cell(row.human),
                "metric_z": Cell(row.metric_z),
                "human_z": Cell(row.human_z),
                "gap": Cell(row.gap),
            },
            swatch=row.swatch,
        )
        for number, row in enumerate(rows)
    )
    return Table(side, caption, columns, found, signature=signature)
