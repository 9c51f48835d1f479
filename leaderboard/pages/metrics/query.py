"""What the metric leaderboard stores: how far metrics agree with people, of chosen systems, and
what they cost: time, and of judges tokens and money, for a thousand responses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models import Max, Sum

from annotations.corpora.slices import NO_SLICE
from annotations.models import CorpusVersion, System
from common.estimates import Estimate
from leaderboard.answers.metrics import Cost, MetricCorrelations
from leaderboard.queries.correlations import meta_evaluation
from leaderboard.queries.system_choice import chosen_systems, resolve_choice, with_choice
from leaderboard.results.kinds import of_the_main_aspect, registered
from workers.judges.models import Budget, JudgeRun
from workers.metrics.registry import all_metrics
from workers.models import MetricRun


@registered("correlations", version=7, resolved=with_choice, shown_first=of_the_main_aspect)
def metric_leaderboard(
    version: CorpusVersion,
    aspect: str,
    systems: str | None = None,
    data_slice: str = NO_SLICE,
) -> MetricCorrelations:
    """``meta_evaluation`` of a choice of systems (without-gold, …) and of a slice, with what
    metrics cost."""
    key = resolve_choice(version, systems)
    chosen = chosen_systems(version, key)
    found = meta_evaluation(
        version, aspect, systems=chosen, systems_chosen=key, data_slice=data_slice
    )
    return replace(found, cost=costs(version, chosen, (row.metric for row in found.rows)))


NO_JUDGE = "it asks no language model"
REMOTE = "its scores were computed elsewhere"


@dataclass
class _Work:
    responses: int = 0
    spans: list[tuple[datetime, datetime]] = field(default_factory=list)
    devices: set[str] = field(default_factory=set)


def costs(
    version: CorpusVersion, systems: Sequence[System], metrics: Iterable[str]
) -> dict[str, Cost]:
    """By metric.

    Seconds are those in which a worker was at it, from the claim to the stored score, the loading
    of a model included; runs that went at the same time count once, so two workers halve them.
    Tokens and USD are what the judge's budget paid on this corpus version: answers that came from
    the store cost nothing again. Both divided by the responses of the finished runs and times
    1,000. Undefined, with the reason, where nothing was recorded.
    """
    work = _work(systems)
    budgets = {
        one.configuration: one.budget
        for one in JudgeRun.objects.filter(version=version).select_related("budget")
    }
    return {
        metric: _cost(metric, work.get(metric), budgets.get(metric))
        for metric in dict.fromkeys(metrics)
    }


def _work(systems: Sequence[System]) -> dict[str, _Work]:
    groups = (
        MetricRun.objects.filter(system__in=systems, state=MetricRun.State.DONE)
        .order_by("configuration", "started_at")
        .values_list("configuration", "device", "started_at")
        .annotate(Sum("examples_total"), Max("finished_at"))
    )
    found: dict[str, _Work] = {}
    for configuration, device, started_at, responses, finished_at in groups:
        one = found.setdefault(configuration, _Work())
        one.responses += responses or 0
        one.devices.add(device)
        if started_at is not None and finished_at is not None:
            one.spans.append((started_at, finished_at))
    return found


def _cost(metric: str, work: _Work | None, budget: Budget | None) -> Cost:
    known = all_metrics().get(metric.partition("[")[0])
    if work is None:
        nothing = Estimate.undefined(REMOTE)
        return Cost(
            seconds_per_1000=nothing,
            tokens_per_1000=nothing,
            usd_per_1000=nothing,
            device="",
            responses=0,
        )
    if known is not None and known.queue == "llm":
        tokens, usd = _paid(work.responses, budget)
    else:
        tokens = usd = Estimate.undefined(NO_JUDGE)
    return Cost(
        seconds_per_1000=_seconds(work),
        tokens_per_1000=tokens,
        usd_per_1000=usd,
        device=", ".join(sorted(device or "cpu" for device in work.devices)),
        responses=work.responses,
    )


def _seconds(work: _Work) -> Estimate:
    if not work.responses:
        return Estimate.undefined("how many responses it scored was not recorded")
    if not work.spans:
        return Estimate.undefined("when its runs began was not recorded")
    return Estimate(1000.0 * covered_seconds(work.spans) / work.responses)


def covered_seconds(spans: Iterable[tuple[datetime, datetime]]) -> float:
    """The length of the union of the spans."""
    total, until = 0.0, None
    for begin, end in sorted(spans):
        if until is None or begin > until:
            total += max((end - begin).total_seconds(), 0.0)
            until = end
        elif end > until:
            total += (end - until).total_seconds()
            until = end
    return total


def _paid(responses: int, budget: Budget | None) -> tuple[Estimate, Estimate]:
    if budget is None or not budget.calls:
        reason = "no call was paid here: its answers came from the store of answers"
        return Estimate.undefined(reason), Estimate.undefined(reason)
    if not responses:
        reason = "how many responses it scored was not recorded"
        return Estimate.undefined(reason), Estimate.undefined(reason)
    tokens = Estimate(1000.0 * budget.tokens_spent / responses)
    if budget.unpriced_calls:
        priceless = budget.unpriced_calls == budget.calls
        unpriced_reason = (
            "its model has no price"
            if priceless
            else f"{budget.unpriced_calls:,} of its calls have no known price"
        )
        return tokens, Estimate.undefined(unpriced_reason)
    return tokens, Estimate(1000.0 * float(budget.cost_spent) / responses)
