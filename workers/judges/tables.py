"""The table of a corpus's judges, and an estimate in figures, as data for pages and downloads."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from urllib.parse import urlencode

from django.urls import reverse

from annotations.models import CorpusVersion
from common.tables import Cell, Column, Row, Table
from workers.judges.ledger import balance_of
from workers.judges.models import Budget
from workers.judges.progress import JudgeProgress

COLUMNS = (
    Column("judge", "Judge", "link"),
    Column("model", "Model", help="The one that is asked."),
    Column("state", "State"),
    Column("systems", "Systems done", help="Of all systems of this version."),
    Column(
        "responses",
        "Look inside",
        "link",
        help="What it was asked and answered, response by response.",
    ),
    Column(
        "scored",
        "Scored",
        "number",
        decimals=3,
        help="Share of the responses of finished systems with a score.",
    ),
)
OF_MONEY = (
    Column(
        "calls",
        "Calls",
        "number",
        decimals=0,
        help="Paid. What the store had is asked, and paid for, once.",
    ),
    Column("tokens", "Tokens", "number", decimals=0, help="Of prompts and answers."),
    Column("cost", "USD", "number", decimals=4),
    Column("tokens_left", "Tokens left", "number", decimals=0, detail=True),
    Column("usd_left", "USD left", "number", decimals=4, detail=True),
)
NOT_REQUESTED = "no call has been paid for"


def address_of(version: CorpusVersion, configuration: str) -> str:
    """The page of judges with this one chosen."""
    requested = urlencode({"metric": configuration, "version": version.number})
    return f"{reverse('judge-runs', args=[version.corpus.slug])}?{requested}"


def inspector_of(version: CorpusVersion, configuration: str) -> str:
    """The responses that it judged, with prompts and answers."""
    requested = urlencode({"metric": configuration, "version": version.number})
    return f"{reverse('judge-inspector', args=[version.corpus.slug])}?{requested}"


def judges_table(version: CorpusVersion, lines: Sequence[JudgeProgress], with_money: bool) -> Table:
    """A row a judge. What they cost is for organisers."""
    rows = tuple(
        Row(f"judge-{number}", _cells(version, one, with_money)) for number, one in enumerate(lines)
    )
    return Table(
        "judges", "Judges of this corpus", COLUMNS + (OF_MONEY if with_money else ()), rows
    )


def _cells(version: CorpusVersion, line: JudgeProgress, with_money: bool) -> dict[str, Cell]:
    cells = {
        "judge": Cell(line.configuration, href=address_of(version, line.configuration)),
        "model": Cell(", ".join(line.models) or line.model or None, reason="not known here"),
        "state": Cell(line.state_word),
        "systems": Cell(f"{line.done} of {line.systems}"),
        "responses": _responses(version, line),
        "scored": _coverage(line),
    }
    return cells | _money(line.budget) if with_money else cells


def _responses(version: CorpusVersion, line: JudgeProgress) -> Cell:
    if not line.done:
        return Cell(reason="no system is done")
    return Cell(
        "dialogues" if line.is_of_dialogues else "responses",
        href=inspector_of(version, line.configuration),
    )


def _coverage(line: JudgeProgress) -> Cell:
    if line.coverage is None:
        return Cell(reason="no system is done")
    return Cell(
        line.coverage, note="" if line.coverage == 1 else f"{line.scored:,} of {line.responses:,}"
    )


def _money(budget: Budget | None) -> dict[str, Cell]:
    if budget is None:
        return {column.key: Cell(reason=NOT_REQUESTED) for column in OF_MONEY}
    return {
        "calls": Cell(budget.calls),
        "tokens": Cell(budget.tokens_spent),
        "cost": _cost(budget),
        "tokens_left": (
            Cell(reason="no limit")
            if budget.tokens_limit is None
            else Cell(max(budget.tokens_limit - balance_of(budget).charged.tokens, 0))
        ),
        "usd_left": _money_left(budget),
    }


def _cost(budget: Budget) -> Cell:
    if budget.calls and budget.calls == budget.unpriced_calls:
        return Cell(reason="the model has no price here")
    note = f"{budget.unpriced_calls:,} calls have no price" if budget.unpriced_calls else ""
    return Cell(float(budget.cost_spent), note=note)


def _money_left(budget: Budget) -> Cell:
    if budget.cost_limit is None:
        return Cell(reason="no limit")
    return Cell(float(max(budget.cost_limit - balance_of(budget).charged.cost, Decimal(0))))
