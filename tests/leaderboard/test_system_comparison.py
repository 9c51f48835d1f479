"""Two systems side by side: numbers against hand-worked ones, filters in the address, and corpora
of all shapes."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.test import Client

from annotations.corpora.actions import data_changed
from annotations.corpora.queries import NotFound
from annotations.models import System
from common.estimates import Estimate
from leaderboard.answers import SystemName
from leaderboard.answers.system_pair import MetricDifference, PairColumns, SystemPair
from leaderboard.pages.system_pair.query import system_pair
from leaderboard.pages.system_pair.rows import PEOPLE, PairParams, PairRows
from leaderboard.pages.system_pair.tables import finding, metrics_table, verdict, wrong_metrics
from leaderboard.statistics.significance.system_differences import SystemDifference
from tests.leaderboard.conftest import Rated

pytestmark = pytest.mark.django_db
PAGE = "/corpora/small/systems/compare/"

THREE_DIALOGUES = {
    ("d0", 0, "a"): (5, 1),
    ("d0", 1, "a"): (4, 2),
    ("d1", 0, "a"): (3, 3),
    ("d2", 0, "a"): (4, 9),
    ("d0", 0, "b"): (2, 4),
    ("d0", 1, "b"): (3, 4),
    ("d1", 0, "b"): (3, 5),
    ("d2", 0, "b"): (5, 6),
}
"""People: a − b is 3, 1, 0, −1 (mean 3/4). Lengths: −3, −2, −2, 3 (mean −1)."""


def page_of(client: Client, query: str = "") -> str:
    response = client.get(f"{PAGE}{query}")
    assert response.status_code == 200, response.status_code
    return unescape(" ".join(response.content.decode().split()))


def items_on(said: str) -> list[str]:
    return [part.split('"')[0] for part in said.split('<li class="pair" id="item-')[1:]]


# --- the document ---------------------------------------------------------------------------------


def test_the_difference_worked_by_hand(rated: Rated) -> None:
    document = system_pair(rated(THREE_DIALOGUES), "overall", "a", "b")
    human = document.human
    assert (human.wins, human.ties, human.losses, human.items, human.dialogues) == (
        2,
        1,
        1,
        4,
        3,
    )
    assert human.difference.value == pytest.approx(0.75)
    # Totals by dialogue 4, 0, −1: of the 8 ways to change sides |±4 ±0 ±1| ≥ 3 holds for all.
    assert (human.difference.p, human.is_exact) == (1.0, True)
    (length,) = document.metrics
    assert length.difference.value == pytest.approx(-1)
    # Never as people do
    assert (length.same_side, length.sides) == (0.0, 3)


def test_exchanging_the_systems_turns_the_signs_round(rated: Rated) -> None:
    version = rated(THREE_DIALOGUES)
    one, other = (system_pair(version, "overall", *names) for names in (("a", "b"), ("b", "a")))
    assert other.human.difference.value == -one.human.difference.value
    assert other.rows.human == one.rows.human[::-1]
    assert (other.human.wins, other.human.losses) == (one.human.losses, one.human.wins)


def test_items_that_one_system_did_not_answer_are_shown_and_not_counted(
    client: Client, rated: Rated
) -> None:
    places = {place: scores for place, scores in THREE_DIALOGUES.items() if place != ("d2", 0, "b")}
    document = system_pair(rated(places), "overall", "a", "b")
    assert (document.human.items, len(document.rows.turn)) == (3, 4)
    said = page_of(client, "?first=a&second=b&sort=place")
    assert items_on(said) == ["0-0", "0-1", "1-0", "2-0"]
    assert "(no response)" in said
    assert "not rated for both" in said


def test_systems_with_dialogues_of_their_own_have_nothing_side_by_side(
    client: Client, rated: Rated
) -> None:
    """Each item would show one response beside "(no response)"."""
    own = {"a": ("d0", "d1"), "b": ("d2", "d3")}
    places = {
        (name, 0, system): (3 + number, 4)
        for system, names in own.items()
        for number, name in enumerate(names)
    }
    rated(places)
    said = page_of(client, "?first=a&second=b")
    assert items_on(said) == []
    assert "The two systems answered different dialogues" in said
    assert "(no response)" not in said


def test_ratings_of_whole_dialogues_compare_dialogues(client: Client, rated: Rated) -> None:
    unrated = {place: (None, length) for place, (_, length) in THREE_DIALOGUES.items()}
    whole = {("d0", "a"): 5, ("d1", "a"): 2, ("d0", "b"): 1, ("d1", "b"): 3}
    document = system_pair(rated(unrated, whole), "overall", "a", "b")
    assert (document.level, document.levels) == ("dialogue", ("dialogue",))
    assert document.rows.turn == (-1, -1, -1)
    assert document.human.difference.value == pytest.approx((4 - 1) / 2)
    # Mean lengths by dialogue: a 1.5, 3, 9; b 4, 5, 6.
    assert document.scores["length"] == ((1.5, 3.0, 9.0), (4.0, 5.0, 6.0))
    said = page_of(client, "?first=a&second=b")
    assert items_on(said)[0] == "0"
    assert "A better</b> by 4.00" in said


def test_where_both_levels_are_rated_the_address_chooses(client: Client, rated: Rated) -> None:
    rated(THREE_DIALOGUES, {("d0", "a"): 1, ("d0", "b"): 5})
    assert "A better</b> by 3.00" in page_of(client, "?first=a&second=b")
    assert "B better</b> by 4.00" in page_of(client, "?first=a&second=b&level=dialogue")


def test_without_ratings_metrics_alone_compare(client: Client, rated: Rated) -> None:
    rated({place: (None, length) for place, (_, length) in THREE_DIALOGUES.items()})
    said = page_of(client, "?first=a&second=b")
    assert "People rated nothing that both answered (overall); metrics alone compare them." in said
    assert items_on(said)[0] in ("0-0", "2-0")  # |−3| and |3|, by length


def test_one_dialogue_has_a_difference_without_an_interval(client: Client, rated: Rated) -> None:
    rated({place: scores for place, scores in THREE_DIALOGUES.items() if place[0] == "d0"})
    said = page_of(client, "?first=a&second=b")
    assert "a is ahead by 2.00 points of overall, without an interval." in said


def test_an_unknown_or_withheld_system_is_not_found(rated: Rated, client: Client) -> None:
    version = rated(THREE_DIALOGUES | {("d0", 0, "c"): (1, 1)})
    with pytest.raises(NotFound):
        system_pair(version, "overall", "a", "nobody")
    assert client.get(f"{PAGE}?first=a&second=nobody").status_code == 404
    assert client.get(f"{PAGE}?first=a&second=c").status_code == 200
    System.objects.filter(name="c").update(withheld=True)
    data_changed([version.pk])
    assert client.get(f"{PAGE}?first=a&second=c").status_code == 404


# --- sentences and verdicts -----------------------------------------------------------------------


def document_of(
    human: tuple[float, float], metric: tuple[float, float], higher: bool = True
) -> SystemPair:
    def summed(ends: tuple[float, float]) -> dict[str, Any]:
        return {
            "difference": Estimate(sum(ends) / 2, ends, 0.01),
            "first": Estimate(1.0),
            "second": Estimate(1.0),
            "wins": 3,
            "ties": 0,
            "losses": 1,
            "items": 4,
            "dialogues": 4,
            "first_dialogues": 4,
            "second_dialogues": 4,
            "permutations": 16,
            "is_exact": True,
            "is_paired": True,
        }

    one = MetricDifference(
        **summed(metric),
        metric="m",
        higher_is_better=higher,
        same_side=0.5,
        sides=2,
        signature="metric:m",
    )
    return SystemPair(
        corpus="c",
        corpus_version="v1",
        aspect="overall",
        level="turn",
        levels=("turn",),
        design="crossed",
        permutations=16,
        seed=0,
        systems=tuple(
            SystemName(system=name, kind="agent", position=position)
            for position, name in enumerate(("left", "right"))
        ),
        human=SystemDifference(**summed(human)),
        metrics=(one,),
        rows=PairColumns(dialogue=(), turn=(), answered=((), ()), human=((), ()), raters=((), ())),
        scores={},
    )


def with_difference(found: Any, value: float, p: float | None) -> Any:
    return replace(found, difference=Estimate(value, p=p, reason="few agree"))


@pytest.mark.parametrize(
    ("human", "metric", "higher", "expected"),
    [
        ((0.1, 0.3), (0.1, 0.3), True, "agrees with people"),
        ((0.1, 0.3), (-0.3, -0.1), True, "prefers the wrong one, right"),
        ((0.1, 0.3), (-0.3, -0.1), False, "agrees with people"),
        ((0.1, 0.3), (-0.1, 0.1), True, "does not see it"),
        ((-0.1, 0.3), (0.1, 0.3), True, "prefers left, people neither"),
        ((-0.1, 0.3), (-0.1, 0.3), True, "sees no difference either"),
    ],
)
def test_what_a_metric_says_beside_people(
    human: Any, metric: Any, higher: bool, expected: str
) -> None:
    document = document_of(human, metric, higher)
    assert verdict(document, document.metrics[0]) == expected
    assert wrong_metrics(document) == (["m"] if "wrong" in expected else [])


def test_the_better_one_is_named_with_a_positive_difference() -> None:
    said, often = finding(document_of((-0.5, -0.1), (0.1, 0.2)))
    assert said == "right is better than left by 0.30 points of overall [0.10, 0.50], p = 0.010."
    assert often == "On 4 responses of 4 dialogues left is preferred 3 times, right 1 times; 0 tie."


def test_what_cannot_be_told_apart_is_said_so() -> None:
    assert finding(document_of((-0.5, 0.1), (0.1, 0.2)))[0] == (
        "left and right do not differ significantly: −0.20 points [−0.50, 0.10], p = 0.010."
    )


@pytest.mark.parametrize(
    ("value", "p", "says"),
    [
        (0.0, 1.0, "left and right are level: 0.00 points of overall, without an interval."),
        (1.0, 0.004, "left is ahead by 1.00 points of overall, without an interval, p = 0.004."),
        (-1.0, None, "right is ahead by 1.00 points of overall, without an interval."),
    ],
)
def test_a_gap_without_an_interval_is_told_with_what_is_known(
    value: float, p: float | None, says: str
) -> None:
    document = document_of((-0.5, 0.1), (0.1, 0.2))
    document = replace(document, human=with_difference(document.human, value, p))
    assert finding(document)[0] == says


@pytest.mark.parametrize(
    ("p", "says"), [(0.004, "agrees with people"), (0.2, "does not see it"), (None, "leans to")]
)
def test_a_metric_without_an_interval_prefers_by_its_p(p: float | None, says: str) -> None:
    document = document_of((0.1, 0.3), (0.1, 0.3))
    metric = with_difference(document.metrics[0], 0.2, p)
    assert (verdict(document, metric) or "").startswith(says)


def test_metrics_that_prefer_the_wrong_one_stand_first() -> None:
    document = document_of((0.1, 0.3), (0.1, 0.3))
    (right,) = document.metrics
    wrong = replace(right, metric="z", difference=Estimate(-0.2, (-0.3, -0.1), 0.01))
    table = metrics_table(replace(document, metrics=(right, wrong)), None)
    assert [(row.cell("metric").value, row.badges) for row in table.rows] == [
        ("z", ("misleads",)),
        ("m", ()),
    ]


# --- filters and order ----------------------------------------------------------------------------


@pytest.fixture
def rows(rated: Rated) -> PairRows:
    return PairRows(system_pair(rated(THREE_DIALOGUES), "overall", "a", "b"))


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (PairParams(), [0, 1, 3, 2]),
        (PairParams(sort="first"), [0, 1, 2, 3]),
        (PairParams(sort="second"), [3, 2, 1, 0]),
        (PairParams(sort="place", only="first"), [0, 1]),
        (PairParams(only="second"), [3]),
        (PairParams(only="tie"), [2]),
        (PairParams(dialogue=0), [0, 1]),
        (PairParams(by="length", sort="first"), [3, 1, 2, 0]),
    ],
)
def test_rows_are_chosen_and_ordered(
    rows: PairRows, params: PairParams, expected: list[int]
) -> None:
    assert rows.chosen(params).tolist() == expected


def test_people_come_first_among_the_measures(rows: PairRows) -> None:
    assert rows.measures == [PEOPLE, "length"]


def test_of_a_distance_the_lower_is_the_better(rows: PairRows) -> None:
    (length,) = rows.document.metrics
    distance = replace(length, higher_is_better=False)
    rows = PairRows(replace(rows.document, metrics=(distance,)))
    assert rows.difference("length").tolist() == [3, 2, 2, -3]


def test_filters_stand_in_the_address(client: Client, rated: Rated) -> None:
    rated(THREE_DIALOGUES)
    assert items_on(page_of(client, "?first=a&second=b")) == ["0-0", "0-1", "2-0", "1-0"]
    assert items_on(page_of(client, "?first=a&second=b&only=tie")) == ["1-0"]
    assert items_on(page_of(client, "?first=a&second=b&dialogue=2")) == ["2-0"]
    assert items_on(page_of(client, "?first=a&second=b&by=length&only=first")) == ["2-0"]
    assert (
        items_on(page_of(client, "?first=a&second=b&by=nonsense&sort=x&only=y&dialogue=z&page=99"))
        != []
    )


def test_scores_shown_are_chosen_by_the_address(client: Client, rated: Rated) -> None:
    rated(THREE_DIALOGUES)
    assert "<dt>length</dt>" in page_of(client, "?first=a&second=b")
    assert "<dt>length</dt>" not in page_of(client, "?first=a&second=b&metric=")


def test_each_item_leads_to_its_turn(client: Client, rated: Rated) -> None:
    version = rated(THREE_DIALOGUES)
    said = page_of(client, "?first=a&second=b")
    assert f"/corpora/small/dialogues/0/?aspect=overall&version={version.number}&turn=1" in said


def test_ticked_systems_lead_to_an_address_that_stays(client: Client, rated: Rated) -> None:
    rated(THREE_DIALOGUES)
    answer = client.get(f"{PAGE}?aspect=overall&pick=b&pick=a")
    assert (answer.status_code, answer["Location"]) == (
        302,
        f"{PAGE}?aspect=overall&first=b&second=a",
    )
    assert client.get(f"{PAGE}?pick=b", follow=True).status_code == 200


def test_without_names_the_two_best_are_compared(client: Client, rated: Rated) -> None:
    rated(THREE_DIALOGUES | {(name, 0, "c"): (1, 1) for name in ("d0", "d1", "d2")})
    assert "On 4 responses of 3 dialogues a is preferred 2 times, b 1 times" in page_of(client)


def test_a_system_is_not_compared_with_itself(client: Client, rated: Rated) -> None:
    rated(THREE_DIALOGUES)
    assert "Choose two different systems." in page_of(client, "?first=a&second=a")


def test_one_system_leaves_nothing_to_compare(client: Client, rated: Rated) -> None:
    rated({place: scores for place, scores in THREE_DIALOGUES.items() if place[2] == "a"})
    assert "Nothing to compare" in page_of(client)


# --- the file -------------------------------------------------------------------------------------


def test_the_file_holds_the_items_that_are_chosen(client: Client, rated: Rated) -> None:
    rated(THREE_DIALOGUES)
    answer = client.get(
        f"{PAGE}?first=a&second=b&only=first&download=system-pair.csv"
    ).content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(answer)))
    assert [
        (row["dialogue"], row["turn"], row["response_first"], row["response_second"])
        for row in rows
    ] == [
        ("d0", "0", "x", "xxxx"),
        ("d0", "1", "xx", "xxxx"),
    ]
    assert [(row["human_first"], row["human_second"], row["length first"]) for row in rows] == [
        ("5.0", "2.0", "1.0"),
        ("4.0", "3.0", "2.0"),
    ]


def test_hostile_names_are_text_on_the_page_and_no_formula_in_the_file(
    client: Client, rated: Rated
) -> None:
    names = {"a": "<script>alert(1)</script>", "b": "=1+1"}
    rated(
        {
            (dialogue, turn, names[system]): scores
            for (dialogue, turn, system), scores in THREE_DIALOGUES.items()
        }
    )
    assert "<script>alert" not in client.get(PAGE).content.decode()
    file = client.get(f"{PAGE}?download=system-pair.csv").content.decode()
    assert "'=1+1" in file
    assert ",=1+1" not in file
