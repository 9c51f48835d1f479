"""How fast agreement is, beside the krippendorff package on the same input in the same run.

    python -m bench.agreement

A naive jackknife calls the package once a dialogue on the matrix without it. Ten thousand items
take it long, so some are timed and the median is multiplied by their number; the table says how
many. Both sides must give the same α without these dialogues, or there is no table. The last rows
are whole reports, also of crowds.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import krippendorff
import numpy as np

from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import krippendorff_alphas
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from annotations.agreement.tabulation import tabulate

SEED = 20
ROUNDS = 5
NAIVE_TIMED = 5


def rating_matrix(
    raters: int, items: int, dialogues: int, per_item: int | None = None
) -> RatingMatrix:
    """Ratings 1 … 5 of items whose quality raters see through noise; of ``per_item`` raters drawn
    anew, or of all."""
    random = np.random.default_rng(SEED)
    quality = random.normal(3, 1, items)
    scores = np.clip(np.round(quality + random.normal(0, 0.8, (raters, items))), 1, 5)
    if per_item is not None:
        scores[np.argsort(np.argsort(random.random(scores.shape), axis=0), axis=0) >= per_item] = (
            np.nan
        )
    dialogue_of_item = np.arange(items) * dialogues // items
    return RatingMatrix(
        scores,
        dialogue_of_item,
        tuple(f"rater {row}" for row in range(raters)),
        levels=(1, 2, 3, 4, 5),
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


def naive_jackknife(matrix: RatingMatrix, jackknife: Jackknife) -> tuple[list[float], float]:
    """α without each of the first groups of dialogues by the package, and the median seconds of
    one."""
    alphas, times = [], []
    for weights in jackknife.weights[:NAIVE_TIMED]:
        start = time.perf_counter()
        kept = weights[matrix.dialogue_of_item] > 0
        alphas.append(
            float(
                krippendorff.alpha(
                    reliability_data=matrix.scores[:, kept], level_of_measurement="ordinal"
                )
            )
        )
        times.append(time.perf_counter() - start)
    return alphas, statistics.median(times)


def interval_row(dialogues: int) -> Sequence[str]:
    matrix = rating_matrix(raters=6, items=10_395, dialogues=dialogues)
    jackknife = Jackknife.over(dialogues)
    naive_alphas, naive_once = naive_jackknife(matrix, jackknife)
    for weights, expected in zip(jackknife.weights, naive_alphas, strict=False):
        kept = weights[matrix.dialogue_of_item] > 0
        without = tabulate(
            replace(
                matrix,
                scores=matrix.scores[:, kept],
                dialogue_of_item=matrix.dialogue_of_item[kept],
            )
        )
        found = krippendorff_alphas(without, Jackknife.none(without.dialogues))["ordinal"].value
        assert found is not None
        np.testing.assert_allclose(found, expected, atol=1e-9)
    ours = seconds(lambda: krippendorff_alphas(tabulate(matrix), Jackknife.over(dialogues)))
    naive = naive_once * jackknife.replicates
    return (
        f"α with an interval over {dialogues} dialogues, 6 × 10,395",
        f"{ours * 1000:.1f} ms (all four α)",
        f"{naive:.1f} s (ordinal; {NAIVE_TIMED} of {jackknife.replicates} timed, scaled)",
        f"{naive / ours:,.0f}×",
    )


def million_row() -> Sequence[str]:
    matrix = rating_matrix(raters=6, items=166_667, dialogues=1_000)

    def alpha() -> float | None:
        table = tabulate(matrix)
        return krippendorff_alphas(table, Jackknife.none(table.dialogues))["ordinal"].value

    def package() -> float:
        return float(
            krippendorff.alpha(reliability_data=matrix.scores, level_of_measurement="ordinal")
        )

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
    ours = seconds(lambda: krippendorff_alphas(tabulate(matrix), Jackknife.over(1_000)), rounds=3)
    return (
        "the same with an interval over 1,000 dialogues",
        f"{ours * 1000:.0f} ms (all four α)",
        "–",
        "–",
    )


def report_row(
    raters: int, items: int, dialogues: int, per_item: int | None = None
) -> Sequence[str]:
    matrix = rating_matrix(raters, items, dialogues, per_item)
    ours = seconds(lambda: agreement_report(matrix), rounds=3)
    ratings = f"{per_item} ratings an item" if per_item else "complete"
    return (
        f"the whole report, {raters} × {items:,} in {dialogues:,} dialogues, {ratings}",
        f"{ours:.2f} s",
        "–",
        "–",
    )


def main() -> None:
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}; medians of {ROUNDS} rounds; "
        f"seed {SEED}"
    )
    rows = [
        ("what", "dialeval", "krippendorff package", "ratio"),
        interval_row(15),
        interval_row(1_485),
        million_row(),
        million_with_interval_row(),
        report_row(6, 10_395, 15),
        report_row(6, 10_395, 1_485),
        report_row(40, 1_000, 100),
        report_row(300, 3_000, 300, per_item=5),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


if __name__ == "__main__":
    main()
