"""The LLM budget: who pays for a judge's calls, that is the purses of a payer. All of them must
have room.

A judge run has a purse and a trial has one; other parts of the site (a challenge pays for its
submissions) register a provider, for this part does not know of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from annotations.accounts import may_act
from annotations.models import CorpusVersion
from workers.judges.models import JudgeRun, Purse, Trial
from workers.judging.judge_client import BillingContext
from workers.judging.response_cache import BudgetSpent
from workers.language_models.server import PACKAGED_MODEL_NAME
from workers.metrics import configuration as configurations
from workers.metrics.configuration import ConfigurationError


@dataclass(frozen=True, slots=True)
class ChargedCall:
    """A purse that has to pay, and what people call it: "the judges' budget of the challenge
    Cup"."""

    purse_id: int
    name: str


Provider = Callable[[BillingContext], Iterable[ChargedCall]]
_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """``provider`` is asked once for each batch of work, with its payer."""
    if provider not in _providers:
        _providers.append(provider)


def budgets_of(billing: BillingContext | None) -> list[ChargedCall]:
    """In the order of their keys, which is that in which they are locked. A payer without a purse
    is given one."""
    if billing is None:
        return []
    found = {one.purse_id: one for provider in _providers for one in provider(billing)}
    own = _of_trial(billing.trial_id) if billing.trial_id is not None else _of_run(billing)
    found.setdefault(own.purse_id, own)
    return [found[pk] for pk in sorted(found)]


def _of_trial(trial_id: int) -> ChargedCall:
    trial = Trial.objects.select_related("created_by").get(pk=trial_id)
    refuse_unless_may_act(trial.created_by)
    return ChargedCall(trial.purse_id, "the budget of the trial")


def _of_run(billing: BillingContext) -> ChargedCall:
    run = judge_run_of(billing.version_id, billing.configuration)
    refuse_unless_may_act(run.created_by)
    version = CorpusVersion.objects.select_related("corpus").get(pk=billing.version_id)
    return ChargedCall(
        run.purse_id,
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
                budget = Purse.objects.create(**default_limits(configuration))
                return JudgeRun.objects.create(
                    version_id=version_id, configuration=configuration, purse=budget
                )
        except IntegrityError:  # somebody else was quicker, and our purse was never there
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
