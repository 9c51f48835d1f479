"""A purse in words and figures, for every page that shows one. No writes here."""

from __future__ import annotations

from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from workers.judges.ledger import Balance, Charge, balance_of
from workers.judges.models import Purse

CENT = Decimal("0.01")


def spent_figures(purse: Purse) -> list[tuple[str, str, str]]:
    """(label, value, remark) of calls, tokens and money, as ``components/key_figures.html`` takes
    them. What is reserved and what is unsettled is shown where there is any."""
    balance = balance_of(purse)
    figures = [
        (_("Calls paid"), f"{purse.calls:,}", ""),
        (_("Tokens spent"), f"{purse.tokens_spent:,}", _tokens_left(purse, balance)),
        (_("USD spent"), _cost(purse), _money_left(purse, balance)),
    ]
    if balance.reserved.tokens:
        figures.append(
            (_("Reserved"), *_at_most(balance.reserved, _("at most, for calls under way")))
        )
    if balance.unsettled.calls:
        said = ngettext(
            "at most, for %(calls)s call without an answer; counted as spent",
            "at most, for %(calls)s calls without an answer; counted as spent",
            balance.unsettled.calls,
        ) % {"calls": f"{balance.unsettled.calls:,}"}
        figures.append((_("Unsettled"), *_at_most(balance.unsettled, said)))
    return figures


def _at_most(charge: Charge, said: str) -> tuple[str, str]:
    unit = _("tokens, %(usd)s USD") % {"usd": money(charge.cost)} if charge.cost else _("tokens")
    return f"{charge.tokens:,}", f"{unit}: {said}"


def is_spent(purse: Purse) -> bool:
    """Whether a limit is reached. A purse with something left may still be too small for the next
    call."""
    charged = balance_of(purse).charged
    tokens = purse.tokens_limit is not None and charged.tokens >= purse.tokens_limit
    return tokens or (purse.cost_limit is not None and charged.cost >= purse.cost_limit)


def money(amount: Decimal) -> str:
    """In USD: two decimals from a cent on, below it two significant digits, ``0`` where it is
    nothing."""
    if amount == 0:
        return "0"
    return f"{amount:,.2f}" if abs(amount) >= CENT else f"{Decimal(f'{amount:.2g}'):f}"


def _tokens_left(purse: Purse, balance: Balance) -> str:
    if purse.tokens_limit is None:
        return _("no limit")
    left = max(purse.tokens_limit - balance.charged.tokens, 0)
    return _("of %(limit)s; %(left)s left") % {
        "limit": f"{purse.tokens_limit:,}",
        "left": f"{left:,}",
    }


def _cost(purse: Purse) -> str:
    """Calls to a model without a price make the sum a lower bound; all of them, and nothing is
    known."""
    if purse.calls and purse.unpriced_calls == purse.calls:
        return "–"
    return f"≥ {money(purse.cost_spent)}" if purse.unpriced_calls else money(purse.cost_spent)


def _money_left(purse: Purse, balance: Balance) -> str:
    said = []
    if purse.unpriced_calls:
        said.append(_("%(calls)s calls have no price") % {"calls": f"{purse.unpriced_calls:,}"})
    if purse.cost_limit is None:
        said.append(_("no limit"))
    else:
        left = max(purse.cost_limit - balance.charged.cost, Decimal(0))
        said.append(
            _("of %(limit)s; %(left)s left")
            % {"limit": money(purse.cost_limit), "left": money(left)}
        )
    return "; ".join(said)
