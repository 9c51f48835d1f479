"""Which columns of the system leaderboard show until the reader chooses."""

from __future__ import annotations

from collections.abc import Sequence

from common.tables import Column, Table
from leaderboard.answers.systems import MisleadingMetric, PlacedSystem
from leaderboard.pages.systems.misleading import nearest_to_people
from leaderboard.pages.systems.tables import shown_columns


def first_shown(metrics: int, nearest: Sequence[str] = ()) -> list[str]:
    names = [f"m{number}" for number in range(metrics)]
    columns = [
        Column("system", "System"),
        Column("human", "Human mean"),
        *(Column(f"metric-{one}", one) for one in names),
    ]
    return shown_columns(Table("t", "T", tuple(columns), ()), names, nearest).split(",")


def test_three_metrics_all_stand_beside_people() -> None:
    assert first_shown(3, ["m2"]) == ["system", "human", "metric-m0", "metric-m1", "metric-m2"]


def test_of_nine_metrics_the_three_whose_order_is_nearest_to_peoples_show() -> None:
    nearest = ["m8", "m2", "m7", "m0", "m1", "m5", "m3"]
    assert first_shown(9, nearest) == ["system", "human", "metric-m2", "metric-m7", "metric-m8"]


def test_what_a_badge_or_another_page_says_is_chosen_under_columns() -> None:
    """Kind, severity-corrected mean and number of ratings: with them the table is wider than a
    page."""
    columns = [Column(key, key) for key in ("system", "kind", "human", "corrected", "items")]
    assert shown_columns(Table("t", "T", tuple(columns), ()), [], []) == "system,human"


def test_where_too_few_order_systems_the_first_metrics_fill_up() -> None:
    assert first_shown(9, ["m8", "gone"]) == [
        "system",
        "human",
        *(f"metric-m{number}" for number in (0, 1, 8)),
    ]


def test_nearest_is_the_metric_whose_places_differ_least_from_peoples() -> None:
    """b is 1 off on the mean, a is 2."""

    def metric(name: str, *apart: int) -> MisleadingMetric:
        rows = tuple(
            PlacedSystem(place, 1, 1, 1, 1, 1, 1, difference=off, beyond=0)
            for place, off in enumerate(apart)
        )
        return MisleadingMetric(
            metric=name, higher_is_better=True, placed=len(rows), misled=0, worst=0, rows=rows
        )

    found = [metric("a", -3, 1), metric("b", 1, -1), metric("one system", 0)]
    assert nearest_to_people(found) == ["b", "a"]
