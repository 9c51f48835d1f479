"""What a judge would take on a corpus, in words and figures; and the budget that a form begins
with."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings

from workers import progress_rate
from workers.judges.budget_form import plain
from workers.judges.budget_text import money
from workers.judges.budgets import default_limits
from workers.judges.estimates import JudgeEstimate
from workers.judges.models import Purse
from workers.judging.costs import price_of
from workers.language_models.server import PACKAGED_MODEL_NAME
from workers.metrics.configuration import Configuration

NO_PRICE = (
    "{model} has no price here, so money cannot be counted. Leave this empty, or give the price "
    "in DIALEVAL_LLM_PRICES."
)

UNKNOWN_REASONING = (
    " Reasoning tokens, which some models use and which cost as answers do, are not counted:"
    " nobody has asked this model yet."
)


@dataclass(frozen=True, slots=True)
class Estimated:
    """An estimate as a page shows it."""

    sentence: str
    figures: list[tuple[str, str, str]]
    price: str
    """What the model costs, or that it is not known."""


def estimated(found: JudgeEstimate, configuration: Configuration) -> Estimated:
    to_ask = found.calls - found.stored
    return Estimated(
        sentence=f"{found.in_words}.{_reasoning(found, to_ask)}",
        figures=[
            ("Dialogues", f"{found.dialogues:,}", _of_systems(found)),
            ("Calls", f"{found.calls:,}", _stored(found, to_ask)),
            ("Tokens", f"{found.input_tokens + found.output_tokens:,}", _of_answers(found)),
            (
                "Cost",
                _usd(found.cost),
                "" if found.cost is not None else "the model has no price here",
            ),
            (
                "Time",
                "–" if found.seconds is None else f"about {progress_rate.duration(found.seconds)}",
                _time(found),
            ),
        ],
        price=format_price(str(configuration.options["model"])),
    )


def _of_systems(found: JudgeEstimate) -> str:
    return f"of {found.systems:,} systems, {found.responses:,} responses"


def _stored(found: JudgeEstimate, to_ask: int) -> str:
    return (
        f"{found.stored:,} in the store, {to_ask:,} to ask"
        if found.stored
        else "none in the store yet"
    )


def _of_answers(found: JudgeEstimate) -> str:
    reasoning = (
        f", {found.reasoning_tokens:,} of these for reasoning" if found.reasoning_tokens else ""
    )
    return f"{found.output_tokens:,} of them in answers{reasoning}"


def _reasoning(found: JudgeEstimate, to_ask: int) -> str:
    return UNKNOWN_REASONING if to_ask and found.reasoning_tokens is None else ""


def _usd(cost: Decimal | None) -> str:
    return "–" if cost is None else f"${money(cost)}"


def _time(found: JudgeEstimate) -> str:
    return (
        "nobody has asked this model yet"
        if found.seconds is None
        else "at the pace of answers so far"
    )


def format_price(model: str) -> str:
    """``$2.50 for a million input tokens, $10.00 for a million output tokens``."""
    price = price_of(model, settings.LLM_PRICES)
    if price.input is not None and price.output is not None:
        sent, received = money(price.input), money(price.output)
        return f"{model}: ${sent} for a million tokens of prompts, ${received} for a million of answers."
    if model == PACKAGED_MODEL_NAME:
        return f"{model} runs on this machine and costs nothing."
    return (
        f"The price of {model} is not known here (DIALEVAL_LLM_PRICES): tokens are counted, money "
        "is not."
    )


def why_no_usd(model: str) -> str:
    """Why a limit in money would limit nothing, or ""."""
    known = model == PACKAGED_MODEL_NAME or model in settings.LLM_PRICES
    return "" if known else NO_PRICE.format(model=model or "The model")


def budget_to_start_from(configuration: Configuration, budget: Purse | None) -> dict[str, Any]:
    """The limits that the judge has already, or the site's defaults; no money where it cannot be
    counted."""
    limits = default_limits(configuration.text)
    tokens, usd = limits["tokens_limit"], limits["cost_limit"]
    if budget is not None:
        tokens, usd = budget.tokens_limit, budget.cost_limit
    if why_no_usd(str(configuration.options["model"])):
        usd = None
    return {"tokens": tokens, "usd": plain(None if usd is None else Decimal(usd))}
