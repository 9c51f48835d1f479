"""What judging the submissions of a challenge may cost: its budget, and who changes its limits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotations import audit
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.actions.setup import locked
from leaderboard.challenges.models import Challenge, Submission
from leaderboard.challenges.queries.judge_budget import challenges_that_pay
from workers.judges.budgets import ChargedCall, refuse_unless_may_act
from workers.judges.core.clients import BillingContext
from workers.judges.ledger import balance_of
from workers.judges.models import Budget

LIMITS = ("tokens_limit", "cost_limit")


def pays_for(billing: BillingContext) -> list[ChargedCall]:
    """The budgets of challenges whose rounds ask for these scores. They are found, or made, before
    the first call. Raises ``BudgetSpent`` for what an account submitted that may not act (any
    more): only its challenge asks for it."""
    withheld = Submission.objects.filter(system__in=billing.system_ids, system__withheld=True)
    for submission in withheld.select_related("user"):
        refuse_unless_may_act(submission.user)
    return [
        ChargedCall(budget_of(one).pk, f"the judges' budget of the challenge {one.name}")
        for one in challenges_that_pay(billing.system_ids, billing.configuration)
    ]


def budget_of(challenge: Challenge) -> Budget:
    """The challenge's own; made, without limits, where it has none yet. Of two who make one at
    once, one's stays."""
    with transaction.atomic():
        known = Challenge.objects.select_related("judge_budget").get(pk=challenge.pk).judge_budget
        if known is not None:
            return known
        made = Budget.objects.create()
        if Challenge.objects.filter(pk=challenge.pk, judge_budget=None).update(judge_budget=made):
            return made
        made.delete()
    return Budget.objects.get(challenge=challenge.pk)


def set_judge_budget(
    challenge: Challenge, tokens: int | None, usd: Decimal | None, by: Any = None
) -> Budget:
    """Set both limits; None is no limit. Raises ``Refused`` where more is spent already."""
    with transaction.atomic():
        stored = locked(challenge)
        budget = Budget.objects.select_for_update().get(pk=budget_of(stored).pk)
        charged = balance_of(budget).charged
        if tokens is not None and tokens < charged.tokens:
            raise Refused(_("More tokens than that are spent already."), "tokens")
        if usd is not None and usd < charged.cost:
            raise Refused(_("More money than that is spent already."), "usd")
        before = audit.noted(budget, LIMITS)
        budget.tokens_limit, budget.cost_limit = tokens, usd
        budget.save(update_fields=LIMITS)
        if what := audit.changes(before, audit.noted(budget, LIMITS)):
            audit.record(
                by, "challenge.judge_budget", stored.name, challenge=stored.slug, changes=what
            )
    return budget
