"""Who was logged in before an upgrade stays logged in: a session names the class that let the
account in by its dotted path."""

from __future__ import annotations

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.test import Client

BACKEND_OF_0_2_0 = "dialeval_site.backends.NoDemoLogInsInProduction"


@pytest.mark.django_db
def test_a_session_of_0_2_0_is_still_logged_in() -> None:
    user = User.objects.create_user("pia")
    client = Client()
    session = client.session
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = BACKEND_OF_0_2_0
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    assert client.get("/").context["user"] == user
