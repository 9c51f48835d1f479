"""From scores to the drawing of two metrics against each other: a stored answer, since points are
many."""

from __future__ import annotations

from typing import cast

from annotations.corpora.rating_queries import turn_order
from annotations.models import CorpusVersion
from common.estimates import Undefined
from leaderboard.answers.figures import StoredFigures
from leaderboard.figures import Figure
from leaderboard.figures.figure import Level
from leaderboard.pages.metric_pair.figures import TwoScores, two_metrics_scatter
from leaderboard.pages.metric_pair.items import Common, means_of, pair_at
from leaderboard.queries.system_choice import chosen_systems, resolve_choice, with_choice
from leaderboard.results.kinds import PAIRS_REFRESHED_FOR, registered
from leaderboard.stored_figures import document_of, packed


@registered(
    "metric-pair-scatter",
    version=3,
    refreshed_for=PAIRS_REFRESHED_FOR,
    for_files="points",
    of_pairs=True,
    resolved=with_choice,
)
def pair_scatter_documents(
    version: CorpusVersion, aspect: str, first: str, second: str, systems: str | None = None
) -> StoredFigures:
    """At the finest level that both have, and of systems. ``points``: each figure's, every one, for
    its file."""
    figures = pair_scatter_figures(version, aspect, first, second, systems)
    return StoredFigures(
        figures=tuple(document_of(figure) for figure in figures),
        points=tuple(packed(figure.points) for figure in figures),
    )


def pair_scatter_figures(
    version: CorpusVersion, aspect: str, first: str, second: str, systems: str | None = None
) -> list[Figure]:
    systems = resolve_choice(version, systems)
    chosen = chosen_systems(version, systems)
    names = {system.pk: (system.name, system.position) for system in chosen}
    pair = pair_at(version, aspect, first, second, systems)
    finest = next(
        (level for level, found in pair.items() if not isinstance(found, Undefined)), None
    )
    wanted = dict.fromkeys(level for level in (finest, "system") if level is not None)
    return [
        two_metrics_scatter(
            _points(version, found, level, names),
            figure_id=f"pair-{level}",
            level=cast(Level, level),
            metrics=(_axis(found, 0, first), _axis(found, 1, second)),
            between=found.between_systems() if level == "system" else found.between(),
            signature=f"{version.corpus.slug} {version.label}, systems:{systems}",
        )
        for level in wanted
        if isinstance(found := pair[level], Common)
    ]


def _axis(found: Common, row: int, metric: str) -> str:
    return f"{metric} (turned round)" if found.turned[row] else metric


def _points(
    version: CorpusVersion, found: Common, level: str, names: dict[int, tuple[str, int]]
) -> list[TwoScores]:
    if level == "system":
        people, first, second = means_of(found)
        pks = dict.fromkeys(
            place[0] for _, place in sorted(zip(found.system.tolist(), found.places, strict=True))
        )
        return [
            TwoScores(*names[pk], float(first[row]), float(second[row]), float(people[row]))
            for row, pk in enumerate(pks)
        ]
    order = turn_order(version)
    dialogues = {
        int(pk): str(name) for pk, name in zip(order.dialogue_pks, order.dialogue_ids, strict=True)
    }
    numbers = {
        int(pk): int(number) for pk, number in zip(order.turn_pks, order.numbers, strict=True)
    }
    return [
        TwoScores(
            *names[system],
            float(found.metrics[0, row]),
            float(found.metrics[1, row]),
            float(found.human[row]),
            f"dialogue {dialogues[dialogue or 0]}"
            + ("" if turn is None else f", turn {numbers[turn]}"),
        )
        for row, (system, dialogue, turn) in enumerate(found.places)
    ]
