"""The end of scoring."""

from __future__ import annotations

import pytest

from leaderboard.challenges.models import Round
from tests.challenges.sets import open_round, scored, team_with_member

pytestmark = pytest.mark.django_db


def test_a_submission_is_scored_when_every_metric_of_its_round_is_computed() -> None:
    round = open_round()
    team, _ = team_with_member(round.challenge)
    done = scored(round, team)
    assert done.system.withheld
    assert sorted(done.system.metric_runs.values_list("configuration", "state")) == [
        ("bleu_4", "done"),
        ("word_f1", "done"),
    ]
    assert Round.objects.get(pk=round.pk).revision == 1
