"""A challenge's budget for judges: who pays from it, and what its organisers read of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.challenges.models import Challenge, Round, Submission
from workers.judges.budgets import is_spent
from workers.judges.models import Budget
from workers.metrics.common.configuration import Configuration, ConfigurationError, parse
from workers.models import MetricRun

JUDGES = "llm"
"""The queue of metrics that ask a language model for scores."""


def challenges_that_pay(system_ids: Sequence[int], configuration: str) -> list[Challenge]:
    """Those for whose rounds these systems are scored with the configuration. A judge that
    organisers let loose on a corpus, on published submissions too, is paid for by that run alone,
    unless a round asks for the same scores. What is withheld nobody else has scored: its challenge
    pays, whatever its round has come to ask for meanwhile."""
    of_systems = Round.objects.filter(submissions__system__in=list(system_ids))
    rounds = of_systems.distinct().select_related("challenge")
    withheld = set(
        of_systems.filter(submissions__system__withheld=True).values_list("pk", flat=True)
    )
    charged = {
        one.challenge_id: one.challenge
        for one in rounds
        if one.pk in withheld or configuration in _texts(one)
    }
    return [charged[pk] for pk in sorted(charged)]


def _texts(round: Round) -> set[str]:
    return {one.text for one in _configurations(round)}


def _configurations(round: Round) -> list[Configuration]:
    found = []
    for written in (*round.metrics, *round.private_metrics):
        try:
            found.append(parse(written))
        except ConfigurationError:  # of a package that was taken out: nobody computes it
            continue
    return found


@dataclass(frozen=True, slots=True)
class JudgeBudget:
    budget: Budget | None
    """None where no limit was set and nothing was spent."""
    judges: tuple[str, ...]
    """Configurations of judges that the challenge's rounds ask for."""
    failed: int
    """Submissions that failed and whose judge did: to be tried again when what stopped it is
    mended."""

    @property
    def is_spent(self) -> bool:
        return self.budget is not None and is_spent(self.budget)


def judge_budget(challenge: Challenge) -> JudgeBudget:
    judges = {
        one.text: None
        for round in challenge.rounds.order_by("position", "pk")
        for one in _configurations(round)
        if one.metric.queue == JUDGES
    }
    budget = Budget.objects.filter(challenge=challenge.pk).first()
    return JudgeBudget(budget, tuple(judges), _failed(challenge))


def _failed(challenge: Challenge) -> int:
    failed = Submission.objects.filter(round__challenge=challenge, state=Submission.State.FAILED)
    runs = MetricRun.objects.filter(queue=JUDGES, state=MetricRun.State.FAILED)
    return failed.filter(system__in=runs.values("system")).count()
