"""Adding a table to a corpus, with the scores of metrics that the new version keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.models import Count

from annotations.corpora.additions import AdditionOutcome, add_to_version
from annotations.formats.importers.column_mapping import TableMapping
from annotations.models import CorpusVersion
from leaderboard.actions import copy_submitted_metrics
from workers.runs.actions import copy_finished


def add_table(
    version: CorpusVersion, path: Path, mapping: TableMapping | None = None, by: Any = None
) -> AdditionOutcome:
    """``add_to_version``; then the new version gets the scores of the systems to which no response
    was added. Stopped before that it lacks some, which are computed as of any version."""
    outcome = add_to_version(version, path, mapping, by)
    if outcome.created:
        systems = _unchanged_systems(version, outcome.version)
        copy_finished(systems, version, outcome.version)
        copy_submitted_metrics(systems, version, outcome.version)
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
