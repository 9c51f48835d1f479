"""Adding a table to a corpus, with the scores of metrics that the new version keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.db.models import Count

from annotations.corpora.additions import AdditionOutcome, add_to_version
from annotations.corpora.forms import mapping_in
from annotations.corpora.imports import ADDS_TO
from annotations.formats.importers.column_mapping import TableMapping
from annotations.formats.importers.problems import ImportFailed, Problem
from annotations.models import CorpusVersion
from leaderboard.actions import copy_submitted_metrics
from leaderboard.metric_score_tables import add_metric_scores
from workers.runs.actions import copy_finished

METRIC_SCORES, LOWER = "metric-scores", "lower"
"""What a form says a table holds, and which scores are better there."""


def add_table(
    version: CorpusVersion,
    path: Path,
    mapping: TableMapping | None = None,
    by: Any = None,
    **watch: Callable[..., object],
) -> AdditionOutcome:
    """``add_to_version``; then the new version gets the scores of the systems to which no response
    was added. Stopped before that it lacks some, which are computed as of any version. ``watch``:
    as of ``add_to_version``."""
    outcome = add_to_version(version, path, mapping, by, **watch)
    if outcome.created:
        systems = _unchanged_systems(version, outcome.version)
        copy_finished(systems, version, outcome.version)
        copy_submitted_metrics(systems, version, outcome.version)
    return outcome


def add_as_form_says(
    path: Path,
    fields: Mapping[str, str],
    by: Any,
    progress: Callable[[str, int], object] = lambda _what, _records: None,
    stored: Callable[[dict[str, Any]], object] = lambda _outcome: None,
) -> dict[str, Any]:
    """Add the table at ``path`` as the form (``AdditionForm.choices``) says. ``stored`` gets what
    is returned, in the last transaction.

    Raises:
        ImportFailed: up to 100 problems, each with its line: nothing is stored.
    """
    key = int(fields[ADDS_TO])
    version = CorpusVersion.objects.select_related("corpus").filter(pk=key).first()
    if version is None or version.corpus is None:
        raise ImportFailed([Problem("", "", "", "the corpus was deleted meanwhile")])
    mapping = mapping_in(fields)
    outcome: dict[str, Any] = {"slug": version.corpus.slug, "older": version.label}
    if fields["holds"] == METRIC_SCORES:
        higher = fields["direction"] != LOWER
        added = add_metric_scores(version, path, by, mapping, higher)
        outcome["metrics"] = [one.metric.name for one in added if one.created]
        stored(outcome)
        return outcome

    def attached(done: AdditionOutcome) -> None:
        outcome.update(version=done.version.label, is_new=done.created)
        stored(outcome)

    add_table(version, path, mapping, by, progress=progress, stored=attached)
    return outcome


def _unchanged_systems(older: CorpusVersion, newer: CorpusVersion) -> dict[int, int]:
    """By key in the older version that in the newer. An addition changes no response that is
    there, so as many are the same ones."""
    before, after = (
        {
            name: (pk, count)
            for pk, name, count in version.systems.filter(withheld=False)
            .annotate(Count("responses"))
            .values_list("pk", "name", "responses__count")
        }
        for version in (older, newer)
    )
    return {
        pk: after[name][0]
        for name, (pk, count) in before.items()
        if name in after and after[name][1] == count
    }
