"""Every write to metric runs but for those of every job: request, stop, claim siblings,
report progress, finish. A request is one statement for each configuration, however many systems
there are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from django.db import connection, transaction
from django.db.models import F, FloatField, PositiveIntegerField, Q
from django.db.models.functions import Cast, Floor

from annotations.corpora.actions import scores_changed
from annotations.models import CorpusVersion, System
from common.jobs.models import Claim
from workers.judges.models import JudgeRun
from workers.metrics.common.configuration import Configuration
from workers.models import MetricRun


def add_missing(configuration: Configuration, systems: Sequence[System]) -> None:
    """A waiting run for each system that has none of this configuration in its metric's present
    version, in the systems' order.

    The runs differ in their system alone, so the database copies one. With a model object for each
    of 500, somebody who asks for a metric waited twice as long.
    """
    if not systems:
        return
    similar = MetricRun(
        metric=configuration.metric.name,
        metric_version=configuration.metric.version,
        configuration=configuration.text,
        queue=configuration.metric.queue,
    )
    fields = [
        field
        for field in MetricRun._meta.concrete_fields
        if not field.primary_key and field.name != "system"
    ]
    values = [field.get_db_prep_save(field.pre_save(similar, True), connection) for field in fields]
    chosen = System.objects.filter(pk__in=[system.pk for system in systems]).values_list(
        "pk", "position"
    )
    which, which_values = chosen.order_by().query.sql_with_params()
    quote = connection.ops.quote_name
    names = ", ".join(quote(field.column) for field in fields)
    statement = (
        # Our own names.
        f"INSERT INTO {quote(MetricRun._meta.db_table)} (system_id, {names}) "  # noqa: S608
        f"SELECT chosen.pk, {', '.join(['%s'] * len(fields))} FROM ({which}) AS chosen "
        # SQLite reads ON as part of a join without a WHERE
        "WHERE TRUE ORDER BY chosen.position, chosen.pk "
        "ON CONFLICT DO NOTHING"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, *which_values])


def copy_finished(systems: Mapping[int, int], older: CorpusVersion, newer: CorpusVersion) -> None:
    """Copy finished runs to a version that was made of an older one, one in each transaction.

    Args:
        systems: keys of systems of the older version to those of the newer that have the same
            responses to the same dialogues: what the runs scored is the same.
        older: whose runs are copied, with their scores.
        newer: is named by the copies' signatures. A run that it has already stays as it is.
    """
    finished = MetricRun.objects.filter(system__in=list(systems), state=MetricRun.State.DONE)
    for key in list(finished.order_by("pk").values_list("pk", flat=True)):
        run = MetricRun.objects.filter(pk=key).first()
        if run is None:
            continue
        run.pk, run.system_id = None, systems[run.system_id]
        run.signature = run.signature.replace(
            f"corpus_version:{older.label}", f"corpus_version:{newer.label}"
        )
        MetricRun.objects.bulk_create([run], ignore_conflicts=True)
    scores_changed([newer.pk])


NOTIFICATIONS_PER_BATCH = 20
"""Of each queue, by who asks for runs: it takes a millisecond a hint, and somebody waits for the
answer. Workers take more with the first, and their sweep, seconds later, tells them of the rest."""
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
    dialogue_scores: list[float | None] = field(default_factory=list)
    """Of a metric of whole dialogues; ``turn_scores`` is empty, ``undefined`` and ``remarks`` are
    by dialogue."""


# --- asking for work ------------------------------------------------------------------------------


def request(
    configurations: Sequence[Configuration], systems: Sequence[System], hint: bool = True
) -> None:
    """Make sure that each configuration is, or will be, computed for each system; failed runs are
    tried again.

    ``hint=False`` is for a caller that computes the runs itself; should it die, the sweeper tells
    the workers.
    """
    with transaction.atomic():
        for configuration in configurations:
            add_missing(configuration, systems)
        # In the present version of each metric: no worker can compute an older one
        wanted = Q(pk__in=[])
        for configuration in configurations:
            wanted |= Q(
                configuration=configuration.text, metric_version=configuration.metric.version
            )
        runs = MetricRun.objects.filter(wanted, system__in=systems)
        runs.filter(state=State.FAILED).wait(attempts=0, error="", finished_at=None)
        # In the order of the wish: what was named first is computed first.
        waiting = list(
            runs.filter(state=State.PENDING, hinted_at__isnull=True)
            .order_by("pk")
            .values_list("pk", "queue")
        )
        if hint:
            MetricRun.objects.notify_on_commit(*_first_of_each_queue(waiting))


def retry_failed(version: CorpusVersion) -> int:
    """Give every failed run of the version a new set of attempts. Those of withheld systems are
    tried again with their submission, those of a judge that somebody stopped when it is let go
    on."""
    with transaction.atomic():
        stopped = JudgeRun.objects.filter(version=version, stopped_at__isnull=False).values(
            "configuration"
        )
        failed = MetricRun.objects.filter(
            system__version=version, system__withheld=False, state=State.FAILED
        )
        failed = failed.exclude(configuration__in=stopped)
        again = list(failed.order_by("pk").values_list("pk", "queue"))
        count = MetricRun.objects.filter(pk__in=[pk for pk, _ in again], state=State.FAILED).wait(
            attempts=0, error="", finished_at=None
        )
        MetricRun.objects.notify_on_commit(*_first_of_each_queue(again))
    return count


def withdraw_waiting(version: CorpusVersion) -> int:
    """Take back the runs that no worker has begun, but for those of withheld systems, which a
    submission waits for. One that a worker claims in the same moment stays."""
    # By the systems' numbers: through a join the state would be read in a subquery, and PostgreSQL,
    # having waited for a claim, would delete the run that is now running.
    systems = list(version.systems.filter(withheld=False).values_list("pk", flat=True))
    count, _ = MetricRun.objects.filter(system__in=systems, state=State.PENDING).delete()
    return count


def stop(version: CorpusVersion, configuration: str, why: str) -> int:
    """Fail the runs of a configuration that wait or are being computed, but for those of withheld
    systems, which a submission waits for. Whoever computes them notices that they are no longer
    theirs."""
    systems = list(version.systems.filter(withheld=False).values_list("pk", flat=True))
    unfinished = MetricRun.objects.filter(
        system__in=systems, configuration=configuration, state__in=[State.PENDING, State.RUNNING]
    )
    with transaction.atomic():
        stopped = list(unfinished.select_for_update().order_by("pk").values_list("pk", flat=True))
        still = MetricRun.objects.filter(pk__in=stopped, state__in=[State.PENDING, State.RUNNING])
        count = still.end(State.FAILED, error=why)
        if count:
            MetricRun.say_on_commit(stopped)
    return count


def _first_of_each_queue(waiting: Iterable[tuple[int, str]]) -> list[int]:
    met: Counter[str] = Counter()
    first = []
    for pk, queue in waiting:
        met[queue] += 1
        if met[queue] <= NOTIFICATIONS_PER_BATCH:
            first.append(pk)
    return first


# --- doing it -------------------------------------------------------------------------------------


def claim_siblings(
    first: Claim, most: int, processes: int = 1, one_budget: bool = False
) -> list[Claim]:
    """Take up to ``most`` runs to compute together with the ``first``: the same metric and options
    on other systems of the corpus version, that wait and were not begun before.

    ``processes`` like this one share what there is: each takes its part, so that none stands idle.
    A run that was begun once (its worker may have died of it) is computed alone. With
    ``one_budget`` a withheld system, for which a challenge pays, is too: no challenge pays for
    the systems of others, nor stops them when its budget is spent.
    """
    run = MetricRun.objects.select_related("system").get(pk=first.row_id)
    if one_budget and run.system.withheld:
        return []
    shown = {"withheld": False} if one_budget else {}
    systems = list(
        System.objects.filter(version=run.system.version_id, **shown).values_list("pk", flat=True)
    )
    siblings = MetricRun.objects.filter(
        system__in=systems, configuration=run.configuration, metric_version=run.metric_version
    )
    unfinished = siblings.filter(state__in=[State.PENDING, State.RUNNING]).count()
    share = min(most, math.ceil(unfinished / max(processes, 1)) - 1)
    if share < 1:
        return []
    free = siblings.filter(state=State.PENDING, attempts=0)
    return free.claim_beside(first, share, started_at=run.started_at)


def begin(claims_held: Sequence[Claim], totals: Sequence[int]) -> bool:
    """Say how many examples each run has. False when none is ours."""
    with transaction.atomic():
        ours = [
            MetricRun.objects.owned(one).renew(examples_done=0, examples_total=total)
            for one, total in zip(claims_held, totals, strict=True)
        ]
    return any(ours)


def report(
    claims_held: Sequence[Claim], share: float, provenance: Mapping[str, str] | None = None
) -> bool:
    """Renew the leases and say which share of the work on these runs, from 0 to 1, is done. False
    when none is ours."""
    done = Cast(
        Floor(Cast(F("examples_total"), FloatField()) * min(max(share, 0.0), 1.0)),
        PositiveIntegerField(),
    )
    owned = MetricRun.objects.owned(*claims_held)
    return bool(owned.renew(examples_done=done, **(provenance or {})))


def finish(claim: Claim, result: RunResult) -> bool:
    """Store the result. False, and nothing stored, when the lease was lost to another worker."""
    with transaction.atomic():
        columns = {one.name: getattr(result, one.name) for one in fields(result)}
        stored = MetricRun.objects.owned(claim).finish(examples_done=F("examples_total"), **columns)
        if stored:
            # A withheld system is in no statistic of its corpus
            runs = MetricRun.objects.filter(pk__in=[claim.row_id], system__withheld=False)
            scores_changed(list(runs.values_list("system__version_id", flat=True)))
            MetricRun.say_on_commit([claim.row_id])
    return bool(stored)
