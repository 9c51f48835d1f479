"""From a metric run's row to its result: claim it, and what is best computed with it, and hand the
scores back. What metrics load once is loaded before a worker forks its processes.

Where a metric gains from several systems in one call (texts that they share go through a model
once), the first claim takes along runs of the same metric on other systems. Each stays a run of its
own: with its own end, and computed alone when it was tried before, or when something went wrong
with all of them together.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Collection, Sequence
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError

from common.jobs.models import Claim
from common.text import storable
from workers.inference import resources
from workers.jobs import FailJob, LeaseLost, ReleaseJob, RetryJob, took_too_long, works_on
from workers.judges import actions as wording
from workers.judges.actions import OtherWording
from workers.judges.core.clients import BillingContext
from workers.judges.core.response_cache import BudgetSpent, EndpointFailed, NoScore, Stopped
from workers.judges.response_cache import calls_paid_here
from workers.metrics.common.configuration import Configuration
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs import actions, scoring

log = logging.getLogger(__name__)
PROGRESS_SECONDS = 1.0


@works_on(MetricRun.objects.all(), together=True)
def compute(run: MetricRun, claims: list[Claim]) -> bool:
    """Compute one run, and those that go with it: whoever claims them next goes on where they
    stopped. No attempt is used up where answers were paid for, else it would go on for ever."""
    paid_before = calls_paid_here()
    try:
        claims += _taken_along(run, claims[0])
        return _computed(claims)
    except Stopped as pause:
        again = RetryJob(f"it made no progress before it had to stop: {pause}")
    except SoftTimeLimitExceeded:
        # The limit is that of a task, and so of all its runs together: several are computed one by
        # one from now on
        again = FailJob(took_too_long()) if len(claims) == 1 else RetryJob(took_too_long())
    # The database was away or locked: no fault of a metric's
    except (OperationalError, InterfaceError) as problem:
        log.warning("metric run %s and %d more wait again: %s", run.pk, len(claims) - 1, problem)
        again = RetryJob(f"the database was away: {_error_text(problem)}")
    raise ReleaseJob if calls_paid_here() > paid_before else again


def _taken_along(run: MetricRun, first: Claim) -> list[Claim]:
    """A run that was begun before goes alone: its worker may have died of it, and would take the
    others along again."""
    if first.attempt > 1:
        return []
    try:
        configuration = scoring.configuration_of(run)
    except ValueError:
        return []  # scoring says what is wrong with it
    most = configuration.metric.systems_at_once - 1
    if most < 1:
        return []
    costs_money = configuration.metric.resumable
    return actions.claim_siblings(
        first, most, resources.at_hand().processes, one_budget=costs_money
    )


def _computed(claims: Sequence[Claim]) -> bool:
    """All at once; where that fails, one by one, so that the failure is that of the run which
    causes it."""
    try:
        return _compute_together(claims)
    except (LeaseLost, SoftTimeLimitExceeded, Stopped, OperationalError, InterfaceError):
        raise
    # As it would end for each of them alone, too
    except (BudgetSpent, EndpointFailed, OtherWording) as problem:
        log.warning("metric runs %s stop: %s", [one.row_id for one in claims], problem)
        for claim in claims:
            MetricRun.objects.owned(claim).fail(_judge_text(problem))
        return False
    # Whatever a metric does wrong belongs in its row, not only in a worker's log
    except Exception as problem:
        if len(claims) == 1:
            log.exception("metric run %s failed", claims[0].row_id)
            MetricRun.objects.owned(*claims).fail(_error_text(problem))
            return False
        log.exception(
            "metric runs %s failed together; each is computed alone", [one.row_id for one in claims]
        )
    computed = [_computed_alone(one) for one in claims if MetricRun.objects.owned(one).renew()]
    return any(computed)


def _computed_alone(claim: Claim) -> bool:
    """One that is taken from us meanwhile does not hold up the others."""
    try:
        return _computed([claim])
    except LeaseLost:
        log.warning("metric run %s was taken over by another worker", claim.row_id)
        return False


def _compute_together(claims: Sequence[Claim]) -> bool:
    found = MetricRun.objects.select_related("system__version__corpus").in_bulk(
        [one.row_id for one in claims]
    )
    held = [one for one in claims if one.row_id in found]
    if not held:
        raise LeaseLost
    configuration = scoring.configuration_of(found[held[0].row_id])
    tasks = [scoring.Task.of(found[one.row_id]) for one in held]
    reporter = _Reporter(held, configuration)
    reporter.begin([len(task.given) for task in tasks])
    if configuration.metric.resumable:
        systems = tuple(task.run.system_id for task in tasks)
        billing = BillingContext(tasks[0].run.system.version_id, configuration.text, systems)
        scorer = scoring.scorer_of(configuration.text)
        wording.check(configuration, scorer)
        scorer.paid_by(billing)
    results = scoring.outcomes(configuration, tasks, reporter.progress)
    if configuration.metric.resumable:
        wording.check(configuration, scorer)  # another worker may have read the other one meanwhile
    finished = [_ended(one, outcome) for one, outcome in zip(held, results, strict=True)]
    return any(finished)


def _ended(claim: Claim, outcome: scoring.Outcome) -> bool:
    """Whether the run has a result now."""
    if isinstance(outcome, Exception):
        log.warning("metric run %s failed: %s", claim.row_id, outcome)
        error = _judge_text(outcome) if isinstance(outcome, NoScore) else _error_text(outcome)
        MetricRun.objects.owned(claim).fail(error)
        return False
    return actions.finish(claim, outcome)


def _judge_text(problem: Exception) -> str:
    """Of a failure that people mend, and after which a judge goes on where it was."""
    words = storable(str(problem))[:1800].rstrip(". ")
    if isinstance(problem, EndpointFailed):
        words += ". What was answered is kept: start the judge again, and no answer is paid twice"
    return f"{words}."


def _error_text(problem: Exception) -> str:
    return storable(f"{type(problem).__name__}: {problem}")[:2000]


class _Reporter:
    """Writes the progress of runs that are computed together to their rows, at most once a
    second."""

    def __init__(self, claims: Sequence[Claim], configuration: Configuration) -> None:
        self.claims = claims
        self.configuration = configuration
        self.total = 0
        self.last = time.monotonic()
        self.provenance_known = False

    def begin(self, totals: Sequence[int]) -> None:
        self.total = sum(totals)
        if not actions.begin(self.claims, totals):
            raise LeaseLost

    def progress(self, examples_done: int) -> None:
        if time.monotonic() - self.last < PROGRESS_SECONDS:
            return
        self.last = time.monotonic()
        share = examples_done / self.total if self.total else 1.0
        if not actions.report(self.claims, share, self._provenance()):
            raise LeaseLost

    def _provenance(self) -> dict[str, Any]:
        """Model and device, the first time that the scorer knows them: people who wait see with
        what it works."""
        if self.provenance_known:
            return {}
        try:
            account = scoring.account_of(scoring.scorer_of(self.configuration.text))
        except Exception:  # it may have nothing to say before its first call has ended
            return {}
        self.provenance_known = bool(account.device)
        return scoring.names_of(account) if account.device else {}


def warm_up(queues: Collection[str]) -> list[str]:
    """Warm up the metrics of these queues that can run here; their names. One that fails is as slow
    as before."""
    warm: list[str] = []
    for name, metric in all_metrics().items():
        if (
            metric.warm_up is None
            or metric.queue not in queues
            or Configuration.of(metric).missing()
        ):
            continue
        try:
            metric.warm_up()
        except Exception:
            log.warning(
                "%s could not be warmed up; its first run will say why", name, exc_info=True
            )
        else:
            warm.append(name)
    if "cpu" in queues:  # whose processes compute statistics, too
        import scipy.stats  # noqa: F401
    # what is loaded by now stays one copy: no collection in a forked process writes to its pages
    gc.freeze()
    return warm
