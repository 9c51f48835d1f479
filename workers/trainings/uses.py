"""What names a trained model: metric runs, and rounds of challenges."""

from __future__ import annotations

import re

from django.db.models import QuerySet

from workers.judges import prompt_uses
from workers.models import MetricRun


def runs_with(name: str) -> QuerySet[MetricRun]:
    """Metric runs of configurations that name this model, in any state."""
    return MetricRun.objects.filter(configuration__regex=rf"[\[,]trained={re.escape(name)}[\],]")


def scores_with(name: str) -> int:
    """Scores that were made with a model of this name: one for each metric and system."""
    return runs_with(name).filter(state=MetricRun.State.DONE).count()


def rounds_with(name: str) -> list[str]:
    """Rounds whose metrics name this model, for people, each once."""
    part = f"trained={name}"
    written = re.compile(rf"[\[,]{re.escape(part)}[\],]")
    return list(
        dict.fromkeys(
            one.where for one in prompt_uses.namings(part) if written.search(one.configuration)
        )
    )
