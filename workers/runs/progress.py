"""How fast runs go and how long they will take; and of those that are done, with what they were
computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Q, Sum
from django.utils import timezone

from annotations.models import CorpusVersion
from common.tables import Cell, Column, Row, Table
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs import queries

State = MetricRun.State


@dataclass(frozen=True, slots=True)
class UnderWay:
    """Runs of one configuration that are being computed at the same time."""

    metric: str
    done: int
    total: int
    seconds: float
    model: str = ""
    device: str = ""

    @property
    def rate(self) -> float:
        """Responses a second since they were begun, the loading of a model included."""
        return self.done / self.seconds if self.seconds > 0 else 0.0


def runs_under_way(
    version: CorpusVersion, now: datetime | None = None
) -> dict[str, list[UnderWay]]:
    """By configuration. Runs that were claimed together began at one moment."""
    moment = now or timezone.now()
    groups = (
        queries.runs_of(version)
        .filter(state=State.RUNNING)
        .order_by("configuration", "started_at")
        .values_list("configuration", "metric", "started_at")
        .annotate(Sum("examples_done"), Sum("examples_total"), Max("model"), Max("device"))
    )
    found: dict[str, list[UnderWay]] = {}
    for text, metric, started_at, done, total, model, device in groups:
        seconds = (moment - started_at).total_seconds()
        found.setdefault(text, []).append(UnderWay(metric, done, total, seconds, model, device))
    return found


def text_of(under_way: Iterable[UnderWay], waiting: int, running: int) -> str:
    """What people who wait read: how much is done, how fast, what is left, and with what it is
    computed."""
    groups = list(under_way)
    if not groups:
        return ""
    done, total = sum(one.done for one in groups), sum(one.total for one in groups)
    rate = sum(one.rate for one in groups)
    if done == 0:
        metric = all_metrics().get(groups[0].metric)
        # The responses of a first batch are many, and nothing is known before it is through.
        beginning = (
            "the model loads, or its first batch is under way"
            if metric is not None and metric.queue == "gpu"
            else "begun"
        )
        return " · ".join([beginning, *([f"0 of {total:,} responses"] if total else [])])
    parts = [f"{done:,} of {total:,} responses", f"{_rate(rate)} responses/s"]
    # Those that wait are taken to be like those at work
    left = total - done + waiting * total / max(running, 1)
    if left > 0:
        parts.append(f"about {duration(left / rate)} left")
    return " · ".join(
        [
            *parts,
            *dict.fromkeys(one.model for one in groups if one.model),
            *dict.fromkeys(one.device for one in groups if one.device),
        ]
    )


def duration(seconds: float) -> str:
    """``40 s``, ``3 min``, ``2 h 5 min``."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


@dataclass
class _Made:
    """Finished runs of one configuration that one model on one device made."""

    systems: int = 0
    responses: int = 0
    remarked: int = 0
    seconds: float = 0.0

    def add(self, systems: int, responses: int, remarked: int, took: timedelta | None) -> None:
        self.systems += systems
        self.responses += responses
        self.remarked += remarked
        self.seconds += took.total_seconds() if took is not None else 0.0


def provenance_table(version: CorpusVersion) -> Table:
    """A row for each configuration, model and device: two rows of one configuration are scores of
    two models."""
    columns = (
        Column("metric", "Metric"),
        Column("systems", "Systems", "number", decimals=0, detail=True),
        Column("responses", "Responses", "number", decimals=0, detail=True),
        Column(
            "rate",
            "Responses/s",
            "number",
            decimals=1,
            help="From the claim to the stored score, loading included.",
        ),
        Column(
            "remarks",
            "With warnings",
            "number",
            decimals=0,
            help="Systems with a score that the metric warns about.",
            detail=True,
        ),
        Column(
            "model",
            "Model",
            help="Name and revision: the start of a hash of the weights.",
            detail=True,
        ),
        Column("device", "Device", detail=True),
    )
    done = queries.runs_of(version).filter(state=State.DONE)
    # Runs that were claimed together began at one moment, and their time counts once.
    claims = (
        done.order_by("configuration", "model", "device")
        .values("configuration", "model", "device", "started_at")
        .annotate(
            systems=Count("pk"),
            responses=Sum("examples_total"),
            remarked=Count("pk", filter=~Q(remarks={})),
            took=Max("finished_at") - F("started_at"),
        )
        .values_list("configuration", "model", "device", "systems", "responses", "remarked", "took")
    )
    made: dict[tuple[str, str, str], _Made] = {}
    for text, model, device, *figures in claims:
        made.setdefault((text, model, device), _Made()).add(*figures)
    rows = tuple(
        Row(
            f"made-{number}",
            {
                "metric": Cell(text),
                "systems": Cell(one.systems),
                "responses": Cell(one.responses),
                "rate": Cell(one.responses / one.seconds if one.seconds > 0 else None),
                "remarks": Cell(one.remarked),
                "model": Cell(model or "none"),
                "device": Cell(device or "cpu"),
            },
        )
        for number, ((text, model, device), one) in enumerate(made.items())
    )
    return Table("computed-runs", "What was computed, and with what", columns, rows)
