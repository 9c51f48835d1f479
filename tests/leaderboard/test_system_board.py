"""The system leaderboard: its sentence, its table, where metrics mislead, profiles; on made corpora
of all shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotations.formats.records import RatingRecord, SystemRecord
from annotations.models import CorpusVersion
from common.estimates import Estimate, Undefined
from common.tables.to_html import TableWriter
from leaderboard.answers.systems import RankedSystem, ScoringMetric, SystemStanding
from leaderboard.pages.systems.misleading import (
    metrics_of,
    misleading_figure,
    misleading_table,
    misleading_text,
    rows_of,
)
from leaderboard.pages.systems.plots import profile_figure, shown_profiles, timeline_figure
from leaderboard.pages.systems.query import misleading_metrics, system_leaderboard, system_profile
from leaderboard.pages.systems.tables import system_board, with_ranks
from leaderboard.pages.systems.text import headline
from tests.annotations.stored import dialogue, rated_corpus, stored
from tests.workers.conftest import odd_metrics  # noqa: F401 (a fixture)

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert('x')</script>=1+1\x01é"[:27]

Made = Callable[..., CorpusVersion]


def row(
    name: str, mean: float | None, ci: tuple[float, float] | None = None, kind: str = "agent"
) -> RankedSystem:
    human = Estimate.undefined("the system has no human ratings")
    if mean is not None:
        human = Estimate(mean, ci, reason="" if ci else "one dialogue")
    return ranked(name, human, kind=kind)


def ranked(
    name: str,
    human: Estimate,
    *,
    kind: str = "agent",
    position: int = 0,
    scores: tuple[float | Undefined, ...] = (),
) -> RankedSystem:
    return RankedSystem(
        system=name,
        kind=kind,
        position=position,
        human=human,
        items=1,
        dialogues=1,
        rank=None,
        worst_rank=None,
        band=None,
        scores=scores,
    )


# --- the sentence ---------------------------------------------------------------------------------


def test_the_headline_names_the_best_and_who_cannot_be_told_from_it() -> None:
    rows = [
        row("low", 2.0, (1.8, 2.2)),
        row("second", 4.0, (3.9, 4.1)),
        row("first", 4.1, (3.95, 4.3)),
    ]
    assert headline(rows) == (
        "first is best (4.10 [3.95, 4.30]); not significantly different from it: second.",
        "",
    )


def test_a_best_that_nobody_reaches_is_clear_of_all_others() -> None:
    finding, _ = headline([row("a", 4.0, (3.9, 4.1)), row("b", 3.0, (2.8, 3.2))])
    assert finding == "a is best (4.00 [3.90, 4.10]), significantly ahead of all others."


def test_where_people_or_gold_answers_are_best_the_best_agent_is_named_too() -> None:
    rows = [
        row("gold", 4.8, (4.7, 4.9), "gold"),
        row("one", 3.5, (3.2, 3.8)),
        row("two", 3.4, (3.1, 3.7)),
        row("three", 2.0, (1.8, 2.2)),
    ]
    finding, beside = headline(rows)
    assert finding.startswith("gold is best")
    assert (
        beside == "The best agent is one (3.50 [3.20, 3.80]), not significantly different from two."
    )


def test_many_that_cannot_be_told_apart_are_counted() -> None:
    finding, _ = headline([row(f"s{n}", 4 - n / 100, (3, 5)) for n in range(9)])
    assert "; not significantly different from it: s1, s2, s3 and 5 more." in finding


def test_without_intervals_nobody_is_called_clear_of_others() -> None:
    finding, _ = headline([row("a", 4.0), row("b", 1.0)])
    assert finding == "a is best (4.00); without an interval nobody can say by how much."


def test_of_equal_means_without_intervals_none_is_best() -> None:
    found = headline([row("a", 3.0), row("b", 3.0), row("c", 2.0)])
    assert found == ("a and b have the highest mean (3.00), without an interval.", "")


def test_of_one_without_an_interval_that_may_be_as_good_nobody_can_say() -> None:
    rows = [row("a", 4.6, (4.4, 4.8)), row("b", 4.5), row("c", 3.0)]
    assert (
        headline(rows)[0]
        == "a is best (4.60 [4.40, 4.80]); of b nobody can say, for want of an interval."
    )


@pytest.mark.parametrize("rows", [[], [row("a", None)]])
def test_without_ratings_nobody_is_best(rows: Sequence[RankedSystem]) -> None:
    assert headline(rows) == ("", "Nobody has rated these systems yet, so none is best.")


# --- made corpora ---------------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path: Path, odd_metrics: None) -> Made:  # noqa: F811
    """{system: [(human score or None, length of the response) in each dialogue]}; scored by
    ``length``."""

    def make(
        systems: dict[str, list[tuple[float | None, int]]],
        kinds: dict[str, str] | None = None,
        aspects: tuple[str, ...] = ("overall",),
        metrics: str = "length",
    ) -> CorpusVersion:
        dialogues = max(len(places) for places in systems.values())
        responses = {
            (f"d{place}", 0, name): "x" * length
            for name, places in systems.items()
            for place, (_, length) in enumerate(places)
        }
        ratings = {
            (f"d{place}", 0, name): {"ann": human}
            for name, places in systems.items()
            for place, (human, _) in enumerate(places)
            if human is not None
        }
        records = rated_corpus(
            [dialogue(f"d{place}") for place in range(dialogues)],
            responses,
            ratings,
            aspects=aspects,
        )
        records = [
            SystemRecord(one.name, kind=(kinds or {}).get(one.name, "agent"))
            if isinstance(one, SystemRecord)
            else one
            for one in records
        ]
        more = [
            RatingRecord(dialogue_id, 0, system, "ann", aspect, scores["ann"])
            for aspect in aspects[1:]
            for (dialogue_id, _, system), scores in ratings.items()
        ]
        version = stored(
            [*records, *more] if len(aspects) == 1 else _woven(records, more), tmp_path
        )
        if metrics:
            call_command("score", corpus="small", metrics=metrics, inline=True)
        version.refresh_from_db()
        return version

    return make


def _woven(records: list[Any], more: list[RatingRecord]) -> list[Any]:
    """Ratings of further aspects stand behind those of the first, in their dialogue."""
    found = []
    for one in records:
        found.append(one)
        if isinstance(one, RatingRecord):
            found += [
                extra
                for extra in more
                if (extra.dialogue_id, extra.system) == (one.dialogue_id, one.system)
            ]
    return found


STEADY: dict[str, list[tuple[float | None, int]]] = {
    "good": [(5, 1), (5, 1), (4, 1), (5, 1), (5, 1), (5, 1)],
    "fair": [(3, 5), (3, 5), (4, 5), (3, 5), (3, 5), (3, 5)],
    "poor": [(1, 9), (1, 9), (2, 9), (1, 9), (1, 9), (1, 9)],
}
"""People: good, fair, poor, clear of one another (means 29/6, 19/6, 7/6 ∓ 0.43). Lengths: the
reverse, for sure."""


def page_of(client: Client, query: str = "") -> str:
    """The board, and what stands beneath it, which it asks for when it is there."""
    said = ""
    for address in (query, f"{query}{'&' if query else '?'}part=more"):
        response = client.get(f"/corpora/small/systems/{address}")
        assert response.status_code == 200
        said += unescape(" ".join(response.content.decode().split()))
    return said


def test_what_stands_beneath_the_board_is_a_page_of_its_own_or_a_part(
    client: Client, made: Made
) -> None:
    made(STEADY)
    board = client.get("/corpora/small/systems/?metric=length").content.decode()
    assert "Where metrics mislead</h2>" not in board
    assert 'hx-get="/corpora/small/systems/?metric=length&amp;part=more"' in board
    part = client.get(
        "/corpora/small/systems/?part=more", headers={"HX-Request": "true"}
    ).content.decode()
    assert "Where metrics mislead</h2>" in part
    assert "<html" not in part


def test_a_metric_that_turns_the_order_round_misleads_on_both_ends(made: Made) -> None:
    document = misleading_metrics(made(STEADY), "overall")
    (found,) = document.metrics
    assert {
        name: (beyond, by_metric)
        for name, beyond, by_metric in (
            (document.systems[one.position].system, one.beyond, one.metric_place)
            for one in found.rows
        )
    } == {"good": (2, 3), "fair": (0, 2), "poor": (-2, 1)}
    assert (found.misled, found.worst, found.placed) == (2, 2, 3)
    assert misleading_text(document) == (
        "1 of 1 metrics put systems where people’s order cannot have them; length misleads most, "
        "on 2 of 3. good: place 1 for people, 3 for the metric."
    )


@pytest.mark.parametrize("part", ["systems", "metrics"])
def test_a_search_that_nothing_fits_leaves_the_finding_as_it_is(
    client: Client, made: Made, part: str
) -> None:
    made(STEADY)
    whole = client.get(f"/corpora/small/{part}/").content.decode()
    found = client.get(f"/corpora/small/{part}/?q=nothing-like-it").content.decode()
    said = '<p class="say">'
    assert whole.split(said)[1].split("</p>")[0] == found.split(said)[1].split("</p>")[0]
    assert f"No {part[:-1]} fits th" in found
    assert "<table" not in found.split("No " + part[:-1])[1].split("</div>")[0]


def test_the_page_says_who_is_best_and_where_the_metric_misleads(
    client: Client, made: Made
) -> None:
    made(STEADY)
    said = page_of(client)
    assert "good is best (4.83 [" in said
    assert "length misleads most, on 2 of 3" in said
    assert "2 too low" in said
    assert 'id="chart-ranks"' in said


def test_the_chosen_metric_stands_in_the_address(client: Client, made: Made) -> None:
    made(STEADY, metrics="length,constant")
    assert "Rank by constant" in page_of(client, "?metric=constant")
    assert client.get("/corpora/small/systems/?metric=nothing").status_code == 404


def test_constant_scores_put_all_systems_in_one_place_and_mislead_nobody(made: Made) -> None:
    document = misleading_metrics(made(STEADY, metrics="constant"), "overall")
    assert [one[4:7] for one in document.metrics[0].rows] == [(1, 1, 3)] * 3
    assert (
        misleading_text(document) == "constant puts no system where people’s order cannot have it."
    )


def test_a_metric_of_references_says_nothing_of_the_gold_answers(made: Made) -> None:
    version = made(STEADY, {"good": "gold"}, metrics="length,word_f1")

    def placed(systems: str | None) -> dict[str, list[int]]:
        found = misleading_metrics(version, "overall", systems).metrics
        return {one.metric: [row.position for row in one.rows] for one in found}

    assert placed(None) == {"length": [1, 2], "word_f1": [1, 2]}  # left out for all metrics alike
    assert placed("all") == {"length": [0, 1, 2], "word_f1": [1, 2]}


def test_agents_alone_are_another_ranking(client: Client, made: Made) -> None:
    version = made(STEADY, {"good": "gold"})
    document = system_leaderboard(version, "overall", "agents")
    assert [(one.system, one.rank) for one in document.systems] == [
        ("fair", 1),
        ("poor", 2),
    ]
    assert "fair is best" in page_of(client, "?systems=agents")
    assert client.get("/corpora/small/systems/?systems=nobody").status_code == 404


def test_one_system_has_nobody_to_be_compared_with(client: Client, made: Made) -> None:
    made({"alone": STEADY["good"]})
    said = page_of(client)
    assert "alone alone is rated: 4.83" in said
    assert "Compare the two" not in said
    assert "Where metrics mislead" not in said


def test_one_dialogue_gives_means_without_ranks(client: Client, made: Made) -> None:
    made({name: places[:1] for name, places in STEADY.items()})
    said = page_of(client)
    assert "good is best (5.00); without an interval nobody can say by how much." in said
    assert "No system is ranked yet" in said


def test_without_ratings_the_page_says_so_and_keeps_the_metrics(client: Client, made: Made) -> None:
    made({name: [(None, length) for _, length in places] for name, places in STEADY.items()})
    said = page_of(client)
    assert "Nobody has rated these systems yet" in said
    assert "Where metrics mislead" not in said
    assert 'data-label="metrics length"' in said


def test_names_that_are_markup_or_formulas_are_text(client: Client, made: Made) -> None:
    made({HOSTILE.replace("\x01", ""): STEADY["good"], "=1+1": STEADY["poor"]})
    raw = client.get("/corpora/small/systems/").content.decode()
    assert "<script>alert" not in raw
    file = client.get("/corpora/small/systems/?download=system-leaderboard.csv").content.decode()
    assert "\r\n=1+1" not in file
    assert "'=1+1" in file


@pytest.mark.slow
def test_ninety_nine_systems_fit(client: Client, made: Made) -> None:
    made(
        {
            f"system {n:02}": [(1 + (n + place) % 5, n % 7 + 1) for place in range(4)]
            for n in range(99)
        }
    )
    said = page_of(client)
    assert said.count('data-id="system-') == 99
    assert "the 30 where the two orders differ most" in said


# --- profiles -------------------------------------------------------------------------------------


def test_a_profile_has_every_aspect_that_people_rated(made: Made) -> None:
    document = system_profile(made(STEADY, aspects=("overall", "wit")))
    assert [(one.aspect, one.level) for one in document.aspects] == [
        ("overall", "turn"),
        ("wit", "turn"),
    ]
    assert [one.value for one in document.aspects[1].systems] == pytest.approx(
        [29 / 6, 19 / 6, 7 / 6]
    )


def test_a_profile_stands_as_shares_of_the_scale(made: Made) -> None:
    document = system_profile(made(STEADY, aspects=("overall", "wit")))
    aspects = tuple(replace(one, scale=(1.0, 5.0)) for one in document.aspects)
    figure = profile_figure(replace(document, aspects=aspects), ())
    good = next(trace for trace in figure.data if trace["name"] == "good")
    assert good["x"] == pytest.approx([(29 / 6 - 1) / 4] * 2)
    assert [annotation["text"] for annotation in figure.layout["annotations"]] == [
        "overall, scale 1 to 5",
        "wit, scale 1 to 5",
    ]


def test_of_many_systems_the_best_few_are_drawn_unless_others_are_chosen(made: Made) -> None:
    version = made(
        {f"s{n}": [(1 + n % 5, 1), (1 + n % 5, 1)] for n in range(12)}, aspects=("overall", "wit")
    )
    document = system_profile(version)
    assert shown_profiles(document, ()) == [4, 9, 3, 8, 2, 7]
    assert shown_profiles(document, {0, 4}) == [4, 0]


def test_one_aspect_has_no_profile(client: Client, made: Made) -> None:
    made(STEADY)
    assert "Profile by aspect" not in page_of(client)


# --- the tables -----------------------------------------------------------------------------------


def test_severity_corrected_means_stand_beside_raw_ones(made: Made) -> None:
    document = system_leaderboard(made(STEADY), "overall")
    table = system_board(document, timezone.now(), (), {0: Estimate(4.5, (4.2, 4.8))})
    cells = {one.id: one.cell("corrected") for one in table.rows}
    assert (cells["system-0"].value, cells["system-0"].ci) == (4.5, (4.2, 4.8))
    assert cells["system-1"].reason == "not computed for this system"


def test_the_rank_by_a_metric_says_where_it_misleads(made: Made) -> None:
    version = made(STEADY)
    places = {one.swatch: one for one in rows_of(misleading_metrics(version, "overall"), "length")}
    board = TableWriter(system_board(system_leaderboard(version, "overall"), timezone.now()))
    cells = [one.cell("by-metric") for one in with_ranks(board, "length", places).table.rows]
    assert [(cell.value, cell.ci, cell.note) for cell in cells] == [
        (3, (3, 3), "ranked 2 too low"),
        (2, (2, 2), ""),
        (1, (1, 1), "ranked 2 too high"),
    ]


def test_metrics_that_mislead_most_stand_first_and_lead_to_their_picture(made: Made) -> None:
    document = misleading_metrics(made(STEADY, metrics="length,constant"), "overall")
    assert [one.metric for one in metrics_of(document.metrics)] == ["length", "constant"]
    table = misleading_table(document, timezone.now(), [("aspect", "overall")])
    assert table.rows[0].cell("metric").href == "?aspect=overall&metric=length#misleading"
    figure = misleading_figure(document, "length")
    assert [(trace["name"], trace["x"]) for trace in figure.data] == [
        ("fair", [2, 2]),
        ("poor", [3, 1]),
        ("good", [1, 3]),
    ]
    assert figure.alternative.startswith("3 systems; length misleads on 2: good")


# --- submissions over time ------------------------------------------------------------------------


def over_time(means: list[float | None], metric: list[float | None]) -> SystemStanding:
    """Systems handed in on days 1, 2, 3, … (but the last, which nobody handed in)."""
    return SystemStanding(
        corpus="small",
        corpus_version="v1",
        aspect="overall",
        design="crossed",
        ci="",
        resamples=0,
        seed=0,
        metrics=(
            ScoringMetric(metric="fbd", signature="", higher_is_better=False, range=(None, None)),
        ),
        handed_in={n: f"2026-01-0{n + 1}T12:00:00+00:00" for n in range(len(means) - 1)},
        systems=tuple(
            ranked(
                f"s{n}",
                Estimate.undefined("none")
                if mean is None
                else Estimate(mean, (mean - 0.5, mean + 0.5)),
                position=n,
                scores=(Undefined("none") if score is None else score,),
            )
            for n, (mean, score) in enumerate(zip(means, metric, strict=True))
        ),
    )


def test_the_line_is_the_best_mean_up_to_then() -> None:
    figure = timeline_figure(over_time([3.0, 2.0, None, 4.0, 5.0], [None] * 5), ())
    assert figure is not None
    line, *points = figure.data
    assert (line["x"], line["y"]) == (
        ["2026-01-01 12:00:00", "2026-01-02 12:00:00", "2026-01-04 12:00:00"],
        [3.0, 3.0, 4.0],
    )
    assert [(point["name"], point["y"], point["error_y"]["array"]) for point in points] == [
        ("s0", [3.0], [0.5]),
        ("s1", [2.0], [0.5]),
        ("s3", [4.0], [0.5]),
    ]
    assert figure.legend == (("s0", 0), ("s3", 3))


def test_without_ratings_the_metric_tells_and_its_direction_counts() -> None:
    figure = timeline_figure(over_time([None] * 4, [0.5, 0.7, 0.2, 0.1]), ())
    assert figure is not None
    assert figure.data[0]["y"] == [0.5, 0.5, 0.2]
    assert figure.layout["yaxis"]["title"]["text"] == "fbd"


@pytest.mark.parametrize("means", [[3.0, 4.0], [3.0, None, 4.0]])
def test_fewer_than_two_submissions_make_no_time_line(means: list[float | None]) -> None:
    assert timeline_figure(over_time(means, [None] * len(means)), ()) is None
