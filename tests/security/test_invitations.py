"""Nobody rises by an invitation or by a field that a form did not ask for."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from annotations.campaigns.models import Invitation
from common.roles import ORGANISER, is_organiser
from tests.campaigns.sets import made_campaign
from tests.challenges.sets import open_round, team_with_member

pytestmark = pytest.mark.django_db
PASSWORD = "a door of seven colours"


def test_no_invitation_and_no_form_makes_an_organiser() -> None:
    organisers = Group.objects.get(name=ORGANISER)
    params = {
        "is_staff": "on",
        "is_superuser": "on",
        "groups": str(organisers.pk),
        "role": ORGANISER,
        "roles": ORGANISER,
    }
    account = {"username": "ada", "password": PASSWORD, "again": PASSWORD, "email": "", "next": ""}
    signed_up = Client()
    signed_up.post(reverse("sign-up"), {**account, **params})
    campaign = made_campaign()
    campaign.state = "open"
    campaign.save()
    invitation = Invitation.objects.create(campaign=campaign)
    invited = Client()
    invited.post(
        reverse("campaign-join", args=[invitation.token]), {**account, "username": "bob", **params}
    )
    team, _founder = team_with_member(open_round().challenge, "mira")
    signed_up.post(reverse("team-join", args=[team.invitation]), params)
    signed_up.post(reverse("account"), {"email": "ada@example.org", "password": PASSWORD, **params})
    users = {user.username: user for user in get_user_model().objects.all()}
    assert {"ada", "bob"} <= set(users)
    assert users["ada"].email == "ada@example.org", "the form of the account was taken"
    for user in users.values():
        assert (user.is_staff, user.is_superuser, is_organiser(user)) == (False, False, False), user
        assert not user.groups.filter(name=ORGANISER).exists()
