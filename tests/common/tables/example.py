"""A small leaderboard with everything a table can hold."""

from __future__ import annotations

from common.tables import Cell, Column, Row, Table

TABLE = Table(
    id="metrics",
    caption="Metrics of a corpus",
    columns=(
        Column("metric", "metric", "link"),
        Column("r", "r", "estimate", group="turn", help="Pearson's r", higher_is_better=True),
        Column("loss", "loss", "number", decimals=1, group="system", higher_is_better=False),
        Column("rank", "rank", "rank", group="system"),
    ),
    rows=(
        Row(
            "bleu",
            {
                "metric": Cell("bleu", href="/bleu/"),
                "r": Cell(0.25, ci=(0.1, 0.4), p=0.0004),
                "loss": Cell(3.0),
            },
        ),
        Row("fbd", {"metric": Cell("fbd"), "r": Cell(reason="no turn level"), "loss": Cell(1.5)}),
        Row(
            "meteor",
            {
                "metric": Cell("Meteor"),
                "r": Cell(-0.5, ci=(-0.6, -0.4)),
                "loss": Cell(1.5),
                "rank": Cell(2, ci=(1, 3)),
            },
            badges=("simulated",),
            swatch=9,
        ),
    ),
    signature="corpus:1|seed:0",
)


def ids(table: Table) -> list[str]:
    return [row.id for row in table.rows]
