"""Where a metric ran and with what: which corpora and configurations its page can show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from annotations.corpora.queries import newest_visible_versions
from annotations.models import CorpusVersion
from workers.metrics.base import Metric
from workers.metrics.common.configuration import Configuration, still_there
from workers.models import MetricRun


@dataclass(frozen=True)
class Ran:
    """The finished runs of one configuration on one corpus version."""

    configuration: Configuration
    version: CorpusVersion
    runs: int


def ran_on(user: Any, metric: Metric) -> list[Ran]:
    """Where the metric, in its present version, has finished runs that this person may see: on the
    newest version of each corpus. The plain configuration first, then the others by name; corpora
    that people rated before simulated ones, then by name."""
    versions = {version.pk: version for version in newest_visible_versions(user)}
    counted = (
        MetricRun.objects.filter(
            metric=metric.name,
            metric_version=metric.version,
            state=MetricRun.State.DONE,
            system__version__in=versions,
            system__withheld=False,
        )
        .order_by()
        .values_list("configuration", "system__version_id")
        .annotate(runs=Count("pk"))
    )
    found = [
        Ran(configuration, versions[version], runs)
        for text, version, runs in counted
        if (configuration := still_there(text)) is not None
    ]
    plain = Configuration.of(metric).text
    return sorted(
        found,
        key=lambda ran: (
            ran.configuration.text != plain,
            ran.configuration.text,
            ran.version.simulated,
            ran.version.corpus.name.casefold(),
            ran.version.corpus.slug,
        ),
    )


def not_run(user: Any, configuration: Configuration) -> dict[str, Any]:
    """What the page says where nothing ran: whether there are corpora at all, how many runs are
    still to come."""
    versions = newest_visible_versions(user)
    under_way = MetricRun.objects.filter(
        configuration=configuration.text,
        metric_version=configuration.metric.version,
        state__in=[MetricRun.State.PENDING, MetricRun.State.RUNNING],
        system__version__in=versions,
        system__withheld=False,
    )
    return {"has_corpora": bool(versions), "under_way": under_way.count()}


@dataclass(frozen=True, slots=True)
class MadeWith:
    """What runs say of the model and the machine that computed them."""

    model: str
    device: str
    runs: int


def made_with(configuration: Configuration, versions: Iterable[CorpusVersion]) -> list[MadeWith]:
    """The most frequent first."""
    counted = (
        finished_runs_of(configuration, versions)
        .order_by()
        .values_list("model", "device")
        .annotate(runs=Count("pk"))
    )
    return sorted(
        (MadeWith(*row) for row in counted), key=lambda one: (-one.runs, one.model, one.device)
    )


def example_run(configuration: Configuration, version: CorpusVersion) -> MetricRun | None:
    """The latest finished run, without its scores."""
    runs = finished_runs_of(configuration, [version]).defer(
        "turn_scores", "undefined", "remarks", "details"
    )
    return runs.select_related("system").order_by("-finished_at", "pk").first()


@dataclass(frozen=True, slots=True)
class DetailsOf:
    """What a run stored beside its score."""

    system: str
    swatch: int
    score: float | None
    details: dict[str, Any]


def details_of(configuration: Configuration, version: CorpusVersion) -> list[DetailsOf]:
    """Those of the runs that have any, in the systems' order. How a judge came to its scores is not
    among them: that is much, and the inspector's."""
    if configuration.metric.queue == "llm":
        return []
    runs = (
        finished_runs_of(configuration, [version]).exclude(details={}).order_by("system__position")
    )
    return [
        DetailsOf(*row)
        for row in runs.values_list("system__name", "system__position", "system_score", "details")
    ]


def finished_runs_of(configuration: Configuration, versions: Iterable[CorpusVersion]) -> Any:
    """Of systems that are shown, in the metric's present version."""
    return MetricRun.objects.filter(
        configuration=configuration.text,
        metric_version=configuration.metric.version,
        state=MetricRun.State.DONE,
        system__version__in=list(versions),
        system__withheld=False,
    )
