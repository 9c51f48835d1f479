"""FBD's scorer: the Fréchet distance between the two sides, and how normal each of them is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from common.estimates import Undefined
from workers.metrics.base import OptionValue
from workers.metrics.frechet import MeanTerm, frechet_distance
from workers.metrics.normality import normality
from workers.metrics.pair_features import AgainstPeople, Comparison, Points

FEWEST = 2


def frechet_scorer(options: Mapping[str, OptionValue]) -> AgainstPeople:
    """Build FBD's scorer.

    Args:
        options: ``model``, ``layer`` and ``mean_term``.

    Returns:
        A scorer whose score is 0 or more, ``Undefined`` where the system or the human side has
        fewer than two responses. Its details hold both sides' ``normality``.
    """
    mean_term = cast(MeanTerm, options["mean_term"])

    def compare(system: Points, people: Points) -> Comparison:
        tested = {"normality": {"system": _normality(system), "human": _normality(people)}}
        for side, points in (("the system", system), ("the human side", people)):
            if len(points) < FEWEST:
                reason = f"{side} has {len(points)} response: a covariance needs {FEWEST}"
                return Comparison(Undefined(reason), tested)
        return Comparison(frechet_distance(system, people, mean_term), tested)

    return AgainstPeople(str(options["model"]), int(options["layer"]), compare)


def _normality(points: Points) -> dict[str, Any]:
    return normality(points).as_json()
