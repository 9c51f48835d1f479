"""Each system's mean human score on every aspect of the corpus: where it is strong, and where it is
weak."""

from __future__ import annotations

from typing import Any

from annotations.models import CorpusVersion
from leaderboard.analyses.kinds import registered
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import human_side, placed_human, scale_of
from leaderboard.queries.standing import MEANS_CI
from leaderboard.queries.system_choice import ALL, chosen_systems
from leaderboard.statistics.ranking.system_ranking import rank_systems


@registered("system-profile", version=2)
def system_profile(version: CorpusVersion, systems: str = ALL) -> dict[str, Any]:
    """``aspects``: ``{"aspect", "level": turn | dialogue, "scale": [lowest, highest] | null,
    "systems": [estimate]}``, in the order of the file, without those that nobody rated; estimates
    in the order of ``systems``."""
    chosen = chosen_systems(version, systems)
    aspects = []
    for aspect in version.aspects:
        human = human_side(version, aspect, chosen)
        items = human.at("system")
        if items is None:
            continue
        scale = scale_of(version, aspect)
        ranks = rank_systems(placed_human(items), len(chosen), RESAMPLES, SEED, bounds=scale)
        aspects.append(
            {
                "aspect": aspect,
                "level": "turn" if human.turn is not None else "dialogue",
                "scale": None if None in scale else list(scale),
                "systems": [rank.mean.as_json() for rank in ranks],
            }
        )
    return {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "systems_chosen": systems,
        "ci": MEANS_CI,
        "resamples": RESAMPLES,
        "seed": SEED,
        "systems": [
            {"system": one.name, "kind": one.kind, "position": one.position} for one in chosen
        ],
        "aspects": aspects,
    }
