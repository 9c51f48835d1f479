"""The tables of the run pages, as data."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from annotations.models import CorpusVersion
from common.tables import Cell, Column, Row, Table
from workers.models import MetricRun
from workers.runs import progress, queries
from workers.runs.metric_list import page_of


@dataclass(frozen=True, slots=True)
class ConfigurationProgress:
    """How far one metric configuration is over the systems of a version."""

    configuration: str
    done: int
    running: int
    waiting: int
    failed: int
    examples_done: int
    examples_total: int
    pace: str = ""
    """Of what is being computed: how much is done, how fast, how long it will take, with what."""

    @property
    def total(self) -> int:
        return self.done + self.running + self.waiting + self.failed

    @property
    def remark(self) -> str:
        """What is said below the bar: of what is being computed, and of what failed."""
        return " · ".join(
            part for part in (self.pace, f"{self.failed} failed" if self.failed else "") if part
        )

    @property
    def page(self) -> str:
        """The address of the metric's page; "" where its package was taken out."""
        return page_of(self.configuration)


@dataclass(frozen=True, slots=True)
class Progress:
    configurations: tuple[ConfigurationProgress, ...]

    def _sum(self, state: str) -> int:
        return sum(getattr(one, state) for one in self.configurations)

    @property
    def done(self) -> int:
        return self._sum("done")

    @property
    def failed(self) -> int:
        return self._sum("failed")

    @property
    def waiting(self) -> int:
        return self._sum("waiting")

    @property
    def running(self) -> int:
        return self._sum("running")

    @property
    def total(self) -> int:
        return self._sum("total")

    @property
    def under_way(self) -> bool:
        return self.waiting + self.running > 0

    @property
    def mark(self) -> str:
        """Another one when what stands below the progress would say something else: a run has
        failed, a configuration has ended, none waits any more."""
        ended = sum(one.waiting + one.running == 0 for one in self.configurations)
        return f"{self.failed}.{ended}.{int(self.waiting > 0)}"


def run_progress(version: CorpusVersion) -> Progress:
    states = MetricRun.State
    rows = (
        queries.runs_of(version)
        .order_by("configuration")
        .values("configuration")
        .annotate(
            done=Count("pk", filter=Q(state=states.DONE)),
            running=Count("pk", filter=Q(state=states.RUNNING)),
            waiting=Count("pk", filter=Q(state=states.PENDING)),
            failed=Count("pk", filter=Q(state=states.FAILED)),
            examples_done=Sum("examples_done"),
            examples_total=Sum("examples_total"),
        )
    )
    under_way = progress.runs_under_way(version)
    return Progress(
        tuple(
            ConfigurationProgress(
                **row,
                pace=progress.text_of(
                    under_way.get(row["configuration"], ()), row["waiting"], row["running"]
                ),
            )
            for row in rows
        )
    )


NAMED = 3
"""How many systems a row of failed runs names before it counts them."""


def failed_table(version: CorpusVersion) -> Table:
    """A row for each metric and each thing that went wrong with it: a missing model fails on every
    system alike."""
    columns = (
        Column("metric", "Metric"),
        Column("error", "What happened"),
        Column("runs", "Runs", "number", decimals=0, help="One run is one metric on one system."),
        Column("systems", "Systems"),
        Column(
            "attempts",
            "Attempts",
            "number",
            decimals=0,
            help="The most that one of these runs had.",
        ),
    )
    failed = (
        queries.runs_of(version)
        .filter(state=MetricRun.State.FAILED)
        .select_related("system")
        .order_by("pk")
    )
    failed = failed.only("configuration", "error", "attempts", "system__name")
    similar: dict[tuple[str, str], list[MetricRun]] = {}
    for run in failed:
        similar.setdefault((run.configuration, run.error), []).append(run)
    rows = tuple(
        Row(
            f"run-{runs[0].pk}",
            {
                "metric": Cell(configuration),
                "error": Cell(error),
                "runs": Cell(len(runs)),
                "systems": Cell(_named([run.system.name for run in runs])),
                "attempts": Cell(max(run.attempts for run in runs)),
            },
        )
        for (configuration, error), runs in similar.items()
    )
    return Table("failed-runs", "Runs that failed", columns, rows)


def _named(systems: list[str]) -> str:
    more = len(systems) - NAMED
    return ", ".join(systems) if more <= 1 else f"{', '.join(systems[:NAMED])} and {more} more"
