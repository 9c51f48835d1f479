"""A refused upload is answered alike on the round's page and by the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.api_client import program_of
from tests.challenges.pages import hand_in
from tests.challenges.sets import good_file, open_round, submit, team_with_member

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("fields", "data", "status"),
    [
        ({"daily_limit": 1}, None, 409),
        ({"total_limit": 1}, None, 409),
        ({"closes_at": -timedelta(hours=1)}, None, 409),
        ({}, b"PK\x03\x04" + b"0" * 50, 415),
        ({}, b"", 422),
    ],
    ids=["limit-of-the-day", "limit-of-the-round", "closed", "zip", "empty"],
)
def test_page_and_api_answer_a_refused_upload_alike(
    client: Client, fields: dict[str, Any], data: bytes | None, status: int
) -> None:
    now = timezone.now()
    round = open_round(
        **{key: now + one if isinstance(one, timedelta) else one for key, one in fields.items()}
    )
    team, user = team_with_member(round.challenge)
    if "limit" in str(fields):
        submit(round, team)  # the one attempt
    client.force_login(user)
    data = good_file(round.version, "Another.") if data is None else data
    by_page = hand_in(client, round, data)
    where = f"/challenges/{round.challenge.slug}/rounds/{round.slug}/submissions"
    by_api = program_of(user, "submit").upload(where, data, name="first")
    assert (by_page.status_code, by_api.status_code) == (status, status)
