"""Made-up trained models, of which only what they say of themselves is there, and scores as if they
had made them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotations.models import CorpusVersion
from leaderboard.models import SubmittedMetric, SubmittedScores
from workers.metrics.common.configuration import parse
from workers.models import MetricRun

PLACES = {
    ("d0", 0, "echo"): (1, 1),
    ("d0", 1, "echo"): (2, 3),
    ("d1", 0, "echo"): (3, 2),
    ("d0", 0, "dull"): (4, 4),
    ("d1", 0, "dull"): (5, 5),
}
"""Five of six responses, with human scores 1 to 5."""
AS_PEOPLE = {"echo": [1.0, 2.0, 3.0], "dull": [4.0, None, 5.0]}
"""r = ρ = 1."""
TWO_SWAPPED = {"echo": [1.0, 3.0, 2.0], "dull": [4.0, None, 5.0]}
"""Σd² = 2, so ρ = 1 − 6 · 2 / (5 · 24) = 0.9; these are their own ranks, so r = 0.9."""
ENDS_SWAPPED = {"echo": [5.0, 2.0, 3.0], "dull": [4.0, None, 1.0]}
"""Σd² = 32, so ρ = r = 1 − 6 · 32 / 120 = −0.6."""


def submitted(version: CorpusVersion, name: str, scores: dict[str, list[float | None]]) -> None:
    """As if a file with these scores had been submitted."""
    metric = SubmittedMetric.objects.create(
        version=version, name=name, level="turn", sha256="0" * 64
    )
    for system in version.systems.all():
        defined = [one for one in scores[system.name] if one is not None]
        SubmittedScores.objects.create(
            metric=metric,
            system=system,
            scores=scores[system.name],
            system_score=sum(defined) / len(defined),
        )


Made = Callable[..., None]


def model_in(home: Path, name: str, recipe: str = "density", seed: int = 0, **settings: Any) -> str:
    """Writes what ``tables`` reads of a model; ``r_at_1``, ``mrr``, ``revision`` and ``about`` are
    no settings."""
    r_at_1, mrr = settings.pop("r_at_1", 0.5), settings.pop("mrr", 0.625)
    revision = settings.pop("revision", "a1b2c3d4e5f6")
    about = {"data": {"corpus": "daily", "version": "v1"}, **settings.pop("about", {})}
    own = {"encoder": "tiny@0f", "negatives": 7, "seed": seed, **settings}
    if recipe == "density":
        own = {"contrastive": "paper", **own}
    config = {
        "recipe": recipe,
        "settings": own,
        "training": {"epochs": 2, "learning_rate": 0.0001, "seed": seed},
        "data": "86e5",
        "best": {"step": 200, "figures": {"R@1": r_at_1, "MRR": mrr}},
        "model": {
            "about": about,
            "dialogues": 900,
            "pairs": 6000,
            "fit": {"points": 6000, "dimensions": 384, "rank": 383},
        },
        "sha256": revision + "0" * 52,
    }
    folder = home / "trained" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    return name


def scored(
    version: CorpusVersion,
    configuration: str,
    scores: dict[str, list[float | None]],
    revision: str = "a1b2c3d4e5f6",
    remark: str = "",
) -> None:
    """As if the metric had scored each system's turns; ``remark`` stands at every score."""
    chosen = parse(configuration)
    trained = chosen.options.get("trained", "")
    for name, of_turns in scores.items():
        places = [place for place, score in enumerate(of_turns) if score is not None]
        MetricRun.objects.create(
            system=version.systems.get(name=name),
            metric=chosen.metric.name,
            metric_version=chosen.metric.version,
            configuration=chosen.text,
            queue="gpu",
            state=MetricRun.State.DONE,
            finished_at=timezone.now(),
            signature=chosen.signature(),
            model=f"{trained}@{revision}" if trained else "",
            turn_scores=of_turns,
            undefined={
                str(place): "no answer" for place, score in enumerate(of_turns) if score is None
            },
            remarks={str(place): remark for place in places} if remark else {},
            system_score=1.0,
        )
