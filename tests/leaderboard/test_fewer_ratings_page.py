"""The page of fewer ratings: what a metric adds where some responses are rated, and what it would
have saved."""

import random

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.answers.fewer_ratings import SystemWidths, WhatIf
from leaderboard.pages.fewer_ratings.figures import (
    SYSTEMS_DRAWN,
    WidthAt,
    benefit_curve,
    width_curve,
)
from leaderboard.pages.fewer_ratings.query import prediction_powered
from leaderboard.pages.fewer_ratings.tables import (
    in_one_sentence,
    metrics_by_correlation,
    points_of_all,
    usual_point,
)
from tests.annotations.stored import dialogue, rated_corpus, stored
from tests.leaderboard.written_answers import correlations_from

pytestmark = pytest.mark.django_db

DIALOGUES = 30


@pytest.fixture
def places():
    """Two systems whose longer responses are the better ones, nearly always; all rated."""
    draw = random.Random(1)
    return {
        (f"d{number}", 0, system): (min(max(round(length / 4 + draw.gauss(0, 0.3)), 1), 5), length)
        for number in range(DIALOGUES)
        for system in ("echo", "dull")
        for length in [draw.randint(4, 20)]
    }


def half_rated(places):
    return {
        place: (score if int(place[0][1:]) < DIALOGUES // 2 else None, length)
        for place, (score, length) in places.items()
    }


def page_of(client: Client, query="") -> str:
    answer = client.get(reverse("fewer-ratings", args=["small"]) + query)
    assert answer.status_code == 200
    text = answer.content.decode()
    return " ".join(text.split()) if "html" in answer["Content-Type"] else text


def test_scores_of_unrated_responses_narrow_the_interval(rated, places):
    document = prediction_powered(rated(half_rated(places)), "overall", "length")
    for system in document.systems:
        assert (system.rated, system.unrated) == (15, 15)
        alone, powered = system.ratings_alone.ci, system.powered.ci
        assert powered[1] - powered[0] < alone[1] - alone[0]
        gain = ((alone[1] - alone[0]) / (powered[1] - powered[0])) ** 2
        assert system.gain.value == pytest.approx(gain)


def test_where_all_is_rated_nothing_is_to_gain_and_the_what_if_says_what_was(rated, places):
    document = prediction_powered(rated(places), "overall", "length")
    assert {one.gain.reason for one in document.systems} == {
        "every response is rated: there is nothing to gain"
    }
    assert [one.dialogues for one in document.what_if] == [10, 12, 15, 20, 25]
    assert document.what_if[0].gain > 1.3
    assert "would have saved" in in_one_sentence(document, document.what_if[0])


def test_the_page_shows_both_intervals_where_some_are_not_rated(rated, places, client):
    rated(half_rated(places))
    text = page_of(client)
    assert "With the ratings there are" in text
    assert "the intervals are as narrow as with up to" in text
    assert "length (r = " in text


def test_the_page_shows_the_what_if_where_all_are_rated(rated, places, client):
    rated(places)
    text = page_of(client, "?dialogues=15")
    assert "With all ratings" in text
    assert "With 15 rated dialogues it would have saved" in text
    assert "Mean width of each system&#x27;s interval with 15 rated dialogues" in text


def test_without_a_wish_the_page_takes_as_many_dialogues_as_do_not_flatter(rated, places, client):
    rated(places)
    assert "interval with 20 rated dialogues" in page_of(client)


def test_points_where_fewer_systems_have_a_width_are_no_points_of_the_curve():
    def point(dialogues, *gains):
        systems = tuple(
            SystemWidths(position=place, width_alone=gain, width=gain, gain=gain)
            for place, gain in enumerate(gains)
        )
        return WhatIf(dialogues=dialogues, width_alone=1.0, width=1.0, gain=1.0, systems=systems)

    alone, both, more = point(10, 1.5, None), point(15, 1.2, 1.1), point(30, 1.1, 1.0)
    points = points_of_all([alone, both, more])
    assert points == [both, more]
    assert usual_point(points) is more
    assert usual_point([both]) is both
    assert usual_point(points_of_all([])) is None


def test_what_the_page_shows_can_be_downloaded(rated, places, client):
    rated(places)
    file = page_of(client, "?download=width-curve-data.csv")
    assert len(file.splitlines()) == 1 + 5


@pytest.mark.parametrize("query", ["?metric=nothing", "?dialogues=11", "?dialogues=x"])
def test_what_is_not_there_is_not_found(rated, places, client, query):
    rated(places)
    assert client.get(reverse("fewer-ratings", args=["small"]) + query).status_code == 404


def test_too_few_rated_dialogues_leave_the_ratings_alone_and_say_so(rated, places, client):
    few = {
        place: (score if int(place[0][1:]) < 5 else None, length)
        for place, (score, length) in places.items()
    }
    document = prediction_powered(rated(few), "overall", "length")
    assert all("at least 10 dialogues, there are 5" in one.gain.reason for one in document.systems)
    assert all(one.powered == one.ratings_alone for one in document.systems)
    assert "Too few dialogues are rated" in page_of(client)


def test_without_a_metric_the_page_says_what_it_takes(tmp_path, client):
    records = rated_corpus(
        [dialogue("d0")], {("d0", 0, "echo"): "yes"}, {("d0", 0, "echo"): {"ann": 3}}
    )
    stored(records, tmp_path)
    assert "No metric has scores of rated responses" in page_of(client)


def row(metric, value, level="turn", higher_is_better=True):
    pearson = {"value": value} if value is not None else {"value": None, "reason": "constant"}
    return {
        "metric": metric,
        "level": level,
        "pearson": pearson,
        "higher_is_better": higher_is_better,
    }


def test_metrics_come_by_correlation_in_their_own_direction_and_undefined_ones_last():
    rows = [
        row("flat", None),
        row("weak", 0.1),
        row("distance", -0.6, higher_is_better=False),
        row("good", 0.5),
    ]
    rows += [row("fbd", 0.9, level="system")]
    names = [metric for metric, _ in metrics_by_correlation(correlations_from(rows=rows))]
    assert names == ["distance", "good", "weak", "flat"]


def test_where_dialogues_were_rated_metrics_come_by_these():
    rows = [
        row("a", 0.1, level="dialogue"),
        row("b", 0.4, level="dialogue"),
        row("a", 0.9, level="system"),
    ]
    assert [metric for metric, _ in metrics_by_correlation(correlations_from(rows=rows))] == [
        "b",
        "a",
    ]


def test_the_curve_draws_the_widths_that_are_in_its_data():
    figure = width_curve(
        [WidthAt(10, 0.9, 0.6, 2.25), WidthAt(20, 0.6, 0.5, 1.44)], figure_id="c", metric="<b>"
    )
    assert [trace["y"] for trace in figure.data] == [[0.9, 0.6], [0.6, 0.5]]
    assert figure.points.rows[0].cell("gain").value == 2.25
    assert all("<b>" not in trace["name"] for trace in figure.data)


def test_of_many_systems_those_are_drawn_for_whom_the_metric_is_worth_most():
    systems = [(f"s{number}", number, [(10, 1 + number / 100), (20, 1.0)]) for number in range(30)]
    figure = benefit_curve(systems, figure_id="w", metric="length")
    assert len(figure.data) == SYSTEMS_DRAWN
    assert figure.data[0]["name"] == "s29"
    assert len(figure.points.rows) == 30
    assert "12 of 30 systems" in figure.caption
