"""The LLM budget: who pays for a judge's calls, what calls cost, what a budget allows, and what is
reserved for calls in flight; and a budget in words and figures, for every page that shows one.

A judge run has a budget and a trial has one; other parts of the site (a challenge pays for its
submissions) register a provider, for this part does not know of them. All budgets that pay for a
call must have enough left. A call is charged the most it may cost before it is sent; its answer
replaces that by what it did cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, prefetch_related_objects
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations.accounts import may_act
from annotations.models import CorpusVersion
from common.jobs.leases import lease_end
from workers.inference.language_models.server import PACKAGED_MODEL_NAME
from workers.judges.core.calls import Answer, Call, Estimate, Price, is_counted
from workers.judges.core.clients import BillingContext
from workers.judges.core.response_cache import BudgetSpent
from workers.judges.ledger import Balance, Charge, balance_of, sum_of
from workers.judges.models import Budget, Hold, JudgeRun, Trial
from workers.metrics.common import configuration as configurations
from workers.metrics.common.configuration import ConfigurationError


@dataclass(frozen=True, slots=True)
class ChargedCall:
    """A budget that has to pay, and what people call it: "the judges' budget of the challenge
    Cup"."""

    budget_id: int
    name: str


Provider = Callable[[BillingContext], Iterable[ChargedCall]]
_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """``provider`` is asked once for each batch of work, with its payer."""
    if provider not in _providers:
        _providers.append(provider)


def budgets_of(billing: BillingContext | None) -> list[ChargedCall]:
    """In the order of their keys, which is that in which they are locked. Whoever pays without a
    budget is given one."""
    if billing is None:
        return []
    found = {one.budget_id: one for provider in _providers for one in provider(billing)}
    own = _of_trial(billing.trial_id) if billing.trial_id is not None else _of_run(billing)
    found.setdefault(own.budget_id, own)
    return [found[pk] for pk in sorted(found)]


def _of_trial(trial_id: int) -> ChargedCall:
    trial = Trial.objects.select_related("created_by").get(pk=trial_id)
    refuse_unless_may_act(trial.created_by)
    return ChargedCall(trial.budget_id, "the budget of the trial")


def _of_run(billing: BillingContext) -> ChargedCall:
    run = judge_run_of(billing.version_id, billing.configuration)
    refuse_unless_may_act(run.created_by)
    version = CorpusVersion.objects.select_related("corpus").get(pk=billing.version_id)
    return ChargedCall(
        run.budget_id,
        f"the budget of {billing.configuration} on {version.corpus.slug} {version.label}",
    )


def refuse_unless_may_act(user: Any) -> None:
    """Nothing is spent for an account that may not act. ``user`` is None where a command started
    the work, or where the account has been deleted. Raises ``BudgetSpent``."""
    if user is not None and not may_act(user):
        raise BudgetSpent(
            f"the account {user.get_username()}, which started it, is disabled on this site"
        )


def judge_run_of(version_id: int, configuration: str) -> JudgeRun:
    """The judge run, made with the site's default budget where there is none. Safe however many ask
    at once."""
    known = JudgeRun.objects.filter(version=version_id, configuration=configuration)
    while (run := known.first()) is None:
        try:
            with transaction.atomic():
                budget = Budget.objects.create(**default_limits(configuration))
                return JudgeRun.objects.create(
                    version_id=version_id, configuration=configuration, budget=budget
                )
        except IntegrityError:  # somebody else was quicker, and our budget was never there
            if not CorpusVersion.objects.filter(pk=version_id).exists():
                raise
    return run


def default_limits(configuration: str) -> dict[str, int | Decimal | None]:
    """``tokens_limit`` and ``cost_limit`` where nobody named one. The packaged model costs
    nothing."""
    if (
        model_of(configuration) == PACKAGED_MODEL_NAME
        and PACKAGED_MODEL_NAME not in settings.LLM_PRICES
    ):
        return {"tokens_limit": None, "cost_limit": None}
    return {"tokens_limit": settings.JUDGE_TOKENS or None, "cost_limit": settings.JUDGE_USD or None}


def model_of(configuration: str) -> str:
    """The model that a judge's configuration asks; "" where this process does not know the
    metric."""
    try:
        options = configurations.parse(configuration).options
    except ConfigurationError:
        return ""
    return str(options.get("model", ""))


CENT = Decimal("0.01")


def spent_figures(budget: Budget) -> list[tuple[str, str, str]]:
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


def is_spent(budget: Budget) -> bool:
    """Whether a limit is reached. A budget with something left may still be too small for the next
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


def _tokens_left(budget: Budget, balance: Balance) -> str:
    if budget.tokens_limit is None:
        return _("no limit")
    left = max(budget.tokens_limit - balance.charged.tokens, 0)
    return _("of %(limit)s; %(left)s left") % {
        "limit": f"{budget.tokens_limit:,}",
        "left": f"{left:,}",
    }


def _cost(budget: Budget) -> str:
    """Calls to a model without a price make the sum a lower bound; all of them, and nothing is
    known."""
    if budget.calls and budget.unpriced_calls == budget.calls:
        return "–"
    return f"≥ {money(budget.cost_spent)}" if budget.unpriced_calls else money(budget.cost_spent)


def _money_left(budget: Budget, balance: Balance) -> str:
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


NOTHING = Decimal(0)
NO_CHARGE = Charge()
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Bill:
    """What a call is charged. ``cost`` is None where the model has no price."""

    tokens: int
    cost: Decimal | None


def charge_for(answer: Answer, estimate: Estimate, price: Price) -> Bill:
    """By the endpoint's own counts. Where it does not count both prompt and answer, an answer is
    charged what it may have cost at most, and a refusal nothing: endpoints do not charge for
    those."""
    if is_counted(answer):
        input_tokens, output_tokens = answer.input_tokens or 0, answer.output_tokens or 0
        return Bill(input_tokens + output_tokens, price.cost(input_tokens, output_tokens))
    if answer.state == "refused":
        return Bill(0, price.cost(0, 0))
    return Bill(estimate.tokens, estimate.cost)


def format_spent(name: str, budget: Budget, unsettled: Charge = NO_CHARGE) -> str:
    """For the row of a run and its page: what is spent, and what to do."""
    limits = []
    if budget.tokens_limit is not None:
        limits.append(
            f"{budget.tokens_spent + unsettled.tokens:,} of {budget.tokens_limit:,} tokens"
        )
    if budget.cost_limit is not None:
        limits.append(f"${budget.cost_spent + unsettled.cost:,.4f} of ${budget.cost_limit:,.2f}")
    lost = ""
    if unsettled.tokens:
        lost = (
            f"; {unsettled.tokens:,} tokens of it for calls without an answer, at the most they "
            "can have cost"
        )
    return (
        f"{name} has no room for the next call ({', '.join(limits)} spent{lost}). What was "
        "answered is kept: raise the budget and start the judge again, and no answer is paid "
        "twice"
    )


def fits(budget: Budget, taken: Charge, estimate: Estimate) -> bool:
    """Whether a call has room beside what is spent and ``taken``."""
    if (
        budget.tokens_limit is not None
        and budget.tokens_spent + taken.tokens + estimate.tokens > budget.tokens_limit
    ):
        return False
    if budget.cost_limit is None or estimate.cost is None:
        return True
    return budget.cost_spent + taken.cost + estimate.cost <= budget.cost_limit


class BudgetLedger:
    """One holder's view of the budgets that pay. All methods but ``lock``, ``keep`` and ``hold``
    want the budgets locked, in a transaction. A holder alone writes its holds."""

    def __init__(self, paying: Sequence[ChargedCall], holder: str) -> None:
        self.names = {one.budget_id: one.name for one in paying}
        self.holder = holder
        self.budgets: list[Budget] = []
        self._balances: dict[int, Balance] = {}

    def lock(self) -> None:
        """Always in the order of keys, and before any other row: nobody waits in a circle."""
        if self.names:
            self.budgets = list(
                Budget.objects.select_for_update().filter(pk__in=self.names).order_by("pk")
            )

    def affordable(
        self, calls: Iterable[tuple[Call, Estimate]], now: datetime
    ) -> tuple[list[tuple[Call, Estimate]], list[tuple[Call, Estimate]]]:
        """In their order those that can be paid for beside all that is in flight; and the
        others."""
        if any(one.tokens_limit is not None or one.cost_limit is not None for one in self.budgets):
            prefetch_related_objects(self.budgets, "holds")
            self._balances = {one.pk: balance_of(one, now) for one in self.budgets}
        taken = {pk: balance.unsettled + balance.reserved for pk, balance in self._balances.items()}
        within, too_dear = [], []
        for call, estimate in calls:
            if all(
                fits(budget, taken.get(budget.pk, Charge()), estimate) for budget in self.budgets
            ):
                within.append((call, estimate))
                taken = {pk: held + sum_of([estimate]) for pk, held in taken.items()}
            else:
                too_dear.append((call, estimate))
        return within, too_dear

    def hold(self, waiting: Iterable[Estimate], sent: Iterable[Estimate], now: datetime) -> None:
        """Write down what the holder's calls may cost: those that wait, and those that were handed
        over to be sent."""
        if not self.names:
            return
        reserved, unsettled = sum_of(waiting), sum_of(sent)
        held: dict[str, Any] = {
            "tokens": reserved.tokens,
            "cost": reserved.cost,
            "sent_calls": unsettled.calls,
            "sent_tokens": unsettled.tokens,
            "sent_cost": unsettled.cost,
            "expires_at": lease_end(now),
        }
        if Hold.objects.filter(budget__in=self.names, holder=self.holder).update(**held) < len(
            self.names
        ):
            missing = [Hold(budget_id=pk, holder=self.holder, **held) for pk in self.names]
            Hold.objects.bulk_create(missing, ignore_conflicts=True)

    def pay(self, bills: Sequence[Bill]) -> None:
        """In decimals here, not in the database, whose sums on SQLite are binary fractions."""
        tokens = sum(one.tokens for one in bills)
        cost = sum((one.cost for one in bills if one.cost is not None), NOTHING)
        unpriced = sum(one.cost is None for one in bills)
        for budget in self.budgets:
            Budget.objects.filter(pk=budget.pk).update(
                tokens_spent=budget.tokens_spent + tokens,
                cost_spent=budget.cost_spent + cost,
                calls=budget.calls + len(bills),
                unpriced_calls=budget.unpriced_calls + unpriced,
            )

    def leave_unsettled(self, lost: Iterable[Estimate]) -> None:
        """Charge calls that were sent and whose answer will not come what they may have cost at
        most."""
        charge = sum_of(lost)
        if not charge.calls:
            return
        for budget in self.budgets:
            row, _ = Hold.objects.get_or_create(
                budget=budget, holder="", defaults={"expires_at": LONG_AGO}
            )
            row.sent_calls += charge.calls
            row.sent_tokens += charge.tokens
            row.sent_cost += charge.cost
            row.save()

    def refuse_where_spent(self, estimates: Sequence[Estimate]) -> None:
        """Raise ``BudgetSpent`` where none of the calls would fit into all budgets even with
        nothing in flight. What is held for calls in flight may come back: most cost less than they
        might. What is unsettled will not."""
        unsettled = {pk: balance.unsettled for pk, balance in self._balances.items()}
        too_small = [
            next(
                (
                    one
                    for one in self.budgets
                    if not fits(one, unsettled.get(one.pk, Charge()), wanted)
                ),
                None,
            )
            for wanted in estimates
        ]
        if too_small and None not in too_small:
            budget = too_small[0]
            assert budget is not None
            raise BudgetSpent(format_spent(self.names[budget.pk], budget, unsettled[budget.pk]))

    def keep(self, now: datetime) -> None:
        Hold.objects.filter(holder=self.holder).update(expires_at=lease_end(now))

    def give_back(self, now: datetime) -> None:
        """What we hold, and what holders who fell silent had reserved for calls that they never
        sent."""
        silent = Q(budget__in=self.names, expires_at__lt=now, sent_calls=0)
        Hold.objects.filter(Q(holder=self.holder) | silent).delete()
