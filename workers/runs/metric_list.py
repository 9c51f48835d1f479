"""The list of metrics: one table of all, and the same rows by what a metric looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode

from django.urls import reverse

from common.tables import Cell, Column, Row, Table
from workers.metrics.base import Metric
from workers.metrics.common.configuration import Configuration, written_value
from workers.metrics.common.not_available import NOT_AVAILABLE, NotAvailable
from workers.metrics.registry import all_metrics

COLUMNS = (
    Column("metric", "Metric", "link"),
    Column("summary", "What it measures"),
    Column("levels", "Levels", detail=True),
    Column("needs", "Needs", detail=True),
    Column("better", "Better is", detail=True),
    Column(
        "options", "Options", help="Written name[key=value,…]; the defaults are shown.", detail=True
    ),
    Column("available", "On this site", detail=True),
    Column("citation", "From", detail=True),
)
NOT_AVAILABLE_COLUMNS = (
    Column("metric", "Metric", "link"),
    Column("why", "Why not"),
    Column("citation", "From"),
)
SHOWN = "summary,needs,better,available"
"""The columns of a group at first; the metric's page has the rest."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind:
    """Metrics that look at the same."""

    key: str
    heading: str
    words: str


@dataclass(frozen=True, slots=True)
class Group:
    heading: str
    words: str
    table: Table


_REFERENCES = Kind(
    "references",
    "Against references",
    "A response is compared with the references of the corpus: by words, by embeddings, or by "
    "a trained model.",
)
_CONTEXTS = Kind(
    "contexts",
    "Without references",
    "A response is judged by itself, by the context or by the persona.",
)
_NEXT_LABELS = Kind(
    "next-words",
    "By a partner’s next words (FED)",
    "A language model says whether praise or complaint is likelier to follow: one metric for each "
    "of 18 aspects.",
)
_SYSTEMS = Kind(
    "systems",
    "Of whole systems",
    "All responses of a system are compared with human responses as a whole; single responses "
    "have no score.",
)
_JUDGES = Kind(
    "judges",
    "Judged by a language model",
    "A language model is asked for a score, once or more often for each response. That costs time "
    "with the packaged model and money with a hosted one: a corpus’s judges page estimates it "
    "first, and every run has a budget.",
)
_GONE = Kind("gone", "Not installed here", "The package that brought them was taken out.")
_KINDS = (_REFERENCES, _CONTEXTS, _NEXT_LABELS, _SYSTEMS, _JUDGES, _GONE)


def metrics_table(search: str = "") -> Table:
    """All metrics, or those that fit a search."""
    rows = map(_row, all_metrics().values())
    return Table("metrics", "Metrics", COLUMNS, tuple(row for row in rows if _fits(row, search)))


def _fits(row: Row, search: str) -> bool:
    """Whether the metric's name, or the words beside it, have the search."""
    beside = row.cells.get("summary") or row.cells["why"]
    return search.casefold() in f"{row.cells['metric'].value} {beside.value}".casefold()


def _count(metrics: int) -> str:
    return "1 metric" if metrics == 1 else f"{metrics} metrics"


def metric_groups(metrics: Table) -> list[Group]:
    """The rows of ``metrics_table``, each in one group; groups without any are left out. Whether a
    metric can be computed is looked for on the disk, so the rows are made once."""
    groups = []
    for kind, rows in by_kind(metrics.rows, lambda row: row.cells["metric"].value):
        table = Table(f"metrics-{kind.key}", _count(len(rows)), COLUMNS, tuple(rows))
        groups.append(Group(kind.heading, kind.words, table))
    return groups


def not_available_table(search: str = "") -> Table:
    """Published metrics that cannot be computed here and fit a search, each with a link to what was
    released of it."""
    rows = tuple(row for row in map(_without, NOT_AVAILABLE) if _fits(row, search))
    return Table("not-available", _count(len(rows)), NOT_AVAILABLE_COLUMNS, rows)


def _without(one: NotAvailable) -> Row:
    cells = {
        "metric": Cell(one.name, href=one.url),
        "why": Cell(one.why),
        "citation": Cell(one.citation),
    }
    return Row(f"not-available-{one.name}", cells)


def by_kind(
    things: Iterable[T], configuration_of: Callable[[T], str]
) -> list[tuple[Kind, list[T]]]:
    """Things that each have a metric, or a configuration of one, in the order of the kinds; kinds
    without any are left out. Metrics of a package that was taken out come last."""
    found: dict[Kind, list[T]] = {kind: [] for kind in _KINDS}
    for thing in things:
        found[kind_of(configuration_of(thing))].append(thing)
    return [(kind, some) for kind, some in found.items() if some]


def page_of(configuration: str) -> str:
    """The address of a configuration on its metric's page; "" where there is no such metric
    here."""
    name = configuration.partition("[")[0]
    if name not in all_metrics():
        return ""
    requested = "" if name == configuration else "?" + urlencode({"configuration": configuration})
    return reverse("metric", args=[name]) + requested


def is_judge(configuration: Configuration) -> bool:
    """Whether a language model is asked for its scores: calls that are counted, paid and
    budgeted."""
    return configuration.metric.queue == "llm"


def kind_of(configuration: str) -> Kind:
    metric = all_metrics().get(configuration.partition("[")[0])
    if metric is None:
        return _GONE
    if metric.queue == "llm":
        return _JUDGES
    if "human_corpus" in metric.needs:
        return _SYSTEMS
    if "reference" in metric.needs:
        return _REFERENCES
    return _NEXT_LABELS if metric.name.startswith("fed_") else _CONTEXTS


def _row(metric: Metric) -> Row:
    is_missing = bool(Configuration.of(metric).missing())
    return Row(
        f"metric-{metric.name}",
        {
            "metric": Cell(metric.name, href=reverse("metric", args=[metric.name])),
            "summary": Cell(metric.summary),
            "levels": Cell(
                ", ".join(
                    level for level in ("turn", "dialogue", "system") if level in metric.levels
                )
            ),
            "needs": Cell(_needs(metric)),
            "better": Cell("higher" if metric.higher_is_better else "lower"),
            "options": Cell(
                ", ".join(f"{o.name}={written_value(o.default)}" for o in metric.options) or "none"
            ),
            "available": Cell("needs to be set up" if is_missing else "available"),
            "citation": Cell(metric.citation),
        },
    )


def _needs(metric: Metric) -> str:
    checks = (
        ", ".join(sorted(need.replace("_", " ") for need in metric.needs))
        or "nothing but the response"
    )
    return checks + {"gpu": "; a model", "llm": "; a language model to ask"}.get(metric.queue, "")
