"""Do fewer ratings and a metric do? ``python -m bench.fewer_ratings --home FOLDER [--draws 4000]
[--figures]``.

On a site whose corpora (USR, GRADE) are imported and scored, each corpus is taken for the whole
population: the dialogues that are rated for all of its systems. Again and again m of them are drawn
as rated and the rest as unrated, with replacement, and each system's interval is made from the
ratings alone and with a metric. Printed, for each metric and m, as means over systems:

* the share of intervals that hold the mean of all ratings (that both should do in 95 % of the
  draws)
* the widths, and the gain: (width alone / width)², as a multiple of the ratings
* the true gain: how many times greater the variance of the ratings alone is, over the draws

Beside the site's metrics stand the length of the response in words and, as the most that could be
hoped for, one person: the first rater of each response, held against the mean of its others.
``--figures`` writes docs/figures.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from bench.svg_lines import Level, Line, line_chart, save

if TYPE_CHECKING:
    from leaderboard.queries import HumanSide
    from leaderboard.statistics.ranking.prediction_powered import RatedPart

RATED = (10, 15, 20, 30, 40, 50, 75, 100)
CORPORA = {
    "usr": ("pmi", "simcse", "bertscore_r", "context_similarity", "fed_relevant"),
    "grade-dailydialog": ("pmi", "context_similarity"),
    "grade-convai2": ("pmi", "context_similarity"),
    "grade-empatheticdialogues": ("pmi", "context_similarity"),
}
LENGTH, PERSON = "length in words", "one person"
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """Means over systems with m rated dialogues."""

    rated: int
    covered_alone: float
    covered: float
    width_alone: float
    width: float
    true_gain: float

    @property
    def gain(self) -> float:
        return (self.width_alone / self.width) ** 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", required=True, help="the site's folder (DIALEVAL_HOME)")
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figures", action="store_true", help="write docs/figures")
    asked = parser.parse_args()
    os.environ["DIALEVAL_HOME"] = asked.home
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")
    import django

    django.setup()
    found = {
        corpus: dict(_of_corpus(corpus, metrics, asked)) for corpus, metrics in CORPORA.items()
    }
    if asked.figures:
        _draw(found)


def _of_corpus(
    slug: str, metrics: Sequence[str], asked: argparse.Namespace
) -> Iterator[tuple[str, list[Found]]]:
    from annotations.corpora.queries import select_systems, version_of
    from leaderboard.pages.fewer_ratings.query import rated_parts
    from leaderboard.queries import human_side
    from leaderboard.queries.compared import chosen_metrics
    from leaderboard.queries.submitted import compared_scores

    version = version_of(slug)
    systems = select_systems(version)
    human = human_side(version, version.main_aspect, systems)
    scores = compared_scores(version, systems, human.order)
    print(
        f"{slug}, {version.main_aspect}, {len(systems)} systems, {asked.draws} draws (seed "
        f"{asked.seed})"
    )
    print(
        f"{'':20} {'m':>4} {'held alone':>10} {'held':>6} {'width alone':>11} {'width':>6} "
        f"{'gain':>6} {'true':>6}"
    )
    sources = {LENGTH: _parts_of_length(human)} | {
        metric: rated_parts(human, chosen_metrics(scores, [metric]))
        for metric in metrics
        if metric in scores.texts
    }
    for name, parts in (sources | {PERSON: _parts_of_a_person(human)}).items():
        yield name, list(_simulated(name, parts, asked))


def _parts_of_length(human: HumanSide) -> list[RatedPart]:
    from annotations.models import Response

    items = human.turn
    assert items is not None
    texts = Response.objects.filter(system__in=[one.pk for one in human.systems]).order_by("pk")
    words = np.array(
        [len(text.split()) for text in texts.values_list("text", flat=True)], dtype=float
    )
    return _parts(human, items.human_means(), words)


def _parts_of_a_person(human: HumanSide) -> list[RatedPart]:
    """An item's first rater, as if a metric, and the mean of its others, as if all the ratings
    there are."""
    items = human.turn
    assert items is not None
    scores = items.matrix.scores
    first = np.argmax(np.isfinite(scores), axis=0)
    person = scores[first, np.arange(scores.shape[1])]
    others = scores.copy()
    others[first, np.arange(scores.shape[1])] = np.nan
    return _parts(human, np.nanmean(others, axis=0), person)


def _parts(human: HumanSide, people: Numbers, metric: Numbers) -> list[RatedPart]:
    from leaderboard.statistics.ranking.prediction_powered import part_of_dialogues

    items, dialogues = human.turn, len(human.order.dialogue_ids)
    assert items is not None
    return [
        part_of_dialogues(people[mine], metric[mine], items.dialogue[mine], dialogues)
        for mine in (items.system == number for number in range(len(human.systems)))
    ]


def _simulated(name: str, parts: Sequence[RatedPart], asked: argparse.Namespace) -> Iterator[Found]:
    from leaderboard.statistics.ranking.prediction_powered import RatedPart, powered_means

    known = np.nonzero(np.all([part.rated > 0 for part in parts], axis=0))[0]
    sums = {
        field: np.array([getattr(part, field)[known] for part in parts])
        for field in ("rated", "human", "metric")
    }
    truth = sums["human"].sum(axis=1) / sums["rated"].sum(axis=1)
    print(f"{name:20} {len(known)} dialogues")
    for rated in (count for count in RATED if count <= 0.85 * len(known)):
        random = np.random.default_rng([asked.seed, rated])
        drawn = random.integers(0, len(known), (asked.draws, len(known)))
        is_rated = np.arange(len(known)) < rated
        counts, human, metric = (sums[field][:, drawn] for field in ("rated", "human", "metric"))
        found = powered_means(
            RatedPart(
                counts * is_rated,
                human * is_rated,
                metric * is_rated,
                counts * ~is_rated,
                metric * ~is_rated,
            )
        )
        true_gain = float(np.mean(found.alone.var(axis=1) / found.powered.var(axis=1)))
        one = Found(
            rated,
            float(np.mean(np.abs(found.alone - truth[:, np.newaxis]) <= found.width_alone / 2)),
            float(np.mean(np.abs(found.powered - truth[:, np.newaxis]) <= found.width / 2)),
            float(found.width_alone.mean()),
            float(found.width.mean()),
            true_gain,
        )
        print(
            f"{name:20} {rated:4} {one.covered_alone:10.1%} {one.covered:6.1%} "
            f"{one.width_alone:11.3f} {one.width:6.3f} {one.gain:6.2f} {true_gain:6.2f}"
        )
        yield one


def _line(name: str, ones: Sequence[Found], up: Sequence[float]) -> Line:
    return Line(name, [one.rated for one in ones], up)


def _draw(found: dict[str, dict[str, list[Found]]]) -> None:
    usr = found["usr"]
    levels, across, times = (
        [Level(1.0, "the ratings alone")],
        "rated dialogues",
        "times as many ratings",
    )
    shown = (PERSON, "simcse", "pmi")
    charts = {
        "fewer-ratings-usr": line_chart(
            [
                *(_line(name, usr[name], [one.gain for one in usr[name]]) for name in shown),
                *(
                    _line(f"{name}, by error", usr[name], [one.true_gain for one in usr[name]])
                    for name in shown
                ),
            ],
            title="USR, Overall: what a metric is worth, by width and by error",
            across=across,
            up=times,
            levels=levels,
        ),
        "fewer-ratings-usr-coverage": line_chart(
            [
                _line("ratings alone", usr["pmi"], [one.covered_alone for one in usr["pmi"]]),
                *(_line(name, usr[name], [one.covered for one in usr[name]]) for name in shown),
            ],
            title="USR: share of the 95 % intervals that hold the mean of all ratings",
            across=across,
            up="share",
            up_range=(0.85, 1.0),
            levels=[Level(0.95, "95 %")],
        ),
        "fewer-ratings-grade": line_chart(
            [
                _line(
                    f"{short}, {corpus.removeprefix('grade-')[:7]}",
                    ones,
                    [one.true_gain for one in ones],
                )
                for corpus, of_corpus in found.items()
                if corpus != "usr"
                for short, ones in (
                    ("PMI", of_corpus["pmi"]),
                    ("context", of_corpus["context_similarity"]),
                )
            ],
            title="GRADE: what PMI and context similarity are worth, by error",
            across=across,
            up=times,
            levels=levels,
        ),
    }
    for name, chart in charts.items():
        print(f"docs/figures/{save(chart, name).name}")


if __name__ == "__main__":
    main()
