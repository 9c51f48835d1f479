"""The page of a round's leaderboard."""

from __future__ import annotations

import csv
import html
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from common.tables import Column, Table
from leaderboard.challenges.board.history import TeamHistory, history_figure
from leaderboard.challenges.models import Round
from leaderboard.challenges.views.board_table import shown_columns
from tests.campaigns.sets import made_user
from tests.challenges.boards import around, baseline_of, board_round, scored_with, team_of_one

pytestmark = pytest.mark.django_db


def address(round: Round, part: str = "") -> str:
    return reverse("board", args=[round.challenge.slug, round.slug]) + (
        f"?part={part}" if part else ""
    )


def client_of(user: Any = None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def text_of(page: Any) -> str:
    """What a reader sees, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.content.decode()))


def test_everybody_reads_the_board_of_an_open_challenge() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Ours"), [0.5] * 8)
    page = client_of().get(address(round))
    assert page.status_code == 200
    assert "This board counts all 4 dialogues, 8 turns." in text_of(page)
    assert "Ours" in text_of(page)


def test_a_draft_has_no_board_but_for_organisers() -> None:
    round = board_round()
    round.challenge.state = "draft"
    round.challenge.save()
    assert client_of().get(address(round)).status_code == 404
    assert client_of(made_user("lead", "organiser")).get(address(round)).status_code == 200


def test_the_members_of_a_team_are_told_where_it_stands() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    scored_with(round, team, around(0.5), name="take one")
    words = "Ours has rank 1 with “take one”."
    assert words in text_of(client_of(team.members.get().user).get(address(round)))
    assert words not in text_of(client_of().get(address(round)))


def test_only_the_own_submission_is_a_link_for_a_team_and_every_one_for_organisers() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    own = scored_with(round, team, [0.5] * 8)
    other = scored_with(round, team_of_one(round, "Others"), [0.4] * 8)

    def linked(user: Any) -> list[bool]:
        content = client_of(user).get(address(round)).content.decode()
        return [f'href="/submissions/{one.public_id}/"' in content for one in (own, other)]

    assert linked(team.members.get().user) == [True, False]
    assert linked(made_user("lead", "organiser")) == [True, True]
    assert linked(None) == [False, False]


def test_names_are_shown_as_they_are_written() -> None:
    round = board_round()
    scored_with(
        round, team_of_one(round, "<script>alert(1)</script>"), [0.5] * 8, name='"><img src=x>'
    )
    content = client_of().get(address(round)).content.decode()
    assert "<script>alert(1)" not in content
    assert "<img src=x" not in content


def test_a_name_like_a_formula_is_defused_in_the_csv_file() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "=1+1"), [0.5] * 8)
    file = client_of().get(f"{address(round)}?download=public-board.csv")
    rows = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))
    assert not any(cell.startswith("=") for row in rows for cell in row)


def test_the_file_holds_what_the_page_shows() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Ours"), around(0.15))
    file = client_of().get(f"{address(round)}?download=public-board.json").json()
    [row] = file["rows"]
    assert row["cells"]["ranking"]["value"] == pytest.approx(0.15)
    assert row["cells"]["rank"] == {"value": 1, "ci": [1, 1], "letters": "a"}


def test_there_are_no_tabs_where_the_private_board_would_say_the_same() -> None:
    assert b"Private leaderboard" not in client_of().get(address(board_round())).content
    assert b"Private leaderboard" in client_of().get(address(board_round(public_share=0.5))).content


def test_before_the_release_the_private_page_says_when() -> None:
    round = board_round(public_share=0.5, release_at=timezone.now() + timedelta(days=3))
    scored_with(round, team_of_one(round, "Ours"), [0.5] * 8)
    moment = round.release_at.strftime("%Y-%m-%d %H:%M UTC")
    page = client_of().get(address(round, "private"))
    assert f"The private leaderboard is shown to everybody from {moment} on." in text_of(page)
    assert "Ours" not in text_of(page)
    assert (
        client_of().get(f"{address(round, 'private')}&download=private-board.csv").status_code
        == 404
    )


@pytest.mark.parametrize(
    ("fields", "part", "words"),
    [
        ({}, "public", "its best submission, chosen by the public leaderboard's dialogues"),
        ({"entry": "latest"}, "public", "its latest submission."),
        ({"public_share": 0.0}, "public", "its latest submission: this board counts nothing"),
        ({"public_share": 0.0}, "private", "its best submission, chosen by this board's dialogues"),
        (
            {"public_share": 0.5},
            "private",
            "its best submission, chosen by the public leaderboard's dialogues",
        ),
    ],
)
def test_the_note_says_which_submission_stands_there(
    fields: dict[str, Any], part: str, words: str
) -> None:
    round = board_round(**fields)
    scored_with(round, team_of_one(round, "Ours"), around(0.5))
    page = html.unescape(
        text_of(client_of(made_user("lead", "organiser")).get(address(round, part)))
    )
    assert f"Each team appears with {words}" in page


def test_organisers_are_told_that_they_alone_see_the_private_board() -> None:
    round = board_round(public_share=0.5)
    lead = client_of(made_user("lead", "organiser"))
    assert "Only organisers see this leaderboard now." in text_of(
        lead.get(address(round, "private"))
    )
    assert "Only organisers see this leaderboard now." not in text_of(lead.get(address(round)))


def test_an_empty_board_tells_the_first_step() -> None:
    round = board_round()
    page = client_of().get(address(round))
    assert "No scored submissions yet" in text_of(page)
    assert reverse("round", args=[round.challenge.slug, round.slug]) in page.content.decode()


def test_a_board_of_baselines_alone_does_not_say_that_nothing_is_scored() -> None:
    round = board_round()
    baseline_of(round.version, "echo", [0.5] * 8)
    page = client_of().get(address(round))
    assert "No scored submissions yet" not in text_of(page)
    assert "Only baselines so far" in text_of(page)
    assert "The baselines below are there to compare with, and are not ranked." in text_of(page)
    assert "echo" in text_of(page)
    assert reverse("round", args=[round.challenge.slug, round.slug]) in page.content.decode()


def test_an_unknown_part_is_no_page() -> None:
    assert client_of().get(address(board_round(), "secret")).status_code == 404


def test_a_score_over_some_of_the_turns_says_so() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Ours"), [0.5] * 6 + [None] * 2)
    assert "6 of 8 turns have a score" in text_of(client_of().get(address(round)))


def test_a_full_board_takes_few_queries(django_assert_max_num_queries) -> None:
    round = board_round()
    for name in ("One", "Two", "Three", "Four", "Five"):
        scored_with(round, team_of_one(round, name), [0.5] * 8)
    client = client_of(made_user("rita", "rater"))
    client.get(address(round))
    with django_assert_max_num_queries(14):
        client.get(address(round))


def test_what_an_organiser_sees_is_kept_by_no_browser() -> None:
    """The private leaderboard before its release, and the pages of organisers."""
    round = board_round(public_share=0.5)
    lead = client_of(made_user("lead", "organiser"))
    submissions = reverse("challenge-submissions", args=[round.challenge.slug])
    for page in (address(round, "private"), submissions):
        assert "no-store" in lead.get(page)["Cache-Control"], page


# --- the finding, the search and the history ------------------------------------------------------


def test_the_finding_says_who_leads_and_who_is_not_significantly_behind() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Ours"), around(0.5), name="take one")
    scored_with(round, team_of_one(round, "Near"), around(0.49))
    scored_with(round, team_of_one(round, "Far"), around(0.1))
    page = html.unescape(text_of(client_of().get(address(round))))
    assert "Ours leads with “take one”, word_f1 0.500 [" in page
    assert "], not significantly ahead of Near." in page


def test_the_finding_names_a_baseline_that_does_better_than_whoever_leads() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Ours"), around(0.5))
    better = scored_with(round, team_of_one(round, "Organisers"), [0.7] * 8, is_baseline=True)
    said = "The best baseline scores 0.700."
    assert said in text_of(client_of().get(address(round)))
    type(better).objects.filter(pk=better.pk).update(is_baseline=False)
    Round.objects.filter(pk=round.pk).update(revision=round.revision + 1)
    assert "best baseline scores" not in text_of(client_of().get(address(round)))


def test_a_search_and_a_track_leave_what_fits_and_the_ranks_as_they_are() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Ours"), around(0.5))
    scored_with(round, team_of_one(round, "Others"), around(0.1), track="prompt")
    for query in ("q=oTHer", "track=prompt"):
        rows = (
            client_of().get(f"{address(round)}?{query}&download=public-board.json").json()["rows"]
        )
        assert [(row["cells"]["team"]["value"], row["cells"]["rank"]["value"]) for row in rows] == [
            ("Others", 2)
        ]
    assert "No team fits this search" in text_of(client_of().get(f"{address(round)}?q=nobody"))


def test_the_history_has_the_submissions_that_improved_a_team_s_best_score() -> None:
    """0.2, then 0.1, which is no improvement, then 0.3."""
    round = board_round()
    team = team_of_one(round, "Ours")
    for hours, score in enumerate((0.2, 0.1, 0.3)):
        scored_with(round, team, around(score), hours=hours)
    file = client_of().get(f"{address(round)}?download=history-data.json").json()
    points = [(row["cells"]["at"]["value"], row["cells"]["score"]["value"]) for row in file["rows"]]
    assert [at for at, _ in points] == ["2026-11-01 12:00:00", "2026-11-01 14:00:00"]
    assert [score for _, score in points] == pytest.approx([0.2, 0.3])


@pytest.mark.parametrize(("scores", "is_drawn"), [((0.2,), False), ((0.2, 0.3), True)])
def test_a_single_scored_submission_is_no_history(
    scores: tuple[float, ...], is_drawn: bool
) -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    for hours, score in enumerate(scores):
        scored_with(round, team, around(score), hours=hours)
    assert (b'id="chart-history"' in client_of().get(address(round)).content) == is_drawn


def test_until_the_reader_chooses_three_metrics_stand_beside_the_one_that_ranks() -> None:
    columns = [Column(key, key) for key in ("team", "rank", "ranking", "order", "metric-1")]
    columns += [Column(f"metric-{n}", f"m{n}") for n in (2, 3, 4)]
    columns += [Column(key, key) for key in ("name", "track", "submissions", "received")]
    found = shown_columns(Table("t", "T", tuple(columns), ()), [])
    assert found == "team,rank,ranking,metric-1,metric-2,metric-3,name,received"


def test_a_history_of_less_than_an_hour_is_drawn_in_the_middle_of_more() -> None:
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    team = TeamHistory("Ours", 0, ((noon, 0.5),))
    short, long = (
        history_figure([team], metric="word_f1", until=noon + passed).layout["xaxis"]
        for passed in (timedelta(seconds=1), timedelta(days=2))
    )
    assert short["range"] == ["2026-11-20 11:00:00", "2026-11-20 13:00:01"]
    assert "range" not in long


def test_the_history_says_nothing_of_a_private_board_or_of_one_that_counts_nothing() -> None:
    round = board_round(public_share=0.0)
    scored_with(round, team_of_one(round, "Ours"), around(0.5))
    lead = client_of(made_user("lead", "organiser"))
    for part in ("", "private"):
        assert b'id="chart-history"' not in lead.get(address(round, part)).content


def test_a_disqualified_team_has_no_history() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Ours"), around(0.5))
    scored_with(
        round,
        team_of_one(round, "Others"),
        around(0.4),
        disqualified_at=timezone.now(),
        disqualification="it copied",
    )
    file = client_of().get(f"{address(round)}?download=history-data.json").json()
    assert {row["cells"]["team"]["value"] for row in file["rows"]} == {"Ours"}
