"""Which metrics differ in how they correlate with human ratings, and which do not: every pair is
tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from annotations.corpora.slices import NO_SLICE
from annotations.models import CorpusVersion, System
from leaderboard.answers.metrics import MetricComparisons, PairsOfMetrics, TestedPair
from leaderboard.queries.compared import MetricScores, chosen_metrics
from leaderboard.queries.defaults import SEED
from leaderboard.queries.human_scores import (
    HumanSide,
    human_grid,
    human_side,
    metric_grid,
    placed_human,
    placed_metrics,
)
from leaderboard.queries.standing import rated_levels
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import chosen_systems, resolve_choice, with_choice
from leaderboard.results.kinds import registered
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.placed_scores import FloatArray, PlacedScores
from leaderboard.statistics.significance.all_pairs import (
    PairTests,
    all_pairs_of_items,
    all_pairs_of_systems,
)
from leaderboard.statistics.significance.clustered import (
    Population,
    clustered_pairs_of_items,
    clustered_pairs_of_systems,
)
from leaderboard.statistics.significance.compact_letters import compact_letters
from leaderboard.statistics.significance.multiple_comparisons import benjamini_hochberg, holm
from leaderboard.statistics.significance.permutation import NAMES, Coefficient, Swapped
from workers.metrics.common.configuration import Configuration

Test = Literal["perm-sys", "perm-input", "perm-both", "jackknife-dialogues", "jackknife-both"]
PERMUTED: dict[str, Swapped] = {
    "perm-sys": "systems",
    "perm-input": "dialogues",
    "perm-both": "both",
}
POPULATIONS: dict[str, Population] = {"jackknife-dialogues": "dialogues", "jackknife-both": "both"}
FEW_SYSTEMS = 10
"""Below, nothing is said of other systems than these: so few hardly tell how others would
differ."""
LEAST_PERMUTATIONS, MOST_PERMUTATIONS = 1000, 20_000
A_PAIR = 25
"""Permutations for each pair. Holm multiplies the smallest p, 1 / (1 + permutations), by the number
of pairs: with fewer than 20 a pair no difference could ever be called significant."""
TOO_DEAR = (
    "only Pearson's r is compared for all pairs of metrics at this level: for the others all "
    "items would be ranked again for every pair and draw. The page of two metrics tests them"
)
TOO_FEW = (
    f"with fewer than {FEW_SYSTEMS} systems only Pearson's r is compared, on these very systems: "
    "so few can be ordered in too few ways"
)


def _shown_first(version: CorpusVersion) -> list[dict[str, Any]]:
    """At every level at which people's scores exist."""
    rated = rated_levels(version, version.main_aspect)
    levels = ["turn"] if "turn" in rated else []
    levels += ["dialogue", "system"] if rated else []
    return [{"aspect": version.main_aspect, "level": level} for level in levels]


@registered("comparisons", version=4, resolved=with_choice, shown_first=_shown_first)
def comparisons(
    version: CorpusVersion,
    aspect: str,
    level: CeilingLevel,
    systems: str | None = None,
    test: Test | None = None,
    data_slice: str = NO_SLICE,
) -> MetricComparisons:
    """The stored kind: all metrics, ``systems`` by a word of ``system_choice``. See
    ``compared_pairs``."""
    key = resolve_choice(version, systems)
    chosen = chosen_systems(version, key)
    found = compared_pairs(version, aspect, level, None, chosen, test=test, data_slice=data_slice)
    return replace(found, systems_chosen=key)


def compared_pairs(
    version: CorpusVersion,
    aspect: str,
    level: CeilingLevel,
    metrics: Sequence[Configuration | str] | None = None,
    systems: Sequence[System] | None = None,
    *,
    test: Test | None = None,
    permutations: int | None = None,
    seed: int = SEED,
    data_slice: str = NO_SLICE,
) -> MetricComparisons:
    """Every pair of metrics at one level: the difference of their correlations with people and its
    p, as it is, after Holm and after Benjamini and Hochberg; and the letters that follow at 5 %
    after Holm. ``test`` None takes the one that keeps its level, see
    docs/statistics_significance.md. ``data_slice``: of these conversations alone.
    """
    chosen = list(systems if systems is not None else chosen_systems(version))
    human = human_side(version, aspect, chosen, data_slice)
    scores = upright(chosen_metrics(compared_scores(version, chosen, human.order), metrics))
    used: Test = test or default_test(level, rated_systems(human, level))
    draws = permutations or permutations_for(len(scores.texts) * (len(scores.texts) - 1) // 2)
    texts, tests, without = _tested(level, human, scores, used, draws, seed)
    return MetricComparisons(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        level=level,
        systems=tuple(system.name for system in chosen),
        data_slice=data_slice,
        design=human.design.kind,
        metrics=tuple(texts),
        coefficients={name: _pairs(texts, found) for name, found in tests.items()},
        not_compared=without,
        test=used,
        method=method_text(used, level),
        population=population_text(used, rated_systems(human, level)),
        permutations=draws if used in PERMUTED else 0,
        seed=seed,
    )


def default_test(level: CeilingLevel, systems: int) -> Test:
    """The test that keeps its level with so many rated systems."""
    if systems < FEW_SYSTEMS:
        return "jackknife-dialogues"
    return "perm-sys" if level == "system" else "jackknife-both"


def rated_systems(human: HumanSide, level: CeilingLevel) -> int:
    items = human.at(level)
    return len(np.unique(items.system[np.isfinite(items.human_means())])) if items else 0


def permutations_for(pairs: int) -> int:
    """Enough for Holm's correction of so many pairs, in whole thousands."""
    return int(np.clip(-(-A_PAIR * pairs // 1000) * 1000, LEAST_PERMUTATIONS, MOST_PERMUTATIONS))


def method_text(test: Test, level: CeilingLevel) -> str:
    if test in POPULATIONS:
        over = (
            "dialogues"
            if test == "jackknife-dialogues"
            else "systems and over dialogues (two-way clusters)"
        )
        return (
            "t test of the difference of two correlations, its error by the jackknife over "
            f"{over}; two-sided p"
        )
    swapped = PERMUTED[test]
    what = {
        "both": "whole systems, then whole dialogues",
        "systems": "whole systems",
        "dialogues": "whole dialogues",
    }
    words = (
        f"{NAMES[swapped]} (Deutsch, Dror & Roth 2021): two metrics' standardised scores are "
        f"swapped in {what[swapped]}, each with chance ½; two-sided p"
    )
    if level == "system" and swapped == "both":
        words += "; where a metric has scores of systems only, whole systems alone are swapped"
    return words


def population_text(test: Test, systems: int) -> str:
    """What a difference is said of."""
    if test in ("jackknife-dialogues", "perm-input"):
        return f"other dialogues with these {systems} systems"
    return "other systems and other dialogues" if test != "perm-sys" else "other systems"


def upright(scores: MetricScores) -> MetricScores:
    """The same with every metric's sign turned so that higher is better."""
    sign = np.array([1.0 if one.higher_is_better else -1.0 for one in scores.configurations])
    return MetricScores(
        scores.configurations,
        scores.systems,
        scores.turn * sign[:, None, None],
        scores.system * sign[:, None],
        scores.runs_done,
        None if scores.dialogue is None else scores.dialogue * sign[:, None, None],
    )


def aligned(
    level: CeilingLevel, human: HumanSide, scores: MetricScores
) -> tuple[list[int], PlacedScores, PlacedScores, FloatArray | None] | None:
    """The rows that have scores at this level or below, in their order; people; their scores; and
    those of metrics that score systems only, whose rows come last. None where nobody rated. At turn
    and dialogue level people's and metrics' places are the same."""
    items = human.at(level)
    if items is None:
        return None
    of_turns, of_dialogues, of_systems = (
        scores.rows_of(finest) for finest in ("turn", "dialogue", "system")
    )
    if level == "turn":
        places = (items.system, items.dialogue)
        people = PlacedScores(items.human_means(), *places)
        return (
            of_turns,
            people,
            PlacedScores(scores.turn[of_turns][:, items.system, items.turn], *places),
            None,
        )
    below = sorted(of_turns + of_dialogues)
    if level == "dialogue":
        grid = human_grid(human)
        assert grid is not None
        return below, grid, metric_grid(human, scores.select(below)), None
    placed = (
        metric_grid(human, scores.select(below))
        if of_dialogues
        else placed_metrics(human, scores.select(below))
    )
    return (
        below + of_systems,
        placed_human(items),
        placed,
        scores.system[of_systems] if of_systems else None,
    )


def _tested(
    level: CeilingLevel,
    human: HumanSide,
    scores: MetricScores,
    test: Test,
    permutations: int,
    seed: int,
) -> tuple[list[str], dict[Coefficient, PairTests], dict[str, str]]:
    found = aligned(level, human, scores)
    if found is None:
        reason = f"nobody rated at the {level} level"
        return [], {}, dict.fromkeys(("pearson", "spearman", "kendall"), reason)
    rows, people, metrics, of_systems = found
    texts = [scores.texts[row] for row in rows]
    draws: dict[str, Any] = {
        "permutations": permutations,
        "seed": seed,
        "swapped": PERMUTED.get(test, "both"),
    }
    if level == "system":
        if test in PERMUTED:
            return (
                texts,
                all_pairs_of_systems(people, metrics, len(human.systems), of_systems, **draws),
                {},
            )
        tests = clustered_pairs_of_systems(people, metrics, len(human.systems), of_systems)
        return texts, {"pearson": tests}, {"spearman": TOO_FEW, "kendall": TOO_FEW}
    places = people.scores[0], metrics.scores, metrics.system, metrics.dialogue
    if test in PERMUTED:
        tests = all_pairs_of_items(*places, **draws)
    else:
        tests = clustered_pairs_of_items(*places, POPULATIONS[test])
    return texts, {"pearson": tests}, {"spearman": TOO_DEAR, "kendall": TOO_DEAR}


def _pairs(texts: Sequence[str], tests: PairTests) -> PairsOfMetrics:
    adjusted, rate = holm(tests.p), benjamini_hochberg(tests.p)
    places = np.triu_indices(len(texts), 1)
    p = np.full((len(texts), len(texts)), np.nan)
    p[places] = p.T[places] = adjusted
    groups = compact_letters([one.value for one in tests.alone], p)
    columns = zip(
        *places, tests.difference, tests.p, adjusted, rate, tests.permutations, strict=True
    )
    return PairsOfMetrics(
        pairs=tuple(
            TestedPair._make(
                [
                    int(i),
                    int(j),
                    *(None if np.isnan(one) else float(one) for one in numbers),
                    int(seen),
                ]
            )
            for i, j, *numbers, seen in columns
        ),
        alone={text: one.value for text, one in zip(texts, tests.alone, strict=True)},
        groups={text: tuple(own) for text, own in zip(texts, groups, strict=True)},
        undefined={
            text: one.reason
            for text, one in zip(texts, tests.alone, strict=True)
            if not one.is_defined
        },
    )
