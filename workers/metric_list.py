"""The list of metrics: one table of all, and the same rows by what a metric looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from annotations.tables import Cell, Column, Row, Table
from workers.metrics.base import Metric
from workers.metrics.configuration import Configuration
from workers.metrics.registry import all_metrics

COLUMNS = (
    Column("metric", "Metric", "link"),
    Column("summary", "What it measures"),
    Column("levels", "Levels", detail=True),
    Column("needs", "Needs"),
    Column("better", "Better is", detail=True),
    Column("options", "Options", help="Written name[key=value,…]; the defaults are shown.", detail=True),
    Column("available", "On this machine"),
    Column("citation", "From", detail=True),
)
SHOWN = "summary,needs,better,available"
"""The columns of a group at first; the metric's page has the rest."""


@dataclass(frozen=True, slots=True)
class Group:
    heading: str
    words: str
    table: Table


def metrics_table() -> Table:
    return _table("metrics", "Metrics", all_metrics().values())


def metric_groups() -> list[Group]:
    """Every metric in one group; groups without any are left out."""
    groups = []
    for key, heading, words, belongs in _GROUPS:
        metrics = [metric for metric in all_metrics().values() if belongs(metric)]
        if metrics:
            caption = "1 metric" if len(metrics) == 1 else f"{len(metrics)} metrics"
            groups.append(Group(heading, words, _table(f"metrics-{key}", caption, metrics)))
    return groups


def page_of(configuration: str) -> str:
    """The address of a configuration on its metric's page; "" where there is no such metric here."""
    name = configuration.partition("[")[0]
    if name not in all_metrics():
        return ""
    wish = "" if name == configuration else "?" + urlencode({"configuration": configuration})
    return reverse("metric", args=[name]) + wish


def _of_judges(metric: Metric) -> bool:
    return metric.queue == "llm"


def _of_systems(metric: Metric) -> bool:
    return not _of_judges(metric) and metric.levels == {"system"}


def _of_references(metric: Metric) -> bool:
    return not _of_judges(metric) and not _of_systems(metric) and "reference" in metric.needs


def _of_contexts(metric: Metric) -> bool:
    return not (_of_judges(metric) or _of_systems(metric) or _of_references(metric))


_GROUPS: tuple[tuple[str, str, str, Callable[[Metric], bool]], ...] = (
    (
        "references",
        "Against references",
        "A response is held against the answers that the corpus knows: by words, by embeddings, or by a trained model.",
        _of_references,
    ),
    (
        "contexts",
        "Without references",
        "A response is judged by itself, by the context or by the persona.",
        _of_contexts,
    ),
    (
        "systems",
        "Of whole systems",
        "All answers of a system are held against people's as a whole; single responses have no score.",
        _of_systems,
    ),
    ("judges", "Judged by a language model", "A language model is asked for a score.", _of_judges),
)


def _table(id: str, caption: str, metrics: Iterable[Metric]) -> Table:
    return Table(id, caption, COLUMNS, tuple(_row(metric) for metric in metrics))


def _row(metric: Metric) -> Row:
    reason = Configuration.of(metric).missing()
    return Row(
        f"metric-{metric.name}",
        {
            "metric": Cell(metric.name, href=reverse("metric", args=[metric.name])),
            "summary": Cell(metric.summary),
            "levels": Cell(", ".join(level for level in ("turn", "dialogue", "system") if level in metric.levels)),
            "needs": Cell(_needs(metric)),
            "better": Cell("higher" if metric.higher_is_better else "lower"),
            "options": Cell(", ".join(f"{o.name}={_written(o.default)}" for o in metric.options) or "none"),
            "available": Cell("no: " + reason if reason else "yes"),
            "citation": Cell(metric.citation),
        },
    )


def _needs(metric: Metric) -> str:
    looks_at = ", ".join(sorted(need.replace("_", " ") for need in metric.needs)) or "nothing but the response"
    return f"{looks_at}; a model" if metric.queue == "gpu" else looks_at


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
