"""A purse in words and figures, for every page that shows one. No writes here."""

from __future__ import annotations

from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from workers.judges.ledger import Balance, Charge, balance_of
from workers.judges.models import Purse

CENT = Decimal("0.01")


def spent_figures(budget: Purse) -> list[tuple[str, str, str]]:
    """(label, value, remark) of calls, tokens and money, as ``components/key_figures.html`` takes
    them. What is reserved and what is unsettled is shown where there is any."""
    balance = balance_of(budget)
    figures = [
        (_("Calls paid"), f"{budget.calls:,}", ""),
        (_("Tokens spent"), f"{budget.tokens_spent:,}", _tokens_left(budget, balance)),
        (_("USD spent"), _cost(budget), _money_left(budget, balance)),
    ]
    if balance.reserved.tokens:
        figures.append(
            (_("Reserved"), *_at_most(balance.reserved, _("at most, for calls under way")))
        )
    if balance.unsettled.calls:
        text = ngettext(
            "at most, for %(calls)s call without an answer; counted as spent",
            "at most, for %(calls)s calls without an answer; counted as spent",
            balance.unsettled.calls,
        ) % {"calls": f"{balance.unsettled.calls:,}"}
        figures.append((_("Unsettled"), *_at_most(balance.unsettled, text)))
    return figures


def _at_most(charge: Charge, text: str) -> tuple[str, str]:
    unit = _("tokens, %(usd)s USD") % {"usd": money(charge.cost)} if charge.cost else _("tokens")
    return f"{charge.tokens:,}", f"{unit}: {text}"


def is_spent(budget: Purse) -> bool:
    """Whether a limit is reached. A purse with something left may still be too small for the next
    call."""
    charged = balance_of(budget).charged
    tokens = budget.tokens_limit is not None and charged.tokens >= budget.tokens_limit
    return tokens or (budget.cost_limit is not None and charged.cost >= budget.cost_limit)


def money(amount: Decimal) -> str:
    """In USD: two decimals from a cent on, below it two significant digits, ``0`` where it is
    nothing."""
    if amount == 0:
        return "0"
    return f"{amount:,.2f}" if abs(amount) >= CENT else f"{Decimal(f'{amount:.2g}'):f}"


def _tokens_left(budget: Purse, balance: Balance) -> str:
    if budget.tokens_limit is None:
        return _("no limit")
    left = max(budget.tokens_limit - balance.charged.tokens, 0)
    return _("of %(limit)s; %(left)s left") % {
        "limit": f"{budget.tokens_limit:,}",
        "left": f"{left:,}",
    }


def _cost(budget: Purse) -> str:
    """Calls to a model without a price make the sum a lower bound; all of them, and nothing is
    known."""
    if budget.calls and budget.unpriced_calls == budget.calls:
        return "–"
    return f"≥ {money(budget.cost_spent)}" if budget.unpriced_calls else money(budget.cost_spent)


def _money_left(budget: Purse, balance: Balance) -> str:
    parts = []
    if budget.unpriced_calls:
        parts.append(_("%(calls)s calls have no price") % {"calls": f"{budget.unpriced_calls:,}"})
    if budget.cost_limit is None:
        parts.append(_("no limit"))
    else:
        left = max(budget.cost_limit - balance.charged.cost, Decimal(0))
        parts.append(
            _("of %(limit)s; %(left)s left")
            % {"limit": money(budget.cost_limit), "left": money(left)}
        )
    return "; ".join(parts)
