"""Does it pay to spread a campaign's ratings adaptively? ``python -m bench.allocation [--replays
200] [--only PART]``.

* real: USR and GRADE (DIALEVAL_DATA), replayed with their own ratings: how many it takes until
  systems stand in the order of all ratings and stay so, and until a target is met, spread evenly
  and adaptively.
* many: the same for made-up campaigns of 10, 20 and 99 systems.
* error: bias of means and coverage of intervals against a known truth, and how often systems that
  are equally good are told apart, by 20 looks.
* claims: what it costs those who rate, on PostgreSQL.

Writes the table on standard output, and with ``--figures`` the charts of
docs/statistics_allocation.md.
"""

from __future__ import annotations

import argparse
import math
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from annotations.campaigns.plan.allocation import Target
from annotations.campaigns.plan.evidence import Numbers
from annotations.formats.importers import grade, usr
from annotations.formats.records import RatingRecord
from bench.allocation_claims import claims
from bench.allocation_replay import POINTS, Course, Pool, replay, stays_from
from bench.svg_lines import Line, line_chart, save

PARTS = ("real", "many", "error", "claims")
WAYS = {"evenly": False, "adaptively": True}
Params = tuple[Target, float | None]


# --- what is replayed -----------------------------------------------------------------------------


def pool_of(name: str, records: object, aspect: str) -> Pool:
    systems: dict[str, int] = {}
    dialogues: dict[str, int] = {}
    rows = [
        (
            systems.setdefault(record.system, len(systems)),
            dialogues.setdefault(record.dialogue_id, len(dialogues)),
            record.score,
        )
        for record in records  # type: ignore[attr-defined]
        if isinstance(record, RatingRecord) and record.aspect == aspect
    ]
    system, dialogue, score = (np.array(column) for column in zip(*rows, strict=True))
    return Pool(name, tuple(systems), system, dialogue, score.astype(float))


def real_pools(data: Path) -> list[Pool]:
    pools = [pool_of("USR", usr.IMPORTER.read(data / "usr" / "pc_usr_data.json"), usr.MAIN_ASPECT)]
    file = data / "grade" / "human_judgement.json"
    for part in grade.IMPORTER.parts(file):
        pools.append(pool_of(f"GRADE {part}", grade.IMPORTER.read(file, part), grade.ASPECT))
    return pools


def made_pool(name: str, means: Numbers, dialogues: int, turns: int, k: int, seed: int) -> Pool:
    """Scores from 1 to 5: the system's mean, what is peculiar to the dialogue, to the system in it,
    and the rater's."""
    random = np.random.default_rng(seed)
    system = np.repeat(np.arange(len(means)), dialogues * turns * k)
    dialogue = np.tile(np.repeat(np.arange(dialogues), turns * k), len(means))
    level = (
        means[:, None]
        + random.normal(0, 0.3, dialogues)[None, :]
        + random.normal(0, 0.3, (len(means), dialogues))
    )
    score = np.clip(np.round(level[system, dialogue] + random.normal(0, 0.9, system.size)), 1, 5)
    return Pool(name, tuple(map(str, range(len(means)))), system, dialogue, score)


def many_pools() -> list[Pool]:
    """Two close ones among ten; twenty evenly spaced; ComperDial's shape, systems as a bell
    curve."""
    one_close_pair = np.array([1.9, 2.2, 2.5, 2.75, 2.85, 3.1, 3.35, 3.6, 3.85, 4.1])
    bell = np.sort(np.random.default_rng(3).normal(3, 0.5, 99))
    return [
        made_pool("10 systems, one close pair", one_close_pair, 200, 1, 3, 1),
        made_pool("20 systems, evenly spaced", np.linspace(2.2, 3.8, 20), 100, 1, 3, 1),
        made_pool("99 systems, 15 dialogues", bell, 15, 7, 2, 1),
    ]


# --- replays --------------------------------------------------------------------------------------


def courses(pool: Pool, adaptive: bool, params: Params, replays: int, workers: int) -> list[Course]:
    once = partial(_one, pool, adaptive, params)
    with ProcessPoolExecutor(workers) as executor:
        return list(executor.map(once, range(replays), chunksize=max(replays // (4 * workers), 1)))


def _one(pool: Pool, adaptive: bool, params: Params, seed: int) -> Course:
    return replay(pool, adaptive, seed, target=params[0], value=params[1])


def ratings_to_the_order(pool: Pool, found: list[Course], limit: int = 0) -> Numbers:
    """Of each replay: with how many ratings at most ``limit`` pairs stand wrongly, from there to
    the end."""
    places = [stays_from(course.misordered, limit) for course in found]
    return np.array(
        [pool.ratings if place is None else pool.ratings * (place + 1) / POINTS for place in places]
    )


def ratings_to_the_target(pool: Pool, found: list[Course]) -> Numbers:
    return np.array([pool.ratings * (course.stop or POINTS) / POINTS for course in found])


def _written(numbers: Numbers) -> str:
    low, high = np.quantile(numbers, [0.1, 0.9])
    error = numbers.std(ddof=1) / np.sqrt(len(numbers))
    return f"{numbers.mean():>8,.0f} ± {1.96 * error:<5,.0f} ({low:,.0f} to {high:,.0f})"


def compare(pool: Pool, wishes: list[Params], limit: int, options: argparse.Namespace) -> None:
    pairs = len(pool.systems) * (len(pool.systems) - 1) // 2
    apart = int(pool.standing().separated().sum()) // 2
    print(
        f"\n{pool.name}: {len(pool.systems)} systems, {pool.ratings:,} ratings; all of them tell "
        f"{apart} of {pairs} pairs apart",
        flush=True,
    )
    lines = []
    for way, adaptive in WAYS.items():
        found = courses(pool, adaptive, ("none", None), options.replays, options.workers)
        words = "in order" if not limit else f"{limit} of {pairs} pairs out of order"
        print(
            f"  {way:<11} {words:<36}{_written(ratings_to_the_order(pool, found, limit))}",
            flush=True,
        )
        wrong = np.array([course.misordered for course in found], dtype=float)
        spread = 1.96 * wrong.std(axis=0, ddof=1) / np.sqrt(len(wrong))
        mean, done = wrong.mean(axis=0), found[0].done
        lines.append(Line(way, done[2:], mean[2:], (mean - spread)[2:], (mean + spread)[2:]))
        for params in wishes:
            reached = courses(pool, adaptive, params, options.replays, options.workers)
            met = sum(course.stop is not None for course in reached)
            words = (
                f"{params[1]:g} % of pairs apart"
                if params[0] == "pairs"
                else f"intervals of {params[1]:g}"
            )
            remark = "" if met == len(reached) else f"  (met in {met} of {len(reached)})"
            print(
                f"  {way:<11} {words:<36}{_written(ratings_to_the_target(pool, reached))}{remark}",
                flush=True,
            )
    if options.figures:
        name = "allocation-" + "".join(
            letter if letter.isalnum() else "-" for letter in pool.name.lower()
        )
        chart = line_chart(
            lines, title=pool.name, across="ratings", up="pairs out of order", log_across=True
        )
        save(chart, name)


def _within_reach(pool: Pool) -> float:
    """A third wider than what all ratings reach, in tenths of a point."""
    return math.ceil(10 * 4 / 3 * 2 * float(pool.standing().half_width.max())) / 10


def error(options: argparse.Namespace) -> None:
    """200 campaigns of their own, each drawn anew from a known truth."""
    shapes = {
        "5 systems, equally good": np.full(5, 3.0),
        "6 systems, spaced": np.array([2.2, 2.6, 3.0, 3.1, 3.5, 3.9]),
    }
    for name, means in shapes.items():
        for dialogues, turns in ((60, 1), (15, 7)):
            for way, adaptive in WAYS.items():
                once = partial(_one_of_known_truth, means, dialogues, turns, adaptive)
                with ProcessPoolExecutor(options.workers) as executor:
                    found = list(executor.map(once, range(options.campaigns), chunksize=10))
                _print_errors(f"{name}, {dialogues} dialogues × {turns}, {way}", found)


def _one_of_known_truth(
    means: Numbers, dialogues: int, turns: int, adaptive: bool, seed: int
) -> Course:
    """The dialogues are a sample, too: truth is the mean over all that could have been drawn."""
    return replay(
        made_pool("", means, dialogues, turns, 3, seed), adaptive, seed, truth=_true_means(means)
    )


def _true_means(means: Numbers) -> Numbers:
    """Rounding and the ends of the scale move means: those of what ``made_pool`` draws, exactly."""
    from scipy.stats import norm

    spread = np.sqrt(0.3**2 + 0.3**2 + 0.9**2)
    cuts = norm.cdf((np.array([1.5, 2.5, 3.5, 4.5])[None, :] - means[:, None]) / spread)
    return 5 - cuts.sum(axis=1)


def _print_errors(name: str, found: list[Course]) -> None:
    outside = np.array([course.uncovered for course in found])  # campaigns × looks × systems
    once = np.array([course.uncovered_once for course in found])
    off = np.array([course.error for course in found])
    plain = np.array([course.error_plain for course in found])
    inverse = np.array([course.error_inverse for course in found])
    wrong = np.array([course.wrongly for course in found])
    at = (4, 9)  # a quarter and half of the ratings
    noise = 1.96 * np.nanstd(off[:, at[0]], axis=0).mean() / np.sqrt(len(found))
    print(f"\n{name}")
    for place in at:
        kinds = {"1/√p": off, "1/p": inverse, "1": plain}
        bias = {name: np.abs(np.nanmean(one[:, place], 0)).max() for name, one in kinds.items()}
        spread = {name: np.sqrt(np.nanmean(one[:, place] ** 2)) for name, one in kinds.items()}
        print(
            f"  at {5 * (place + 1):>3} % of the ratings, by weight: largest bias of a mean "
            f"{_by_weight(bias)} (noise {noise:.3f}); root mean square error "
            f"{_by_weight(spread)}; 95 % interval of one look covers "
            f"{100 * (1 - once[:, place].mean()):.1f} %"
        )
    print(
        f"  intervals of all 20 looks cover {100 * (1 - outside.any(axis=1).mean()):.1f} % of "
        f"systems; a pair wrongly apart at some look: {100 * (wrong > 0).any(axis=1).mean():.1f} "
        f"% of campaigns, {100 * wrong.max(axis=1).mean() / _pairs(outside):.2f} % of pairs",
        flush=True,
    )


def _by_weight(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name}: {number:.3f}" for name, number in numbers.items())


def _pairs(outside: np.ndarray) -> float:
    systems = outside.shape[2]
    return systems * (systems - 1) / 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replays", type=int, default=200)
    parser.add_argument("--campaigns", type=int, default=1000, help="of known truth")
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--workers", type=int, default=max((os.cpu_count() or 2) - 1, 1))
    parser.add_argument("--figures", action="store_true")
    options = parser.parse_args()
    parts = options.only or PARTS
    data = os.environ.get("DIALEVAL_DATA", "")
    if "real" in parts and data:
        for pool in real_pools(Path(data)):
            compare(pool, [("pairs", 50.0), ("width", _within_reach(pool))], 0, options)
    if "many" in parts:
        for pool in many_pools():
            pairs = len(pool.systems) * (len(pool.systems) - 1) // 2
            compare(pool, [("pairs", 75.0)], 0 if len(pool.systems) < 20 else pairs // 20, options)
    if "error" in parts:
        error(options)
    if "claims" in parts:
        claims()


if __name__ == "__main__":
    main()
