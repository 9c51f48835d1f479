"""Leaderboards of a corpus may be of the systems of one round or track: of those that are
published."""

from __future__ import annotations

import pytest

from leaderboard.queries.system_choice import system_choices
from tests.challenges.boards import board_round, scored_with, team_of_one

pytestmark = pytest.mark.django_db


def test_published_systems_can_be_chosen_by_round_and_by_track_and_withheld_ones_by_nothing() -> (
    None
):
    round = board_round(dialogues=1, turns=1)
    team = team_of_one(round, "Mira")
    gpu = scored_with(round, team, [0.5], withheld=False).system
    prompt = scored_with(round, team, [0.4], withheld=False, track="prompt").system
    scored_with(round, team, [0.3])
    found = {one.key: set(one.systems) for one in system_choices(round.version)}
    assert gpu is not None
    assert prompt is not None
    assert found["all"] == {gpu.pk, prompt.pk}
    assert found["track:gpu"] == {gpu.pk}
    assert found["track:prompt"] == {prompt.pk}
    # All that are shown are of this round
    assert not any(key.startswith("round:") for key in found)
