"""How fast agreement is, beside the krippendorff package on the same input in the same run.

    python -m bench.agreement

A naive bootstrap calls the package once a resample on the resampled matrix. Ten thousand items take it long, so some
resamples are timed and the median is multiplied by their number; the table says how many. Both sides must give the
same α on the timed resamples, or there is no table.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Sequence

import krippendorff
import numpy as np
from numpy.typing import NDArray

from annotations.agreement.intervals import Resampling
from annotations.agreement.krippendorff import krippendorff_alphas
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from annotations.agreement.tabulation import tabulate

SEED = 20
RESAMPLES = 1000
ROUNDS = 5
NAIVE_RESAMPLES_TIMED = 5


def rating_matrix(raters: int, items: int, dialogues: int) -> RatingMatrix:
    """Ratings 1 … 5 of items whose quality raters see through noise; no rating is missing."""
    random = np.random.default_rng(SEED)
    quality = random.normal(3, 1, items)
    scores = np.clip(np.round(quality + random.normal(0, 0.8, (raters, items))), 1, 5)
    dialogue_of_item = np.arange(items) * dialogues // items
    return RatingMatrix(
        scores, dialogue_of_item, tuple(f"rater {row}" for row in range(raters)), levels=(1, 2, 3, 4, 5)
    )


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median of some rounds, after one that is not counted."""
    work()
    times = []
    for _round in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def naive_bootstrap(matrix: RatingMatrix, draws: NDArray[np.float64]) -> tuple[list[float], float]:
    """α of each drawn matrix by the package, and the median seconds of one."""
    items_of = [np.flatnonzero(matrix.dialogue_of_item == dialogue) for dialogue in range(draws.shape[1])]
    alphas, times = [], []
    for draw in draws:
        start = time.perf_counter()
        drawn = np.concatenate([items_of[dialogue] for dialogue in np.repeat(np.arange(draw.size), draw.astype(int))])
        alphas.append(
            float(krippendorff.alpha(reliability_data=matrix.scores[:, drawn], level_of_measurement="ordinal"))
        )
        times.append(time.perf_counter() - start)
    return alphas, statistics.median(times)


def bootstrap_row(dialogues: int) -> Sequence[str]:
    matrix = rating_matrix(raters=6, items=10_395, dialogues=dialogues)
    draws = Resampling.draw(dialogues, RESAMPLES, SEED).multiplicities[:NAIVE_RESAMPLES_TIMED]
    naive_alphas, naive_once = naive_bootstrap(matrix, draws)
    table = tabulate(matrix)
    for draw, expected in zip(draws, naive_alphas, strict=True):
        # One draw alone: both ends of its interval are its α.
        interval = krippendorff_alphas(table, Resampling(draw[np.newaxis]))["ordinal"].ci
        assert interval is not None
        np.testing.assert_allclose(interval, expected, atol=1e-9)
    ours = seconds(lambda: krippendorff_alphas(tabulate(matrix), Resampling.draw(dialogues, RESAMPLES, SEED)))
    naive = naive_once * RESAMPLES
    return (
        f"α, {RESAMPLES} resamples of {dialogues} dialogues, 6 × 10,395",
        f"{ours * 1000:.1f} ms (all four α)",
        f"{naive:.1f} s (ordinal; {NAIVE_RESAMPLES_TIMED} timed, scaled)",
        f"{naive / ours:,.0f}×",
    )


def million_row() -> Sequence[str]:
    matrix = rating_matrix(raters=6, items=166_667, dialogues=1_000)

    def alpha() -> float | None:
        table = tabulate(matrix)
        return krippendorff_alphas(table, Resampling.draw(table.dialogues, 0, SEED))["ordinal"].value

    def package() -> float:
        return float(krippendorff.alpha(reliability_data=matrix.scores, level_of_measurement="ordinal"))

    ours_alpha, package_alpha = alpha(), package()
    assert ours_alpha is not None
    np.testing.assert_allclose(ours_alpha, package_alpha, atol=1e-9)
    ours, peer = seconds(alpha), seconds(package, rounds=3)
    return (
        "α of a million ratings, no interval",
        f"{ours * 1000:.0f} ms (all four α)",
        f"{peer:.2f} s",
        f"{peer / ours:,.0f}×",
    )


def million_with_interval_row() -> Sequence[str]:
    matrix = rating_matrix(raters=6, items=166_667, dialogues=1_000)
    ours = seconds(lambda: krippendorff_alphas(tabulate(matrix), Resampling.draw(1_000, RESAMPLES, SEED)), rounds=3)
    return (f"the same with {RESAMPLES} resamples of 1,000 dialogues", f"{ours * 1000:.0f} ms (all four α)", "–", "–")


def report_row(dialogues: int) -> Sequence[str]:
    matrix = rating_matrix(raters=6, items=10_395, dialogues=dialogues)
    ours = seconds(lambda: agreement_report(matrix, resamples=RESAMPLES), rounds=3)
    return (f"the whole report, {RESAMPLES} resamples of {dialogues} dialogues, 6 × 10,395", f"{ours:.2f} s", "–", "–")


def main() -> None:
    print(f"Python {platform.python_version()}, numpy {np.__version__}; medians of {ROUNDS} rounds; seed {SEED}")
    rows = [
        ("what", "dialeval", "krippendorff package", "ratio"),
        bootstrap_row(15),
        bootstrap_row(1_485),
        million_row(),
        million_with_interval_row(),
        report_row(15),
        report_row(1_485),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
