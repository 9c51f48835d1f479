"""How often 95 % intervals of r and ρ hold where a metric has heavy tails: ``python -m
bench.heavy_tails``.

Corpora are drawn of which the truth is known: n pairs in dialogues, normal latent scores of people
and of a metric with a fifth of their variance between dialogues; people's are rated by three raters
on 1…5, the metric's are taken to a distribution with heavier tails. True is the coefficient of two
million pairs. Held against it: the site's interval (a dialogue left out at a time, Student's t on
Fisher's scale) of r and of ρ, and of r the percentile, BCa (Efron 1987) and studentised bootstrap
(symmetric, on Fisher's scale, with the linearised variance over dialogues) over dialogues.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from common.correlation import Redraws, cluster_resamples
from common.correlation.pearson import pearson_between, pearson_scores
from common.correlation.spearman import spearman_between, spearman_scores
from common.estimates import Estimate
from leaderboard.statistics.correlation.heavy_tails import MOST_KURTOSIS, excess_kurtosis

FloatArray = NDArray[np.float64]
Random = np.random.Generator

METRICS: dict[str, Callable[[FloatArray, Random], FloatArray]] = {
    "normal": lambda z, _: z,
    "lognormal, σ 0.5": lambda z, _: np.exp(0.5 * z),
    "lognormal, σ 1": lambda z, _: np.exp(z),
    "lognormal, σ 1.5": lambda z, _: np.exp(1.5 * z),
    "t, 5 degrees": lambda z, _: stats.t.ppf(stats.norm.cdf(z), 5),
    "t, 3 degrees": lambda z, _: stats.t.ppf(stats.norm.cdf(z), 3),
    "mixture: a tenth five times as wide": lambda z, random: (
        z * np.where(random.random(len(z)) < 0.1, 5, 1)
    ),
    "contaminated: 2 % with noise of sd 10": lambda z, random: (
        z + np.where(random.random(len(z)) < 0.02, 10 * random.standard_normal(len(z)), 0)
    ),
}
STRENGTHS = (0.3, 0.7)
SHAPES = ((12, 5), (60, 1), (60, 5), (100, 5))
"""(dialogues, pairs in each): 60 to 500 pairs."""
METHODS = ("r, site", "r, percentiles", "r, BCa", "r, studentised", "ρ, site")
BINS = (-3.0, 1.0, 2.0, 4.0, 6.0, 10.0, 20.0, np.inf)
DRAWS = 600


def pairs(
    metric: str, strength: float, shape: tuple[int, int], random: Random
) -> tuple[FloatArray, FloatArray]:
    """(human means, metric scores), pairs of one dialogue side by side."""
    dialogues, each = shape
    between, within = (
        random.standard_normal((2, dialogues, 1)),
        random.standard_normal((2, dialogues, each)),
    )
    people, other = (np.sqrt(0.2) * between + np.sqrt(0.8) * within).reshape(2, -1)
    ratings = np.clip(np.rint(3 + people + 0.7 * random.standard_normal((3, len(people)))), 1, 5)
    scores = METRICS[metric](strength * people + np.sqrt(1 - strength**2) * other, random)
    return ratings.mean(axis=0), scores


def intervals(
    human: FloatArray, metric: FloatArray, dialogues: int, seed: int
) -> list[tuple[float, float] | None]:
    """In the order of ``METHODS``."""
    cluster = np.repeat(np.arange(dialogues), len(human) // dialogues)
    redraws = Redraws.jackknife(dialogues)
    left_out = np.vstack((np.ones(dialogues), redraws.weights))
    used = np.ones(dialogues, dtype=bool)

    def by_jackknife(found: FloatArray) -> tuple[float, float] | None:
        return redraws.with_interval(Estimate(float(found[0])), found[1:], used).ci

    r = pearson_between(*(pearson_scores(one, cluster, left_out) for one in (human, metric)))
    rho = spearman_between(*(spearman_scores(one, cluster, left_out) for one in (human, metric)))
    drawn = cluster_resamples(dialogues, DRAWS, seed).astype(np.float64)
    sums = _sums(human, metric, cluster, dialogues)
    replicates, errors = _r_and_error(sums, drawn)
    (value,), (error,) = _r_and_error(sums, np.ones((1, dialogues)))
    shift = stats.norm.ppf(np.clip((replicates < value).mean(), 1 / DRAWS, 1 - 1 / DRAWS))
    gaps = r[1:].mean() - r[1:]
    skew = (gaps**3).sum() / (6 * np.square(gaps).sum() ** 1.5)
    ends = [stats.norm.cdf(shift + (shift + q) / (1 - skew * (shift + q))) for q in (-1.96, 1.96)]
    reach = error * np.quantile(np.abs(np.arctanh(replicates) - np.arctanh(value)) / errors, 0.95)
    return [
        by_jackknife(r),
        tuple(np.quantile(replicates, (0.025, 0.975))),
        tuple(np.quantile(replicates, ends)),
        (float(np.tanh(np.arctanh(value) - reach)), float(np.tanh(np.arctanh(value) + reach))),
        by_jackknife(rho),
    ]


def _sums(
    human: FloatArray, metric: FloatArray, cluster: NDArray[np.int64], dialogues: int
) -> FloatArray:
    """(dialogues, 6): n, Σx, Σy, Σx², Σy², Σxy of each dialogue, of scores that have mean 0 and sd
    1."""
    x, y = ((one - one.mean()) / one.std() for one in (human, metric))
    found = np.zeros((dialogues, 6))
    np.add.at(found, cluster, np.stack((np.ones_like(x), x, y, x * x, y * y, x * y), axis=1))
    return found


def _r_and_error(sums: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """r of each draw, and the standard error of its artanh: the sums over dialogues of the
    influence of a pair, xy − r (x² + y²) / 2 of standardised x and y, taken as independent."""
    n, sx, sy, sxx, syy, sxy = (weights @ sums).T
    mx, my = sx / n, sy / n
    vx, vy = sxx / n - mx**2, syy / n - my**2
    root = np.sqrt(vx * vy)
    r = np.clip((sxy / n - mx * my) / root, -1 + 1e-9, 1 - 1e-9)
    influence = (
        np.stack(
            (
                mx * my / root - r / 2 * (mx**2 / vx + my**2 / vy),
                r * mx / vx - my / root,
                r * my / vy - mx / root,
                -r / 2 / vx,
                -r / 2 / vy,
                1 / root,
            ),
            axis=1,
        )
        @ sums.T
    )
    dialogues = weights.shape[1]
    variance = (weights * influence**2).sum(axis=1) / n**2 * dialogues / (dialogues - 1)
    return r, np.sqrt(np.maximum(variance, 1e-18)) / (1 - r**2)


def simulate(
    corpora: int, seed: int, cell: tuple[str, float]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """((shapes, corpora) excess kurtosis of the metric, (shapes, corpora, methods) whether the
    interval holds)."""
    metric, strength = cell
    large = pairs(metric, strength, (400_000, 5), np.random.default_rng(seed))
    truth = {"r": np.corrcoef(*large)[0, 1], "ρ": stats.spearmanr(*large).statistic}
    random = np.random.default_rng((seed, *map(ord, metric), int(10 * strength)))
    kurtosis = np.zeros((len(SHAPES), corpora))
    held = np.zeros((len(SHAPES), corpora, len(METHODS)), dtype=bool)
    for row, shape in enumerate(SHAPES):
        for number in range(corpora):
            human, scores = pairs(metric, strength, shape, random)
            kurtosis[row, number] = excess_kurtosis(scores)
            for place, (name, ends) in enumerate(
                zip(METHODS, intervals(human, scores, shape[0], number), strict=True)
            ):
                held[row, number, place] = ends is not None and ends[0] <= truth[name[0]] <= ends[1]
    return kurtosis, held


def _printed(label: str, held: FloatArray) -> str:
    return f"| {label} | " + " | ".join(f"{100 * share:.1f} %" for share in held) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--corpora", type=int, default=400, help="of each distribution, strength and shape"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    cells = [(metric, strength) for metric in METRICS for strength in STRENGTHS]
    with ProcessPoolExecutor(options.processes) as pool:
        found = list(pool.map(partial(simulate, options.corpora, options.seed), cells))
    columns = " | ".join(METHODS)
    print(f"{options.corpora:,} corpora of each metric, strength and shape, seed {options.seed},")
    print(
        f"{time.perf_counter() - start:,.0f} s; excess kurtosis above {MOST_KURTOSIS:g} is "
        "remarked\n"
    )
    print(
        f"| metric | strength | median excess kurtosis | remarked | {columns} "
        f"|\n|{'---|' * (4 + len(METHODS))}"
    )
    for (metric, strength), (kurtosis, held) in zip(cells, found, strict=True):
        remarked = f"{100 * (kurtosis > MOST_KURTOSIS).mean():.0f} %"
        print(
            _printed(
                f"{metric} | {strength} | {np.median(kurtosis):.1f} | {remarked}",
                held.mean(axis=(0, 1)),
            )
        )
    kurtosis, held = (np.stack(parts) for parts in zip(*found, strict=True))
    print(
        _printed(
            f"the worst of the {held[..., 0, 0].size} | | |", held.mean(axis=2).min(axis=(0, 1))
        )
    )
    print(f"\n| excess kurtosis seen | corpora | {columns} |\n|{'---|' * (2 + len(METHODS))}")
    for low, high in pairwise(BINS):
        within = (kurtosis > low) & (kurtosis <= high)
        print(_printed(f"{low:g} to {high:g} | {within.sum():,}", held[within].mean(axis=0)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
