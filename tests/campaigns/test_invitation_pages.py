"""Invitations over HTTP: making and revoking links, and how people come in by them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.actions import invitations, setup
from annotations.campaigns.models import Campaign
from tests.campaigns.sets import made_campaign, made_user

pytestmark = pytest.mark.django_db
PASSWORD = "a door of seven colours"


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
    return client


def link_of(campaign: Campaign, **fields: Any) -> str:
    return reverse("campaign-join", args=[invitations.invite(campaign, **fields).token])


def account(**changes: str) -> dict[str, str]:
    return {"username": "ada", "password": PASSWORD, "again": PASSWORD, **changes}


def test_a_link_is_made_listed_and_revoked(organiser: Client) -> None:
    campaign = made_campaign()
    organiser.post(
        reverse("campaign-invite", args=[campaign.slug]), {"note": "class", "most_uses": "3"}
    )
    invitation = campaign.invitations.get()
    page = organiser.get(reverse("campaign", args=[campaign.slug])).content.decode()
    assert f"http://testserver/join/{invitation.token}/" in page
    assert "used 0 of 3 times" in page
    organiser.post(reverse("campaign-revoke", args=[campaign.slug, invitation.pk]))
    assert "revoked" in organiser.get(reverse("campaign", args=[campaign.slug])).content.decode()


@pytest.mark.parametrize(
    "changes",
    [
        {"most_uses": "0"},
        {"most_uses": "9" * 20},
        {"note": "a\0"},
        {"expires_at": "x"},
        {"expires_at": "2020-01-01T00:00"},
    ],
)
def test_a_bad_invitation_is_refused(organiser: Client, changes: dict[str, str]) -> None:
    campaign = made_campaign()
    assert (
        organiser.post(reverse("campaign-invite", args=[campaign.slug]), changes).status_code == 422
    )
    assert not campaign.invitations.exists()


def test_another_campaign_s_invitation_cannot_be_revoked_here(organiser: Client) -> None:
    one, other = made_campaign(), made_campaign()
    invitation = invitations.invite(other)
    assert (
        organiser.post(reverse("campaign-revoke", args=[one.slug, invitation.pk])).status_code
        == 404
    )


def test_who_has_no_account_makes_one_and_takes_part(client: Client) -> None:
    campaign = made_campaign()
    response = client.post(link_of(campaign), account())
    assert response.headers["Location"] == reverse("rating-start", args=[campaign.slug])
    assert campaign.participations.get().user.username == "ada"
    assert client.get(response.headers["Location"]).status_code == 200


def test_who_makes_an_account_is_logged_in_whoever_guessed_before(client: Client) -> None:
    for number in range(12):
        Client().post(reverse("login"), {"username": "ada", "password": f"guess {number}"})
    campaign = made_campaign()
    response = client.post(link_of(campaign), account())
    assert response.headers["Location"] == reverse("rating-start", args=[campaign.slug])
    assert client.session["_auth_user_id"] == str(campaign.participations.get().user.pk)


def test_who_is_logged_in_takes_part_with_one_button(client: Client) -> None:
    campaign = made_campaign()
    client.force_login(made_user("bob"))
    address = link_of(campaign)
    assert "username" not in client.get(address).content.decode().split("<main")[1]
    client.post(address)
    assert campaign.participations.get().user.username == "bob"
    assert client.get(address).headers["Location"] == reverse("rating-start", args=[campaign.slug])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "two words"}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": "a\0b"}, "username"),
        ({"username": "OLGA"}, "username"),
        ({"password": "12345678", "again": "12345678"}, "password"),
        ({"password": "short", "again": "short"}, "password"),
        (
            {"password": "demo-rater", "again": "demo-rater"},
            "password",
        ),  # opens nothing in production
        ({"password": "x" * 1001, "again": "x" * 1001}, "password"),
        ({"again": "something else"}, "again"),
    ],
)
def test_a_bad_account_is_refused_and_nothing_is_stored(
    client: Client, changes: dict[str, str], field: str
) -> None:
    made_user("olga")
    campaign = made_campaign()
    response = client.post(link_of(campaign), account(**changes))
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert PASSWORD not in response.content.decode()
    assert not campaign.participations.exists()
    assert campaign.invitations.get().uses == 0


def test_a_token_that_nobody_made_tells_nothing(client: Client) -> None:
    campaign = made_campaign()
    invitations.invite(campaign)
    for token in ("abc", campaign.slug, "x" * 500, "%00", "%E2%80%AE"):
        response = client.get(f"/join/{token}/")
        assert response.status_code == 404
        assert campaign.name not in response.content.decode()


@pytest.mark.parametrize(
    ("why", "status", "words"),
    [
        ("revoked", 410, "It was revoked"),
        ("used_up", 410, "As many people"),
        ("closed", 410, "has ended"),
        ("draft", 200, "Not open yet"),
    ],
)
def test_a_link_that_no_longer_works_says_why_kindly(
    client: Client, why: str, status: int, words: str
) -> None:
    campaign = made_campaign(opened=why != "draft")
    invitation = invitations.invite(campaign, most_uses=1)
    if why == "revoked":
        invitations.revoke(invitation)
    if why == "used_up":
        invitations.join(campaign, made_user("someone"), invitation)
    if why == "closed":
        setup.close(campaign)
    for answer in (client.get, client.post):
        response = answer(reverse("campaign-join", args=[invitation.token]))
        assert response.status_code == status
        assert words in response.content.decode()
