"""Lists of submissions over the API: however many are being scored, they are read at once."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.challenges.models import Submission
from tests.api_client import Program, program_of
from tests.challenges.sets import (
    computed,
    open_challenge,
    open_round,
    small_version,
    submit,
    taken_in,
    team_with_member,
)
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


def queries_of(program: Program, path: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert program.get(path).status_code == 200
    return len(asked)


def test_six_that_are_being_scored_are_read_as_two_are() -> None:
    round = open_round(daily_limit=10)
    team, user = team_with_member(round.challenge)
    program = program_of(user, "read")
    paths = ("/submissions", f"/challenges/{round.challenge.slug}/rounds/{round.slug}/submissions")
    asked = []
    for count in (2, 4):
        for _ in range(count):
            assert taken_in(submit(round, team)).state == Submission.State.SCORING
        program.get("/submissions")  # what is read once and kept
        asked.append([queries_of(program, path) for path in paths])
    assert asked[0] == asked[1]


def test_each_has_the_progress_of_its_own_round_and_system() -> None:
    """Two rounds that ask for different metrics: 1 of 2 is done in one, 0 of 1 in the other; a
    third has ended."""
    challenge, version = open_challenge(), small_version()
    first = open_round(version, challenge)
    second = open_round(version, challenge, metrics=["word_f1"])
    team, user = team_with_member(challenge)
    one, other, done = (
        taken_in(submit(first, team)),
        taken_in(submit(second, team)),
        taken_in(submit(first, team)),
    )
    computed(done)
    ended = {"state": "done", "signature": "s", "system_score": 0.5, "finished_at": timezone.now()}
    MetricRun.objects.filter(system=one.system, configuration="word_f1").update(**ended)
    items = program_of(user, "read").get("/submissions").json()["items"]
    progress = {item["id"]: (item["progress"]["done"], item["progress"]["total"]) for item in items}
    assert progress == {one.public_id: (1, 2), other.public_id: (0, 1), done.public_id: (1, 1)}
