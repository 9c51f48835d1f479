"""From the systems' stored answers to figures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from common.estimates import Estimate, Undefined
from leaderboard.answers import SystemName
from leaderboard.answers.systems import SystemProfile, SystemStanding
from leaderboard.board_text import board_signature
from leaderboard.figures import Figure, SystemMean
from leaderboard.figures.drawing import system_link
from leaderboard.pages.systems.figures.profile import ProfileAspect, system_profile
from leaderboard.pages.systems.figures.rank_intervals import RankRow, rank_intervals
from leaderboard.pages.systems.figures.system_means import system_means
from leaderboard.pages.systems.figures.time_line import Submitted, time_line

MAX_PROFILES = 6
"""More systems than these, side by side in every aspect, cannot be read; others are chosen
instead."""


def system_means_figure(
    document: SystemStanding, scale: list[float | None] | None, kinds: Collection[str]
) -> Figure:
    shown = [system for system in document.systems if not kinds or system.kind in kinds]
    return system_means(
        [
            SystemMean(system.system, system.position, system.human, _badges(system))
            for system in shown
        ],
        figure_id="human-means",
        aspect=document.aspect,
        scale=both_ends(scale),
        signature=board_signature(document, document.aspect),
    )


def both_ends(scale: list[float | None] | None) -> tuple[float, float] | None:
    """A rating scale's lowest and highest rating; None where one is not known."""
    ends = [end for end in scale or () if end is not None]
    return (float(ends[0]), float(ends[1])) if len(ends) == 2 else None


def rank_figure(document: SystemStanding, kinds: Collection[str], remark: str = "") -> Figure:
    """Ranks are among all systems of the document: a filter by kind hides rows, it does not make
    another ranking."""
    return rank_intervals(
        [
            RankRow(
                _name(system),
                system.position,
                system.rank,
                system.worst_rank,
                system.human,
                system.band,
                system_link(system.system),
            )
            for system in document.systems
            if not kinds or system.kind in kinds
        ],
        figure_id="ranks",
        aspect=document.aspect,
        remark=remark,
        signature=board_signature(document, document.aspect),
    )


def timeline_figure(
    document: SystemStanding, kinds: Collection[str], metric: str = ""
) -> Figure | None:
    """None where fewer than two of the systems were handed in. By people's means where two
    submissions have one, else by the metric of this name, else by the first that has two."""
    came = {position: datetime.fromisoformat(at) for position, at in document.handed_in.items()}
    shown = [
        one for one in document.systems if one.position in came and (not kinds or one.kind in kinds)
    ]
    if len(shown) < 2:
        return None
    measures = [
        (
            f"mean human score ({document.aspect})",
            True,
            [one.human for one in shown],
        )
    ]
    by_metric = [
        (
            one.metric,
            one.higher_is_better,
            [_score(system.scores[place]) for system in shown],
        )
        for place, one in enumerate(document.metrics)
    ]
    measures += sorted(by_metric, key=lambda one: one[0] != metric)
    enough = [one for one in measures if sum(estimate.is_defined for estimate in one[2]) > 1]
    if not enough:
        return None
    measure, higher_is_better, means = enough[0]
    return time_line(
        [
            Submitted(one.system, one.position, came[one.position], mean)
            for one, mean in zip(shown, means, strict=True)
        ],
        figure_id="time-line",
        measure=measure,
        higher_is_better=higher_is_better,
        signature=board_signature(document, document.aspect),
    )


def _score(score: float | Undefined) -> Estimate:
    return Estimate.undefined(score.reason) if isinstance(score, Undefined) else Estimate(score)


def profile_figure(document: SystemProfile, positions: Collection[int]) -> Figure:
    """``positions``: systems to draw; without them the best few."""
    aspects = [
        ProfileAspect(
            one.aspect,
            one.scale,
            one.systems,
        )
        for one in document.aspects
    ]
    return system_profile(
        [(_name(one), one.position) for one in document.systems],
        aspects,
        figure_id="profile",
        drawn=shown_profiles(document, positions),
        signature=board_signature(document, "each"),
    )


def shown_profiles(document: SystemProfile, positions: Collection[int]) -> list[int]:
    """Indices into the document's systems, the best first."""
    order = _by_mean(document)
    if positions:
        return [number for number in order if document.systems[number].position in positions]
    return order[:MAX_PROFILES]


def _by_mean(document: SystemProfile) -> list[int]:
    """Best first: by the sum of ranks over all aspects, since no aspect need stand for the
    others."""
    systems: Sequence[int] = range(len(document.systems))
    total = dict.fromkeys(systems, 0)
    for aspect in document.aspects:
        values = [one.value for one in aspect.systems]
        for number in systems:
            own = values[number]
            total[number] += sum(
                other is not None and (own is None or other > own) for other in values
            )
    return sorted(systems, key=lambda number: (total[number], number))


def _name(system: SystemName) -> str:
    words = ", ".join(_badges(system))
    return f"{system.system} ({words})" if words else system.system


def _badges(system: SystemName) -> tuple[str, ...]:
    return (system.kind,) if system.kind != "agent" else ()
