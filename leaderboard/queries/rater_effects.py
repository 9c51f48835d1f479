"""How strict each rater is, how each uses the scale, and what is left of the systems' order without
that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from annotations.agreement.matrix import RatingMatrix
from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import RatedItems
from annotations.models import CorpusVersion
from common.estimates import Estimate, Undefined
from leaderboard.analyses.computing import answer_of
from leaderboard.analyses.kinds import registered
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import human_side, placed_human, scale_of
from leaderboard.statistics.bounded import bounds_of_difference, cut_to
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.ranking.crossed_ratings import CrossedRatings
from leaderboard.statistics.ranking.rater_severity import SeverityCorrected, correct_severity
from leaderboard.statistics.ranking.system_ranking import rank_systems

METHOD = (
    "linear mixed model score = system + dialogue + item + rater + error, variance components by "
    "REML; intervals of systems: jackknife over dialogues, Student's t; of severities: best "
    "linear unbiased prediction"
)
MAX_STEPS = 11
"""Scores of more different values than this are not shown one by one."""


@registered("rater-effects", version=3)
def rater_effects(
    version: CorpusVersion,
    aspect: str,
    level: Literal["turn", "dialogue", ""] = "",
    *,
    seed: int = SEED,
) -> dict[str, Any]:
    """Severity-corrected means beside raw ones, and a line for each rater. ``level``: of which
    ratings; of turns where there are any, unless asked otherwise. Raters stand under their
    pseudonyms: names are not in the document.

    ``reason`` says why nothing can be corrected, and is ``""`` otherwise. ``places`` count from 1,
    by value.
    """
    systems = select_systems(version)
    human = human_side(version, aspect, systems)
    items = {"turn": human.turn, "dialogue": human.dialogue}[level] if level else human.at("system")
    document: dict[str, Any] = {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "aspect": aspect,
        "level": level or ("turn" if human.turn else "dialogue"),
        "resamples": RESAMPLES,
        "seed": seed,
        "method": METHOD,
    }
    if items is None:
        nothing: dict[str, Any] = {
            "ratings": 0,
            "deviation": None,
            "groups": None,
            "systems": [],
            "steps": None,
            "raters": [],
        }
        return {**document, "reason": "nobody rated", **nothing}
    found = correct_severity(CrossedRatings.of(items.matrix, items.system, len(systems)))
    corrected = found if isinstance(found, SeverityCorrected) else None
    scale = scale_of(version, aspect)
    ranks = rank_systems(placed_human(items), len(systems), RESAMPLES, seed, bounds=scale)
    raw = [one.mean for one in ranks]
    undefined = Estimate.undefined(found.reason) if isinstance(found, Undefined) else None
    means = (
        [cut_to(one, scale) for one in corrected.systems]
        if corrected
        else [undefined or raw[0]] * len(systems)
    )
    return {
        **document,
        "reason": found.reason if isinstance(found, Undefined) else "",
        "ratings": int(np.isfinite(items.matrix.scores).sum()),
        "deviation": {name: float(value) for name, value in corrected.deviation.items()}
        if corrected
        else None,
        "groups": corrected.groups if corrected else None,
        "systems": [
            {
                "system": system.name,
                "kind": system.kind,
                "position": system.position,
                "raw": before.as_json(),
                "corrected": after.as_json(),
                "raw_place": index_before,
                "corrected_place": index_after,
            }
            for system, before, after, index_before, index_after in zip(
                systems, raw, means, _places(raw), _places(means), strict=True
            )
        ],
        "steps": _steps(items.matrix),
        "raters": _raters(version, aspect, items, corrected, document["level"]),
    }


def _places(means: Sequence[Estimate]) -> list[int | None]:
    """1 + the number of greater means; to 9 decimals, so that rounding makes no order."""
    known = [None if one.value is None else round(one.value, 9) for one in means]
    return [
        None if own is None else 1 + sum(other is not None and other > own for other in known)
        for own in known
    ]


def _steps(matrix: RatingMatrix) -> list[float] | None:
    """The scores that there are, of the scale where it is known; None where they are too many to
    stand one by one."""
    given = np.unique(matrix.scores[np.isfinite(matrix.scores)])
    steps = [float(one) for one in (matrix.levels or given)]
    return steps if 0 < len(steps) <= MAX_STEPS and set(given.tolist()) <= set(steps) else None


def _raters(
    version: CorpusVersion,
    aspect: str,
    items: RatedItems,
    corrected: SeverityCorrected | None,
    level: str,
) -> list[dict[str, Any]]:
    matrix = items.matrix
    if matrix.rater_kind != "identified":
        return []
    positions = dict(version.raters.values_list("name", "position"))
    agreement = _agreement(version, aspect, level)
    steps = _steps(matrix)
    nothing = Estimate.undefined("severity cannot be told here").as_json()
    return [
        {
            "rater": f"rater {positions[name] + 1}",
            "position": positions[name],
            "ratings": int(np.isfinite(row).sum()),
            "systems": len(np.unique(items.system[np.isfinite(row)])),
            "mean": float(np.nanmean(row)),
            "spread": float(np.nanstd(row, ddof=1)) if np.isfinite(row).sum() > 1 else None,
            "severity": cut_to(
                corrected.severity[number], bounds_of_difference(scale_of(version, aspect))
            ).as_json()
            if corrected
            else nothing,
            "agreement": agreement.get(
                name, {"value": None, "reason": "nobody else judged the same items"}
            ),
            "shares": _shares(row, steps),
        }
        for number, (name, row) in enumerate(zip(matrix.raters, matrix.scores, strict=True))
    ]


def _agreement(version: CorpusVersion, aspect: str, level: str) -> dict[str, dict[str, Any]]:
    """Each rater's correlation with the mean of the others: the agreement page's answer has it
    already."""
    report = answer_of(version, "agreement", aspect=aspect, level=level)
    pearson = report["leave_one_out"]["pearson"]
    return {
        one["rater"]: {key: value for key, value in one.items() if key != "rater"}
        for one in pearson.get("per_rater", ())
    }


def _shares(row: FloatArray, steps: list[float] | None) -> list[float] | None:
    if steps is None:
        return None
    given = row[np.isfinite(row)]
    return [float(np.mean(given == step)) for step in steps]
