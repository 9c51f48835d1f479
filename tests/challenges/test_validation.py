"""From a file to a system of the round's corpus version, or to a report of what is wrong with the
file."""

from __future__ import annotations

import json

import pytest
from django.db import connection

from annotations.campaigns.models import Conflict
from annotations.models import Response, System
from leaderboard.challenges import validation
from leaderboard.challenges.actions import work
from leaderboard.challenges.models import Member, Round, Submission, Team
from tests.campaigns.sets import made_user
from tests.challenges.sets import (
    good_file,
    open_round,
    small_version,
    submit,
    taken_in,
    team_with_member,
)
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge, name="Northlight")[0]


def test_accepted_responses_become_a_withheld_system_with_each_response_at_its_turn(
    round: Round, team: Team
) -> None:
    data = good_file(round.version, "Answer to {turn} of {dialogue}.")
    lines = data.splitlines(keepends=True)
    submission = taken_in(submit(round, team, data=b"".join(reversed(lines)), name="bicycle"))
    assert (submission.state, submission.scoring_at is not None, submission.lease_token) == (
        "scoring",
        True,
        "",
    )
    system = submission.system
    assert (system.name, system.kind, system.withheld) == ("Northlight: bicycle", "agent", True)
    said = Response.objects.filter(system=system).values_list(
        "turn__dialogue__external_id", "turn__number", "text"
    )
    assert sorted(said) == [
        (f"file-{dialogue}", turn, f"Answer to {turn} of file-{dialogue}.")
        for dialogue in range(3)
        for turn in (0, 1)
    ]


def test_every_metric_of_the_round_is_asked_for_public_and_private(team: Team) -> None:
    round = open_round(
        challenge=team.challenge,
        metrics=["word_f1", "bleu_4"],
        private_metrics=["bleu_4", "rouge_l"],
    )
    submission = taken_in(submit(round, team))
    runs = MetricRun.objects.filter(system=submission.system)
    assert sorted(runs.values_list("configuration", flat=True)) == ["bleu_4", "rouge_l", "word_f1"]
    assert "rouge_l" not in " ".join(submission.log.values_list("text", flat=True))


def test_members_of_the_team_must_not_rate_its_system(round: Round, team: Team) -> None:
    second = made_user()
    Member.objects.create(team=team, challenge=round.challenge, user=second)
    submission = taken_in(submit(round, team))
    assert set(
        Conflict.objects.filter(system=submission.system).values_list("user_id", flat=True)
    ) == {member.user_id for member in team.members.all()}


def test_systems_stand_behind_those_of_the_corpus_and_no_two_have_one_name(team: Team) -> None:
    version = small_version(systems=("northwind", "Northlight: bicycle"))
    round = open_round(version, challenge=team.challenge)
    first, second = (taken_in(submit(round, team, name="bicycle")) for _ in range(2))
    assert [(s.system.position, s.system.name) for s in (first, second)] == [
        (2, "Northlight: bicycle (2)"),
        (3, "Northlight: bicycle (3)"),
    ]


def test_a_name_that_is_too_long_for_a_system_keeps_its_number(team: Team) -> None:
    Team.objects.filter(pk=team.pk).update(name="n" * 80)
    round = open_round(challenge=team.challenge)
    names = [taken_in(submit(round, team, name="s" * 80)).system.name for _ in range(2)]
    assert names == [f"{'n' * 80}: {'s' * 80}", f"{'n' * 80}: {'s' * 80} (2)"]


def test_an_invalid_file_stores_nothing_but_its_problems_and_gives_the_attempt_back(
    round: Round, team: Team
) -> None:
    lines = good_file(round.version).splitlines()
    broken = [*lines[:-2], b'{"dialog_id": "file-9", "turn": 0, "response": "x"}', b"{"]
    submission = taken_in(submit(round, team, data=b"\n".join(broken)))
    assert (submission.state, submission.system, submission.day_place) == ("invalid", None, None)
    assert {problem["where"] for problem in submission.problems} >= {5, 6}
    assert all(set(problem) == {"where", "field", "message"} for problem in submission.problems)
    assert System.objects.filter(version=round.version).count() == 0
    assert not submission.more_problems


def test_a_file_of_garbage_has_a_hundred_problems_and_says_that_there_are_more(
    round: Round, team: Team
) -> None:
    data = b'{"dialog_id": "nowhere", "turn": 0, "response": "x"}\n' * 1000
    submission = taken_in(submit(round, team, data=data))
    assert (submission.state, len(submission.problems), submission.more_problems) == (
        "invalid",
        100,
        True,
    )


def test_the_list_of_the_challenge_is_read_too(round: Round, team: Team) -> None:
    data = [
        {"dialog_id": f"file-{dialogue}", "turn_0": "Yes.", "turn_1": "No."}
        for dialogue in range(3)
    ]
    assert taken_in(submit(round, team, data=json.dumps(data).encode())).state == "scoring"


def test_when_storing_breaks_off_nothing_is_left_of_it(
    round: Round, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "RESPONSES_A_BATCH", 2)

    def half(*_: object):
        for number, pair in enumerate(whole(*_)):
            if number == 3:
                raise MemoryError
            yield pair

    whole = validation._by_turn
    submission = submit(round, team)
    with monkeypatch.context() as broken:
        broken.setattr(validation, "_by_turn", half)
        assert taken_in(submission).state == "received"
    assert not System.objects.filter(version=round.version).exists()
    assert not Response.objects.filter(turn__dialogue__version=round.version).exists()
    assert taken_in(submission).state == "scoring"
    assert Response.objects.filter(turn__dialogue__version=round.version).count() == 6


def test_a_round_that_names_an_unknown_metric_fails_its_submissions_and_organisers_read_which(
    round: Round, team: Team
) -> None:
    Round.objects.filter(pk=round.pk).update(private_metrics=["no_such_metric"])
    submission = taken_in(submit(round, team))
    assert (submission.state, submission.day_place) == ("failed", None)
    assert "no_such_metric" not in submission.error
    assert submission.log.filter(for_organisers=True, text__contains="no_such_metric").exists()


def test_a_round_without_metrics_scores_at_once(round: Round, team: Team) -> None:
    Round.objects.filter(pk=round.pk).update(metrics=[])
    assert taken_in(submit(round, team)).state == "scored"


def test_validation_needs_as_many_queries_for_a_large_file_as_for_a_small_one(team: Team) -> None:
    def queries(dialogues: int) -> int:
        round = open_round(small_version(dialogues, 2), challenge=team.challenge)
        submission = submit(round, team)
        before = len(connection.queries_log)
        connection.force_debug_cursor = True
        try:
            taken_in(submission)
        finally:
            connection.force_debug_cursor = False
        return len(connection.queries_log) - before

    assert queries(2) == queries(60)


def test_progress_is_told_while_a_file_is_read(
    round: Round, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int | None]] = []
    report = work.report
    monkeypatch.setattr(
        work,
        "report",
        lambda claim, done, total=None: told.append((done, total)) or report(claim, done, total),
    )
    submission = submit(round, team)
    taken_in(submission)
    assert (0, 6) in told
    assert Submission.objects.get(pk=submission.pk).progress_total == 6
