"""From the systems' standing that is stored to figures."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from leaderboard.figures import Figure, SystemMean, system_means
from leaderboard.plots import estimate_of


def system_means_figure(document: dict[str, Any], scale: list[float | None] | None, kinds: Collection[str]) -> Figure:
    shown = [system for system in document["systems"] if not kinds or system["kind"] in kinds]
    whole_scale = scale is not None and None not in scale
    return system_means(
        [
            SystemMean(system["system"], system["position"], estimate_of(system["human"]), _badges(system))
            for system in shown
        ],
        figure_id="human-means",
        aspect=document["aspect"],
        scale=(float(scale[0]), float(scale[1])) if whole_scale and scale else None,
        signature=f"{document['corpus']} {document['corpus_version']}, {document['resamples']} draws of dialogues",
    )


def _badges(system: dict[str, Any]) -> tuple[str, ...]:
    return (system["kind"],) if system["kind"] != "agent" else ()
