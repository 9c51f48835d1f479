"""Who organises, a round that takes submissions, and a member of its team, in tests of
challenges."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.challenges.models import Round, Team
from tests.campaigns.sets import made_user
from tests.challenges.sets import open_round


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
    return client


@pytest.fixture
def round() -> Round:
    return open_round()


@pytest.fixture
def member(client: Client, team: Team) -> Client:
    client.force_login(team.members.get().user)
    return client
