"""Who organises, in tests of challenges."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.campaigns.sets import made_user


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
    return client
