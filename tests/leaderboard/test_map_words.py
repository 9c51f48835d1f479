"""The sentences above maps, from documents small enough to be read."""

from __future__ import annotations

from common.estimates import Estimate
from leaderboard.answers.maps import MappedSystem, MappedText, ResponseMap
from leaderboard.answers.metrics import (
    CorrelatedMetrics,
    CorrelatedPair,
    MetricsAmongThemselves,
    NamedMetric,
)
from leaderboard.pages.maps.tables import Comparisons, Correlations
from leaderboard.pages.maps.text import ahead_text, similarity_text, tied_text
from tests.leaderboard.written_answers import comparisons_from


def correlations(values: dict[tuple[int, int], float | None]) -> Correlations:
    numbers = sorted({number for pair in values for number in pair})
    constant = Estimate.undefined("constant")
    pairs = [
        CorrelatedPair(
            first=first,
            second=second,
            n=30,
            pearson=Estimate(value) if value else constant,
            spearman=constant,
            kendall=constant,
        )
        for (first, second), value in values.items()
    ]
    metrics = tuple(
        NamedMetric(metric=name, higher_is_better=True, signature="") for name in "abcd"
    )
    level = CorrelatedMetrics(
        metrics=tuple(numbers), order={"pearson": tuple(numbers)}, pairs=tuple(pairs)
    )
    found = MetricsAmongThemselves(
        corpus="small",
        corpus_version="v1",
        systems_chosen="all",
        design="crossed",
        resamples=0,
        seed=0,
        method="",
        metrics=metrics,
        levels={"turn": level},
    )
    return Correlations(found, "turn", "pearson")


def test_the_two_most_alike_and_the_one_that_is_least_like_the_others_are_named() -> None:
    """Means: a (0.95 + 0.1) / 2 = 0.525, b (0.95 + 0.3) / 2 = 0.625, c (0.1 + 0.3) / 2 = 0.2."""
    finding, rest = tied_text(correlations({(0, 1): 0.95, (0, 2): 0.1, (1, 2): 0.3}))
    assert finding == "a and b correlate very strongly (r 0.95)."
    assert (
        rest == "1 of 3 pairs reaches 0.9. c correlates least with the others (r 0.20 on average)."
    )


def test_of_two_metrics_one_sentence_is_enough() -> None:
    assert tied_text(correlations({(0, 1): 0.5})) == ("a and b correlate most (r 0.50).", "")


def test_a_pair_without_a_correlation_is_no_pair() -> None:
    finding, rest = tied_text(correlations({(0, 1): None, (0, 2): 0.75, (1, 2): 0.2}))
    assert (finding, rest[:28]) == (
        "a and c correlate strongly (r 0.75).",
        "None of 2 pairs reaches 0.9.",
    )
    assert tied_text(correlations({(0, 1): None}))[0] == ""


def comparisons(*tests: tuple[int, int, float | None, float | None]) -> Comparisons:
    """(first, second, difference, p after Holm's correction)"""
    pairs = [[first, second, difference, p, p, p, 0] for first, second, difference, p in tests]
    return Comparisons(
        comparisons_from(["a", "b", "c"], {"pearson": {"pairs": pairs}}), "turn", "pearson"
    )


def test_the_metric_that_beats_most_others_is_named() -> None:
    found = comparisons((0, 1, -0.2, 0.01), (0, 2, 0.1, 0.2), (1, 2, 0.3, 0.001))
    finding, rest = ahead_text(found)
    assert finding == "b correlates better with human ratings than all 2 others."
    assert rest == "2 of 3 pairs differ by more than chance (Holm's correction)."


def test_where_nothing_differs_it_says_so() -> None:
    assert (
        ahead_text(comparisons((0, 1, 0.2, 0.4), (0, 2, 0.1, 0.05)))[0]
        == "No two of 3 metrics differ significantly:"
    )
    assert ahead_text(comparisons((0, 1, None, None)))[0] == ""


def point(system: int | None, cosine: float | None) -> MappedText:
    at = (0.0, 0.0)
    return MappedText(system=system, dialogue=0, turn=0, text="", pca=at, tsne=at, cosine=cosine)


def map_of(
    kinds: dict[str, str], points: list[MappedText], explained: tuple[float, float]
) -> ResponseMap:
    return ResponseMap(
        corpus="small",
        corpus_version="v1",
        seed=0,
        turns=1,
        of_turns=1,
        systems=tuple(
            MappedSystem(system=name, kind=kind, position=position)
            for position, (name, kind) in enumerate(kinds.items())
        ),
        points=tuple(points),
        explained=explained,
    )


def test_the_systems_nearest_to_and_farthest_from_the_references_are_named_and_gold_is_neither() -> (
    None
):
    """one: (0.4 + 0.6) / 2 = 0.5; two: 0.3; gold answers are the references."""
    kinds = {"gold": "gold", "one": "agent", "two": "agent"}
    points = [point(0, 1.0), point(1, 0.4), point(1, 0.6), point(2, 0.3), point(None, None)]
    finding, rest = similarity_text(map_of(kinds, points, (0.12, 0.05)))
    assert finding == (
        "one’s responses lie nearest to the references (mean cosine 0.50), two’s farthest (0.30)."
    )
    assert rest == "Two principal components hold 17 % of the variance between the texts."


def test_without_references_only_the_plane_is_spoken_of() -> None:
    found = map_of({"one": "agent"}, [point(0, None)], (0.5, 0.5))
    assert similarity_text(found)[0] == ""
