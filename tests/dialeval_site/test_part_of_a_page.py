"""What htmx is told where a page would lead to the log-in."""

from __future__ import annotations

import pytest
from django.test import Client


@pytest.mark.django_db
def test_a_part_of_a_page_is_no_log_in_page(client: Client) -> None:
    answer = client.get("/campaigns/new/", headers={"HX-Request": "true"})
    assert answer.status_code == 401
    assert answer.content == b""


@pytest.mark.django_db
def test_a_page_still_leads_to_the_log_in_and_back(client: Client) -> None:
    answer = client.get("/campaigns/new/")
    assert (answer.status_code, answer["Location"]) == (
        302,
        "/accounts/login/?next=/campaigns/new/",
    )
