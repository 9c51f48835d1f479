"""Two metrics compared: the stored answer on small corpora worked by hand, and the page that shows
it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from scipy import stats

from annotations.corpora.queries import NotFound
from annotations.models import CorpusVersion, Rating, System
from common.estimates import Estimate
from leaderboard.answers.metric_pair import ComparedLevel, DifferenceOfPair, Drivers, MetricPair
from leaderboard.answers.metrics import NamedMetric
from leaderboard.models import SubmittedMetric, SubmittedScores
from leaderboard.pages.metric_pair.plots import pair_scatter_figures
from leaderboard.pages.metric_pair.query import metric_pair
from leaderboard.pages.metric_pair.tables import comparison_table, difference_figure, verdicts
from leaderboard.queries.system_choice import chosen_systems, system_choices
from leaderboard.statistics.correlation.human_ceiling import LEVELS
from tests.leaderboard.conftest import Rated

pytestmark = pytest.mark.django_db

NAMES = ("echo", "dull", "odd", "loud", "calm")
BACKWARDS = [0.0, 1.0, 3.0, 2.0, 4.0]
HOSTILE = "<script>alert('x')</script>=1+1"


def crossed(
    length: Callable[[int, int], int], human: Callable[[int, int], float]
) -> dict[tuple[str, int, str], Any]:
    """Five systems in six dialogues of one turn: (dialogue, turn, system) → (human score, length of
    the response)."""
    return {
        (f"d{dialogue}", 0, name): (human(system, dialogue), length(system, dialogue))
        for dialogue in range(6)
        for system, name in enumerate(NAMES)
    }


@pytest.fixture
def version(rated: Rated) -> CorpusVersion:
    """People rate system 0 best; so says length, but for some noise; what was handed in turns the
    systems round."""
    places = crossed(
        lambda system, dialogue: 40 - 6 * system + (dialogue * 7 + system * 3) % 5,
        lambda s, d: 5 - 0.8 * s - (d % 2) * 0.5,
    )
    version = rated(places)
    handed_in(version, "backwards", BACKWARDS)
    return version


def handed_in(
    version: CorpusVersion, name: str, of_systems: list[float], **fields: Any
) -> SubmittedMetric:
    """Scores of turns: every response of a system has the system's score, and a little of its
    own."""
    metric = SubmittedMetric.objects.create(
        version=version, name=name, level="turn", sha256="0" * 64, **fields
    )
    for system in version.systems.all():
        scores = [of_systems[NAMES.index(system.name)] + turn / 100 for turn in range(6)]
        SubmittedScores.objects.create(
            metric=metric, system=system, scores=scores, system_score=sum(scores) / 6
        )
    return metric


def said(client: Client, query: str = "first=length&second=backwards", status: int = 200) -> str:
    answer = client.get(f"/corpora/small/metrics/compare/?{query}")
    assert answer.status_code == status
    return answer.content.decode()


# --- the answer -----------------------------------------------------------------------------------


def test_correlations_and_their_difference_are_scipy_s(version: CorpusVersion) -> None:
    document = metric_pair(version, "overall", "length", "backwards")
    human, length, backwards = [], [], []
    for dialogue in range(6):
        for system in range(5):
            human.append(5 - 0.8 * system - (dialogue % 2) * 0.5)
            length.append(40 - 6 * system + (dialogue * 7 + system * 3) % 5)
            backwards.append(BACKWARDS[system] + dialogue / 100)
    turn = document.levels["turn"]
    assert turn.n == 30
    for name, function in (("pearson", stats.pearsonr), ("kendall", stats.kendalltau)):
        first, second = function(human, length).statistic, function(human, backwards).statistic
        found = turn.coefficients[name]
        assert found.first.value == pytest.approx(first)
        assert found.second.value == pytest.approx(second)
        assert found.difference.value == pytest.approx(first - second)
    assert document.drivers.difference == pytest.approx(
        turn.coefficients["pearson"].difference.value, abs=1e-9
    )


def test_all_tests_see_a_metric_that_turns_the_systems_round(version: CorpusVersion) -> None:
    """Six dialogues allow 2⁶ swaps, of which two at most give so large a difference: p is near
    1/32."""
    levels = metric_pair(version, "overall", "length", "backwards").levels
    turn, system = (levels[level].coefficients["pearson"].tests for level in ("turn", "system"))
    assert turn["perm-input"].value == pytest.approx(1 / 32, abs=0.02)
    assert turn["perm-both"].value < 0.05
    assert system["williams"].value < 0.05


def test_a_metric_against_its_own_copy_differs_in_nothing(version: CorpusVersion) -> None:
    handed_in(version, "copy", [2 * one for one in BACKWARDS])
    document = metric_pair(version, "overall", "backwards", "copy")
    numbers = document.levels["system"].coefficients["pearson"]
    assert numbers.difference.value == pytest.approx(0, abs=1e-9)
    assert numbers.tests["williams"].value is None
    assert "on one line" in numbers.tests["williams"].reason


def test_lower_is_better_is_turned_round_on_every_number(version: CorpusVersion) -> None:
    handed_in(version, "distance", BACKWARDS, higher_is_better=False)
    document = metric_pair(version, "overall", "distance", "backwards")
    numbers = document.levels["turn"].coefficients["pearson"]
    assert numbers.first.value == pytest.approx(-numbers.second.value)
    assert numbers.first.value > 0.8
    assert any("turned round" in note for note in comparison_table(document, None).notes)


def test_a_metric_of_whole_systems_is_compared_at_system_level_alone(
    version: CorpusVersion,
) -> None:
    call_command("score", corpus="small", metrics="system_length", inline=True)
    version.refresh_from_db()
    document = metric_pair(version, "overall", "length", "system_length")
    assert document.levels["turn"].reason == "one of the two has no scores of single responses"
    system = document.levels["system"]
    assert system.n == 5
    tests = system.coefficients["pearson"].tests
    assert tests["perm-sys"].value is not None
    assert "no scores of single dialogues" in tests["perm-both"].reason
    assert document.drivers.level == "system"
    assert "jackknife over dialogues" in verdicts(document, "pearson")[2].words


def test_a_choice_of_systems_changes_the_numbers_and_an_unknown_one_is_refused(
    version: CorpusVersion,
) -> None:
    version.systems.filter(name="echo").update(kind=System.Kind.HUMAN)
    assert [one.key for one in system_choices(version)] == ["all", "without-people"]
    assert [one.name for one in chosen_systems(version, "agents")] == list(NAMES[1:])
    assert metric_pair(version, "overall", "length", "backwards", "agents").levels["system"].n == 4
    with pytest.raises(NotFound, match="no choice of systems"):
        chosen_systems(version, "round:cup/first")


def test_where_all_are_agents_there_is_nothing_to_choose(version: CorpusVersion) -> None:
    assert [one.key for one in system_choices(version)] == ["all"]


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        ({("d0", 0, "echo"): (1, 3), ("d0", 0, "dull"): (2, 5)}, "at least 3 pairs"),
        ({(f"d{n}", 0, "echo"): (3, n + 1) for n in range(4)}, "all human scores are equal"),
        ({(f"d{n}", 0, "echo"): (None, n + 1) for n in range(4)}, "nobody rated"),
    ],
    ids=["two responses", "constant people", "nobody"],
)
def test_small_and_dull_corpora_say_why_nothing_is_compared(
    rated: Rated, places: Any, reason: str
) -> None:
    version = rated(places)
    metric = SubmittedMetric.objects.create(
        version=version, name="backwards", level="turn", sha256="0" * 64
    )
    for system in version.systems.all():
        scores = [float(system.position + turn) for turn in range(version.dialogues.count())]
        SubmittedScores.objects.create(
            metric=metric, system=system, scores=scores, system_score=1.0
        )
    document = metric_pair(version, "overall", "length", "backwards")
    assert reason in verdicts(document, "pearson")[0].words
    assert document.drivers.reason
    assert difference_figure(document, "pearson").is_empty
    comparison_table(document, None)


def test_one_system_or_one_dialogue_leaves_nothing_to_swap(rated: Rated) -> None:
    version = rated({("d0", turn, "echo"): (1 + turn % 3, 3 + turn) for turn in range(5)})
    metric = SubmittedMetric.objects.create(
        version=version, name="backwards", level="turn", sha256="0" * 64
    )
    scores = [5.0, 1.0, 3.0, 4.0, 2.0]
    SubmittedScores.objects.create(
        metric=metric, system=version.systems.get(), scores=scores, system_score=3.0
    )
    turn = metric_pair(version, "overall", "length", "backwards").levels["turn"]
    assert "nothing can be swapped" in turn.coefficients["pearson"].tests["perm-sys"].reason
    assert "at least 2 dialogues" in turn.coefficients["pearson"].difference.reason


# --- the page -------------------------------------------------------------------------------------


def test_the_page_says_which_is_better_and_shows_what_makes_it(
    version: CorpusVersion, client: Client
) -> None:
    page = said(client)
    assert "length correlates better with human ratings than backwards, r higher by" in page
    assert "jackknife over dialogues, for other dialogues with these 5 systems" in page
    assert "length is nearer to people" in page
    assert "/corpora/small/dialogues/" in page
    table = client.get(
        "/corpora/small/metrics/compare/"
        "?first=length&second=backwards&download=metric-comparison.csv"
    )
    rows = list(csv.DictReader(table.content.decode("utf-8-sig").splitlines()))
    assert [row["level"] for row in rows] == ["turn"] * 3 + ["dialogue"] * 3 + ["system"] * 3


def test_every_file_of_the_page_can_be_had(version: CorpusVersion, client: Client) -> None:
    for name, rows in (
        ("pair-turn-data", 30),
        ("pair-system-data", 5),
        ("differences-data", 3),
        ("first-nearer", 8),
    ):
        answer = client.get(
            f"/corpora/small/metrics/compare/?first=length&second=backwards&download={name}.csv"
        )
        assert answer.status_code == 200, name
        assert len(list(csv.DictReader(answer.content.decode("utf-8-sig").splitlines()))) == rows, (
            name
        )


def test_ticks_of_the_board_lead_to_the_address_of_the_pair(
    version: CorpusVersion, client: Client
) -> None:
    answer = client.get(
        "/corpora/small/metrics/compare/?aspect=overall&pick=length&pick=backwards&pick=length"
    )
    assert answer.status_code == 302
    assert (
        answer["Location"]
        == "/corpora/small/metrics/compare/?aspect=overall&first=length&second=backwards"
    )
    assert "Choose two metrics" in said(client, "first=length")
    assert "does not differ from itself" in said(client, "first=length&second=length")


@pytest.mark.parametrize(
    "query",
    [
        "first=nothing&second=length",
        "first=length&second=backwards&systems=none",
        "coefficient=best",
    ],
)
def test_what_is_not_there_is_no_page(version: CorpusVersion, client: Client, query: str) -> None:
    said(client, query, status=404)


def test_without_ratings_the_page_says_that_they_are_missing_not_the_metrics(
    rated: Rated, client: Client
) -> None:
    rated(
        {
            (f"d{dialogue}", 0, name): (None, dialogue + 1)
            for dialogue in range(3)
            for name in ("echo", "dull")
        }
    )
    page = said(client, "first=length&second=word_f1")
    assert "Nobody has rated it." in page
    assert "is not computed on this corpus" not in page


def test_the_file_of_the_drawing_holds_every_point_and_nothing_is_computed_for_it(
    version: CorpusVersion, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = pair_scatter_figures(version, "overall", "length", "backwards")
    said(client)

    def in_a_request(*_given: Any) -> None:
        raise AssertionError("computed in a request")

    monkeypatch.setattr("leaderboard.pages.metric_pair.plots.pair_at", in_a_request)
    for figure in figures:
        file = said(client, f"first=length&second=backwards&download={figure.points.id}.csv")
        assert [list(map(as_number, row[:-1])) for row in csv.reader(file.splitlines())][1:] == [
            [as_number(str(row.cell(column.key).value)) for column in figure.points.columns]
            for row in figure.points.rows
        ]
    assert [len(figure.points.rows) for figure in figures] == [30, 5]


def as_number(text: str) -> Any:
    """Nine digits are kept; the last column is the signature."""
    try:
        return float(f"{float(text):.9g}")
    except ValueError:
        return text


def test_with_one_metric_it_says_that_there_are_not_two(rated: Rated, client: Client) -> None:
    rated(crossed(lambda s, d: s + d + 1, lambda s, d: 1.0 + s))
    assert "There are not two metrics to compare" in said(client, "")


def test_a_hostile_name_is_text(version: CorpusVersion, client: Client) -> None:
    handed_in(version, HOSTILE, BACKWARDS)
    from urllib.parse import urlencode

    page = said(client, urlencode({"first": HOSTILE, "second": "length"}))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_withheld_system_s_responses_are_not_shown_any_more(
    version: CorpusVersion, client: Client
) -> None:
    """The stored answer names the places; who reads them looks whether they are shown still."""
    from leaderboard.pages.metric_pair.query import drivers_with_texts

    drivers = metric_pair(version, "overall", "length", "backwards").drivers.first
    before = {one.system for one in drivers_with_texts(version, drivers)}
    version.systems.filter(name="echo").update(withheld=True)
    assert before - {one.system for one in drivers_with_texts(version, drivers)} == {"echo"}


# --- the board's page -----------------------------------------------------------------------------


def board(client: Client, query: str = "", status: int = 200) -> str:
    answer = client.get(f"/corpora/small/metrics/?{query}")
    assert answer.status_code == status
    return answer.content.decode()


def test_the_board_begins_with_its_sentence_and_has_ticks(
    version: CorpusVersion, client: Client
) -> None:
    page = board(client)
    assert "length correlates best with human ratings at turn level: r = " in page
    assert 'name="pick" value="length" form="compare"' in page
    finding, chart = page.index("correlates best with human"), page.index('id="chart-forest-turn"')
    assert finding < page.index('id="table-metric-') < chart


def test_filters_that_leave_nothing_say_so(version: CorpusVersion, client: Client) -> None:
    page = board(client, "origin=submitted&method=lexical")
    assert "No metric fits these filters" in page
    assert "1 metric left out" in board(client, "origin=submitted")
    board(client, "origin=nowhere", status=404)


def test_the_board_says_how_long_a_metric_takes(version: CorpusVersion, client: Client) -> None:
    table = client.get("/corpora/small/metrics/?download=metric-leaderboard.json").json()
    cells = {row["id"]: row["cells"] for row in table["rows"]}
    assert cells["metric-length"]["seconds_per_1000"]["value"] >= 0
    assert "computed elsewhere" in cells["metric-backwards"]["seconds_per_1000"]["reason"]


def test_without_ratings_or_metrics_the_board_says_why(
    rated: Rated, client: Client, tmp_path: Path
) -> None:
    rated({(f"d{n}", 0, "echo"): (None, n + 1) for n in range(3)})
    assert "Nobody has rated it" in board(client)
    assert Rating.objects.count() == 0


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        ((0.14, 0.13, 0.15), "r higher by 0.14 [0.13, 0.15]"),
        ((0.0039, 0.0012, 0.0066), "r higher by 0.004 [0.001, 0.007]"),
        ((0.00021, 0.00011, 0.00031), "r higher by 0.0002 [0.0001, 0.0003]"),
        ((0.00004, -0.1, 0.1), "r higher by 0.00 [−0.10, 0.10]"),
        ((-0.0039, -0.0066, -0.0012), "r higher by 0.004 [0.001, 0.007]"),
    ],
)
def test_a_small_gap_is_said_with_as_many_digits_as_show_it(
    gap: tuple[float, float, float], said: str
) -> None:
    value, low, high = gap
    numbers = DifferenceOfPair(
        first=Estimate(0.5),
        second=Estimate(0.5),
        difference=Estimate(value, (low, high)),
        tests={"perm-sys": Estimate(0.0001)},
    )
    level = ComparedLevel(coefficients={"pearson": numbers}, advised="perm-sys")
    document = MetricPair(
        corpus="small",
        corpus_version="v1",
        aspect="overall",
        systems_chosen="all",
        design="crossed",
        metrics=tuple(
            NamedMetric(metric=name, higher_is_better=True, signature="") for name in ("one", "two")
        ),
        permutations=1000,
        resamples=1000,
        seed=0,
        levels=dict.fromkeys(LEVELS, level),
        drivers=Drivers(level="turn"),
    )
    words = verdicts(document, "pearson")[0].words
    assert said in words
    assert words.startswith("two correlates" if value < 0 else "one correlates")
