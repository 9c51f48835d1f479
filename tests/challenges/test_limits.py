"""Limits are a rule of the database: places, of which no two are the same and none is above the
limit."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.challenges.actions import receiving, work
from leaderboard.challenges.actions.receiving import NotTaken, receive
from leaderboard.challenges.models import Round, Submission, Team
from leaderboard.challenges.queries import attempts
from leaderboard.challenges.queries.attempts import attempts_left
from tests.at_once import at_once
from tests.campaigns.sets import made_user
from tests.challenges.sets import open_round, submit, team_with_member, upload_of

GIVEN_BACK = {"day_place": None, "total_place": None}


def round_and_team(**fields: object) -> tuple[Round, Team]:
    round = open_round(**fields)
    return round, team_with_member(round.challenge)[0]


def end_without_score(submission: Submission, state: str = "failed") -> None:
    Submission.objects.filter(pk=submission.pk).update(
        state=state, error="for the test", ended_at=timezone.now(), **GIVEN_BACK
    )


def code_of(round: Round, team: Team) -> str:
    with pytest.raises(NotTaken) as refused:
        submit(round, team)
    return refused.value.code


def left(round: Round, team: Team) -> tuple[int, int]:
    found = attempts_left(round, team, timezone.now())
    return found.day_left, found.total_left


@pytest.mark.django_db
def test_attempts_are_counted_down_to_the_limit_of_the_day() -> None:
    round, team = round_and_team(daily_limit=2, total_limit=10)
    assert left(round, team) == (2, 10)
    submit(round, team)
    assert left(round, team) == (1, 9)
    submit(round, team)
    assert left(round, team) == (0, 8)
    assert code_of(round, team) == "limit_day"


@pytest.mark.django_db
def test_files_that_come_to_nothing_have_an_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """One attempt a day: three files a day, were it not ten for each."""
    monkeypatch.setattr(receiving, "FILES_FOR_AN_ATTEMPT", 3)
    round, team = round_and_team(daily_limit=1, total_limit=10)
    for state in ("failed", "cancelled", "invalid"):
        assert left(round, team) == (1, 10)
        end_without_score(submit(round, team), state)
    with pytest.raises(NotTaken) as refused:
        submit(round, team)
    assert (refused.value.code, "3 files today" in str(refused.value)) == ("limit_day", True)


@pytest.mark.django_db
def test_the_next_day_there_are_attempts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    round, team = round_and_team(daily_limit=1, total_limit=2)
    submit(round, team)
    tomorrow = timezone.now() + timedelta(days=1)
    assert attempts_left(round, team, tomorrow).day_left == 1
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    assert submit(round, team).total_place == 2
    assert code_of(round, team) == "limit_total"


@pytest.mark.django_db
def test_no_more_attempts_are_left_today_than_in_the_round() -> None:
    round, team = round_and_team(daily_limit=5, total_limit=3)
    submit(round, team)
    assert left(round, team) == (2, 2)  # not 4 of the day: 3 − 1 of the round


@pytest.mark.parametrize("state", ["invalid", "failed", "cancelled"])
@pytest.mark.django_db
def test_what_ended_without_a_score_is_not_counted(state: str) -> None:
    round, team = round_and_team(daily_limit=1)
    end_without_score(submit(round, team), state)
    assert left(round, team) == (1, 100)
    assert submit(round, team).day_place == 1


@pytest.mark.django_db
def test_a_place_that_was_given_back_is_taken_again() -> None:
    round, team = round_and_team(daily_limit=3)
    _, second, _ = (submit(round, team) for _ in range(3))
    end_without_score(second)
    assert submit(round, team).day_place == 2
    assert code_of(round, team) == "limit_day"


@pytest.mark.django_db
def test_a_lowered_limit_leaves_none_even_where_a_low_place_is_free() -> None:
    round, team = round_and_team(daily_limit=5)
    submissions = [submit(round, team) for _ in range(4)]
    end_without_score(submissions[0])
    Round.objects.filter(pk=round.pk).update(daily_limit=3)
    round.refresh_from_db()
    assert left(round, team)[0] == 0  # places 2, 3, 4 are held; place 1 is free, but three count
    assert code_of(round, team) == "limit_day"


@pytest.mark.django_db
def test_teams_and_rounds_do_not_take_each_others_places() -> None:
    round, team = round_and_team(daily_limit=1)
    other_team, _ = team_with_member(round.challenge)
    other_round = open_round(challenge=round.challenge, daily_limit=1)
    assert [
        submit(*pair).day_place
        for pair in ((round, team), (round, other_team), (other_round, team))
    ] == [1, 1, 1]


def test_days_are_counted_in_utc_wherever_the_server_is() -> None:
    late_in_new_york = datetime.fromisoformat("2026-03-01T20:30:00-05:00")
    assert attempts.day_of(late_in_new_york) == date(2026, 3, 2)


@pytest.mark.django_db
def test_the_count_begins_anew_at_midnight_utc() -> None:
    round, team = round_and_team()
    found = attempts_left(round, team, datetime(2026, 12, 31, 23, 59, tzinfo=UTC))
    assert found.resets_at == datetime(2027, 1, 1, tzinfo=UTC)


# --- whatever the code does wrong -----------------------------------------------------------------


def by_hand(round: Round, team: Team, number: int, **places: object) -> Submission:
    fields = {"day": date(2026, 3, 1), "day_limit": 5, "total_limit": 100, **places}
    return Submission.objects.create(
        kind="responses",
        track="gpu",
        round=round,
        team=team,
        version=round.version,
        name="by hand",
        file_name="x",
        stored_as=f"{round.pk}-{team.pk}-{number}",
        size=1,
        sha256=f"{number:064x}",
        **fields,
    )


@pytest.mark.parametrize(
    "places",
    [
        {"day_place": 1, "total_place": 2},
        {"day_place": 2, "total_place": 1},
        {"day_place": 6, "total_place": 6},
        {"day_place": 2, "total_place": 101},
        {"day_place": 0, "total_place": 2},
        {"day_place": None, "total_place": 2},
        {"day_place": 2, "total_place": None},
        {"day_place": 2, "total_place": 2, "day": None},
        {"day_place": 2, "total_place": 2, "day_limit": 1},
    ],
)
@pytest.mark.django_db
def test_the_database_refuses_a_place_that_is_taken_above_the_limit_or_none(places: dict) -> None:
    round, team = round_and_team()
    by_hand(round, team, 1, day_place=1, total_place=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        by_hand(round, team, 2, **places)


@pytest.mark.django_db
def test_the_database_refuses_the_same_bytes_twice() -> None:
    round, team = round_and_team()
    by_hand(round, team, 1, day_place=1, total_place=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.create(
            kind="responses",
            track="gpu",
            round=round,
            team=team,
            version=round.version,
            name="by hand",
            file_name="x",
            stored_as="another",
            size=1,
            sha256=f"{1:064x}",
            day=date(2026, 3, 1),
            day_place=2,
            day_limit=5,
            total_place=2,
            total_limit=100,
        )


# --- at the same instant --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_twenty_uploads_at_once_exactly_five_are_taken() -> None:
    round, team = round_and_team(daily_limit=5)
    user = team.members.get().user
    files = [upload_of(f"upload {number}".encode()) for number in range(20)]
    outcomes = at_once(
        *[
            partial(receive, round, team, user, track="gpu", name="s", description="", upload=file)
            for file in files
        ]
    )
    refused = [one for one in outcomes if isinstance(one, Exception)]
    assert len(outcomes) - len(refused) == 5
    assert [getattr(one, "code", one) for one in refused] == ["limit_day"] * 15
    places = (
        Submission.objects.filter(round=round)
        .order_by("day_place")
        .values_list("day_place", "total_place")
    )
    assert list(places) == [(place, place) for place in range(1, 6)]


@pytest.mark.django_db(transaction=True)
def test_the_same_bytes_ten_times_at_once_are_one_submission() -> None:
    round, team = round_and_team(daily_limit=5)
    user = team.members.get().user
    files = [upload_of(b"the same") for _ in range(10)]
    outcomes = at_once(
        *[
            lambda f=f: receive(round, team, user, track="gpu", name="s", description="", upload=f)
            for f in files
        ]
    )
    assert sorted(one.is_new for one in outcomes) == [False] * 9 + [True]
    assert Submission.objects.filter(round=round).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_organisers_who_retry_two_submissions_at_once_give_them_two_places() -> None:
    round, team = round_and_team(daily_limit=5)
    failed = [submit(round, team) for _ in range(4)]
    for one in failed:
        end_without_score(one)
    organiser = made_user("", "organiser")
    outcomes = at_once(*[lambda s=s: work.retry(s, organiser) for s in failed])
    assert outcomes == [None] * 4
    places = sorted(Submission.objects.filter(round=round).values_list("day_place", "total_place"))
    assert places == [(1, 1), (2, 2), (3, 3), (4, 4)]
