"""Every write to judge runs: start, budget, stop, resume. Each may come twice, or twice at once.

A configuration has one wording. A prompt file is named by its path, and what stands at a path may
change: scores of both wordings would stand side by side as if one judge had given them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.accounts import may_act
from annotations.models import CorpusVersion, System
from workers.judges.budgets import judge_run_of
from workers.judges.ledger import balance_of
from workers.judges.models import Budget, EndpointDialect, JudgeRun
from workers.metrics.common.configuration import Configuration
from workers.metrics.common.configuration import parse as configuration_of
from workers.models import MetricRun
from workers.runs import actions

STARTED, BUDGET, STOPPED, RESUMED, FORGOTTEN = (
    "judge_run.started",
    "judge_run.budget",
    "judge_run.stopped",
    "judge_run.resumed",
    "judge_endpoint.forgotten",
)
LIMITS = ("tokens_limit", "cost_limit")
STOPPED_BY_USER = (
    "stopped; what was answered is kept, and the judge goes on where it was when it is started "
    "again"
)
State = MetricRun.State


class Refused(Exception):
    """What was asked cannot be done; the message says why, ``field`` which field of the form it is
    about, or ""."""

    def __init__(self, message: Any, field: str = "") -> None:
        super().__init__(message)
        self.message, self.field = message, field


def start_judge_run(
    version: CorpusVersion,
    configuration: Configuration,
    systems: Sequence[System],
    tokens: int | None,
    usd: Decimal | None,
    by: Any = None,
) -> JudgeRun:
    """Judge these systems, within the budget (None: no limit). What is judged already stays; runs
    that failed are tried again. Started again, it has the new budget. Raises ``Refused`` where more
    than that is spent already."""
    if not configuration.metric.resumable:
        raise Refused(_("%(name)s is no judge.") % {"name": configuration.metric.name})
    if not systems:
        raise Refused(_("There is no system to judge."))
    with transaction.atomic():
        run = _locked(judge_run_of(version.pk, configuration.text))
        changes = _limited(run, tokens, usd)
        # How many of the systems have no run, or one that failed
        there = MetricRun.objects.filter(
            system__in=systems,
            configuration=configuration.text,
            metric_version=configuration.metric.version,
        )
        again = len(systems) - there.exclude(state=State.FAILED).count()
        _take_over(run, by)
        was_stopped = _go_on(run)
        actions.request([configuration], systems)
        if changes or again or was_stopped:
            audit.record(
                by, STARTED, _subject(run), systems=again, **audit.noted(run.budget, LIMITS)
            )
    return run


def set_budget(run: JudgeRun, tokens: int | None, usd: Decimal | None, by: Any = None) -> Budget:
    """Set both limits; None is no limit. What failed for want of money stays so until it is
    resumed. Raises ``Refused`` where more is spent already."""
    with transaction.atomic():
        locked = _locked(run)
        if changes := _limited(locked, tokens, usd):
            audit.record(by, BUDGET, _subject(locked), changes=changes)
    return locked.budget


def stop(run: JudgeRun, by: Any = None) -> int:
    """Fail what waits and what is being judged; calls in flight end, and are kept. The number of
    runs stopped."""
    with transaction.atomic():
        locked = _locked(run)
        stopped = actions.stop(locked.version, locked.configuration, STOPPED_BY_USER)
        if stopped:
            locked.stopped_at, locked.stopped_by = timezone.now(), by
            locked.save(update_fields=["stopped_at", "stopped_by"])
            audit.record(by, STOPPED, _subject(locked), runs=stopped)
    return stopped


def resume(run: JudgeRun, by: Any = None) -> int:
    """Try again what failed or was stopped. The number of runs. Raises ``ConfigurationError`` where
    the metric is no longer there."""
    with transaction.atomic():
        locked = _locked(run)
        failed = MetricRun.objects.filter(configuration=locked.configuration, state=State.FAILED)
        systems = list(
            locked.version.systems.filter(withheld=False, pk__in=failed.values("system"))
        )
        _take_over(locked, by)
        was_stopped = _go_on(locked)
        if systems:
            actions.request([configuration_of(locked.configuration)], systems)
        if systems or was_stopped:
            audit.record(by, RESUMED, _subject(locked), runs=len(systems))
    return len(systems)


def forget_dialect(address: str, model: str, by: Any = None) -> bool:
    """Forget what was learned of an endpoint: the next run learns it again. Whether there was
    anything."""
    with transaction.atomic():
        row = (
            EndpointDialect.objects.select_for_update().filter(address=address, model=model).first()
        )
        if row is None:
            return False
        row.delete()
        audit.record(by, FORGOTTEN, str(row), facts=row.facts)
    return True


def _locked(run: JudgeRun) -> JudgeRun:
    """With its budget: of two who change a run, one waits for the other."""
    found = JudgeRun.objects.select_for_update().get(pk=run.pk)
    found.budget = Budget.objects.select_for_update().get(pk=found.budget_id)
    return found


def _limited(run: JudgeRun, tokens: int | None, usd: Decimal | None) -> dict[str, Any]:
    """What changed."""
    budget = run.budget
    charged = balance_of(budget).charged
    if tokens is not None and tokens < charged.tokens:
        raise Refused(_("More tokens than that are spent already."), "tokens")
    if usd is not None and usd < charged.cost:
        raise Refused(_("More money than that is spent already."), "usd")
    before = audit.noted(budget, LIMITS)
    budget.tokens_limit, budget.cost_limit = tokens, usd
    changes = audit.changes(before, audit.noted(budget, LIMITS))
    if changes:
        budget.save(update_fields=LIMITS)
    return changes


def _take_over(run: JudgeRun, by: Any) -> None:
    """A run is its first starter's, until that account may not act any more: then workers would not
    go on with it."""
    if by is not None and (run.created_by is None or not may_act(run.created_by)):
        run.created_by = by


def _go_on(run: JudgeRun) -> bool:
    """Whether it was stopped."""
    was_stopped = run.stopped_at is not None
    run.stopped_at = run.stopped_by = None
    run.save(update_fields=["created_by", "stopped_at", "stopped_by"])
    return was_stopped


def _subject(run: JudgeRun) -> str:
    return f"{run.configuration} on {run.version}"


class OtherWording(RuntimeError):
    """The prompt is not the one with which the configuration's scores were made; the message says
    what to do."""


def check(configuration: Configuration, scorer: Any) -> None:
    """Raises ``OtherWording`` where finished runs of the configuration, on whatever corpus, were
    asked otherwise."""
    wording: dict[str, str] = scorer.wording() if hasattr(scorer, "wording") else {}
    done = MetricRun.objects.filter(
        configuration=configuration.text,
        metric_version=configuration.metric.version,
        state=MetricRun.State.DONE,
    )
    for fact, digest in wording.items():
        found = done.filter(signature__contains=f"|{fact}:")
        if found.exclude(signature__contains=f"|{fact}:{digest}").exists():
            option = "turn_prompt" if fact.startswith("turn_") else "prompt"
            name = configuration.options.get(option) or "the project's prompt"
            raise OtherWording(
                f"{name} holds another wording now ({fact} {digest}) than when systems were "
                "judged with this configuration. Put the old wording back, or give the new one a "
                "name of its own"
            )
