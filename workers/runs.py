"""Every write to metric runs: request, claim, report progress, finish, fail, sweep.

How a worker owns a run for a while: ``claims``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotations.actions import data_changed
from annotations.models import CorpusVersion, System
from workers import claims
from workers.claims import NO_OWNER, WAITS_ANEW, Claim
from workers.hints import tell_workers
from workers.metrics.configuration import Configuration
from workers.models import MetricRun
from workers.signals import run_ended

COMPUTE_TASK = "workers.tasks.compute"
State = MetricRun.State


@dataclass(frozen=True, slots=True)
class RunResult:
    signature: str
    system_score: float | None
    system_reason: str
    turn_scores: list[float | None]
    undefined: dict[str, str]
    model: str = ""
    device: str = ""
    remarks: dict[str, str] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)


# --- asking for work -------------------------------------------------------------------------------------------


def request(configurations: Sequence[Configuration], systems: Sequence[System], hint: bool = True) -> None:
    """Make sure that each configuration is, or will be, computed for each system; failed runs are tried again.

    ``hint=False`` is for a caller that computes the runs itself; should it die, the sweeper tells the workers.
    """
    with transaction.atomic():
        MetricRun.objects.bulk_create(
            (
                MetricRun(
                    system=system,
                    metric=configuration.metric.name,
                    metric_version=configuration.metric.version,
                    configuration=configuration.text,
                    queue=configuration.metric.queue,
                )
                for configuration in configurations
                for system in systems
            ),
            ignore_conflicts=True,
        )
        runs = MetricRun.objects.filter(_computes(configurations), system__in=systems)
        runs.filter(state=State.FAILED).update(
            state=State.PENDING, attempts=0, error="", hinted_at=None, hints=0, examples_done=0, finished_at=None
        )
        waiting = list(runs.filter(state=State.PENDING, hinted_at__isnull=True).values_list("pk", "queue"))
        if hint:
            transaction.on_commit(lambda: send_hints(waiting))


def _computes(configurations: Sequence[Configuration]) -> Q:
    """Runs of these configurations in the present version of their metric: no worker can compute an older one."""
    nothing = Q(pk__in=[])
    return reduce(
        or_, (Q(configuration=one.text, metric_version=one.metric.version) for one in configurations), nothing
    )


def retry_failed(version: CorpusVersion) -> int:
    """Give every failed run of the version a new set of attempts. Those of withheld systems are tried again with their
    submission."""
    with transaction.atomic():
        failed = MetricRun.objects.filter(system__version=version, system__withheld=False, state=State.FAILED)
        again = list(failed.values_list("pk", "queue"))
        count = MetricRun.objects.filter(pk__in=[pk for pk, _ in again], state=State.FAILED).update(
            state=State.PENDING, attempts=0, error="", hinted_at=None, hints=0, examples_done=0, finished_at=None
        )
        transaction.on_commit(lambda: send_hints(again))
    return count


def withdraw_waiting(version: CorpusVersion) -> int:
    """Take back the runs that no worker has begun, but for those of withheld systems, which a submission waits for. One
    that a worker claims in the same moment stays."""
    # By the systems' numbers: through a join the state would be read in a subquery, and PostgreSQL, having waited for
    # a claim, would delete the run that is now running.
    systems = list(version.systems.filter(withheld=False).values_list("pk", flat=True))
    count, _ = MetricRun.objects.filter(system__in=systems, state=State.PENDING).delete()
    return count


def send_hints(runs: Iterable[tuple[int, str]]) -> int:
    """Tell workers of runs (pk, queue). Where the broker cannot be reached the rows wait for the sweeper."""
    sent = tell_workers(COMPUTE_TASK, runs)
    MetricRun.objects.filter(pk__in=sent).update(hinted_at=timezone.now(), hints=F("hints") + 1)
    return len(sent)


# --- doing it --------------------------------------------------------------------------------------------------


def claim(run_id: int) -> Claim | None:
    """Take a run that is pending, or whose worker fell silent. None when somebody else has it or it is finished."""
    runs = MetricRun.objects.filter(attempts__lt=settings.MAX_ATTEMPTS)
    begun = {"state": State.RUNNING, "started_at": timezone.now(), "examples_done": 0}
    return claims.take(runs, run_id, Q(state=State.PENDING), [State.RUNNING], **begun)


def keep(claim: Claim, examples_done: int | None = None, examples_total: int | None = None) -> bool:
    """Renew the lease and report progress. False when the run is no longer ours: stop computing it."""
    changes: dict[str, object] = {}
    if examples_done is not None:
        changes["examples_done"] = examples_done
    if examples_total is not None:
        changes["examples_total"] = examples_total
    return claims.keep(_owned(claim), **changes)


def finish(claim: Claim, result: RunResult) -> bool:
    """Store the result. False, and nothing stored, when the lease was lost to another worker."""
    with transaction.atomic():
        stored = _owned(claim).update(
            state=State.DONE,
            finished_at=timezone.now(),
            **NO_OWNER,
            error="",
            examples_done=F("examples_total"),
            signature=result.signature,
            system_score=result.system_score,
            system_reason=result.system_reason,
            turn_scores=result.turn_scores,
            undefined=result.undefined,
            model=result.model,
            device=result.device,
            remarks=result.remarks,
            details=result.details,
        )
        if stored:
            data_changed(_versions_whose_statistics_change([claim.row_id]))
            _say_on_commit([claim.row_id])
    return bool(stored)


def fail(claim: Claim, error: str) -> bool:
    failed = _owned(claim).update(state=State.FAILED, finished_at=timezone.now(), **NO_OWNER, error=error)
    if failed:
        _say_on_commit([claim.row_id])
    return bool(failed)


def give_back(claim: Claim) -> bool:
    """Leave a run to whoever takes it next, as if it had not been begun."""
    return claims.give_back(_owned(claim), State.PENDING, examples_done=0)


def _owned(claim: Claim):
    return MetricRun.objects.filter(pk=claim.row_id, state=State.RUNNING, lease_token=claim.token)


def _versions_whose_statistics_change(run_ids: list[int]) -> list[int]:
    """A withheld system is in no statistic of its corpus: a thousand submissions make none of them anew."""
    runs = MetricRun.objects.filter(pk__in=run_ids, system__withheld=False)
    return list(runs.values_list("system__version_id", flat=True))


def _say_on_commit(run_ids: list[int]) -> None:
    """Whoever waits for runs may look now. One that fails at it, or a worker that dies before, is the sweeper's."""

    def say() -> None:
        systems = set(MetricRun.objects.filter(pk__in=run_ids).values_list("system_id", flat=True))
        run_ended.send_robust(sender=MetricRun, run_ids=run_ids, system_ids=systems)

    transaction.on_commit(say, robust=True)


# --- looking after it ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Swept:
    given_back: int
    given_up: int
    hinted: int


def sweep() -> Swept:
    """Give back the runs of silent workers, give up those that were tried too often, tell workers of waiting runs."""
    now = timezone.now()
    silent = MetricRun.objects.filter(state=State.RUNNING, lease_expires_at__lt=now)
    hopeless = list(silent.filter(attempts__gte=settings.MAX_ATTEMPTS).values_list("pk", flat=True))
    given_up = silent.filter(pk__in=hopeless).update(
        state=State.FAILED,
        finished_at=now,
        **NO_OWNER,
        error=f"the worker stopped without a word {settings.MAX_ATTEMPTS} times; the run may need more memory or time",
    )
    if hopeless:
        _say_on_commit(hopeless)
    given_back = silent.update(state=State.PENDING, **WAITS_ANEW, examples_done=0)
    waiting = MetricRun.objects.filter(state=State.PENDING)
    return Swept(given_back, given_up, send_hints(claims.to_hint(waiting, now, "pk", "queue")))
