"""Submitted metrics as a table."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from annotations.models import CorpusVersion
from common.tables import Cell, Column, Row, Table
from leaderboard.models import SubmittedMetric
from leaderboard.queries.submitted import HandedIn


def submitted_metrics_table(
    version: CorpusVersion, metrics: Sequence[SubmittedMetric], systems: int, is_rated: bool
) -> Table:
    """``metrics`` carry ``system_count``. Where nobody rated, the leaderboard has no lines yet."""
    columns = (
        Column("metric", _("Metric"), "link"),
        Column("by", _("Submitted by")),
        Column("level", _("Scores of")),
        Column("systems", _("Systems"), help=_("How many of the corpus's systems it scores.")),
        Column("received", _("Since (UTC)")),
        Column("link", _("Described at"), "link"),
    )
    rows = tuple(_row(metric, systems, _place(version, metric, is_rated)) for metric in metrics)
    signature = f"corpus:{version.corpus.slug}|corpus_version:{version.label}"
    return Table(
        "submitted-metrics",
        _("Metrics whose scores were submitted"),
        columns,
        rows,
        signature=signature,
    )


def _place(version: CorpusVersion, metric: SubmittedMetric, is_rated: bool) -> str:
    requested = {"version": version.number, **({"metric": metric.name} if is_rated else {})}
    return f"{reverse('metric-leaderboard', args=[version.corpus.slug])}?{urlencode(requested)}"


def _row(metric: SubmittedMetric, systems: int, address: str) -> Row:
    what = {"turn": _("turns"), "dialogue": _("dialogues"), "system": _("systems")}[metric.level]
    better = _("higher is better") if metric.higher_is_better else _("lower is better")
    return Row(
        f"metric-{metric.name}",
        {
            "metric": Cell(metric.name, href=address),
            "by": Cell(metric.owner.get_username())
            if metric.owner
            else Cell(reason=_("this account is gone")),
            "level": Cell(f"{what}, {better}"),
            "systems": Cell(f"{metric.system_count} / {systems}"),
            "received": Cell(metric.created_at.strftime("%Y-%m-%d %H:%M")),
            "link": Cell(metric.link, href=metric.link)
            if metric.link
            else Cell(reason=_("nobody said")),
        },
        signature=HandedIn.of(metric).signature(
            corpus=metric.version.corpus.slug, corpus_version=metric.version.label
        ),
    )
