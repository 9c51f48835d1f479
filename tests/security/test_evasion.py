"""Rates and log-ins cannot be walked round: by a header, another spelling, another session, the
time that it takes."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client, RequestFactory
from django.urls import reverse

from annotations import rates

pytestmark = pytest.mark.django_db
PASSWORD = "a door of seven colours"


def guess(client: Client, name: str = "ada", password: str = "wrong", **headers: str) -> int:
    form = {"username": name, "password": password}
    return client.post(reverse("login"), form, headers=headers).status_code


def test_a_header_that_anybody_can_send_is_not_believed() -> None:
    get_user_model().objects.create_user("ada", password=PASSWORD)
    statuses = [guess(Client(), **{"x-forwarded-for": f"192.0.2.{n}"}) for n in range(11)]
    assert statuses == [200] * 10 + [429]


def test_behind_a_proxy_only_what_the_proxy_adds_is_believed(settings: Any) -> None:
    """The last entry is the proxy's; those before it came with the request."""
    settings.PROXIES = 1
    request = RequestFactory().get("/", headers={"x-forwarded-for": "203.0.113.1, 192.0.2.7"})
    assert rates.address_of(request) == "192.0.2.7"


def test_an_address_of_ipv4_on_a_socket_for_both_is_itself() -> None:
    """Else all of IPv4 were one network, whose first thirty wrong passwords are everybody's."""
    one, other = (
        RequestFactory().get("/", REMOTE_ADDR=f"::ffff:203.0.113.{last}") for last in (7, 8)
    )
    assert [rates.address_of(one), rates.address_of(other)] == ["203.0.113.7", "203.0.113.8"]


def test_an_address_of_ipv6_is_its_network() -> None:
    """One customer has 2**64 of them."""
    one, other = (RequestFactory(REMOTE_ADDR=f"2001:db8::{n}").get("/") for n in (1, 2))
    assert rates.address_of(one) == rates.address_of(other) == "2001:db8::/64"


def test_another_spelling_of_a_name_is_the_same_name() -> None:
    get_user_model().objects.create_user("ada", password=PASSWORD)
    statuses = [guess(Client(), name) for name in ("ada", "ADA", "Ada", "aDa") * 3]
    assert statuses == [200] * 10 + [429] * 2


def test_another_session_is_the_same_guesser() -> None:
    """Each guess comes with a new client, and so without a cookie."""
    get_user_model().objects.create_user("ada", password=PASSWORD)
    for number in range(10):
        guess(Client(), "ada", f"guess {number}")
    assert guess(Client(), "ada", PASSWORD) == 429


@pytest.mark.parametrize("name", ["ada", "nobody"])
def test_an_unknown_name_takes_as_long_as_a_known_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is what the hasher takes: it runs once for either."""
    get_user_model().objects.create_user("ada", password=PASSWORD)
    runs: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: Any, password: str, salt: str) -> str:
        runs.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    guess(Client(), name)
    assert runs == ["wrong"]


def test_an_unknown_name_is_told_the_same() -> None:
    import re

    get_user_model().objects.create_user("ada", password=PASSWORD)
    pages = []
    for name in ("ada", "nobody"):
        page = (
            Client()
            .post(reverse("login"), {"username": name, "password": "wrong"})
            .content.decode()
        )
        pages.append(re.sub(r'value="\w{64}"', "", page).replace(name, "NAME"))
    assert pages[0] == pages[1]


def test_the_session_has_another_key_after_the_log_in(client: Client) -> None:
    """Session fixation: a key that somebody planted is nobody's afterwards."""
    get_user_model().objects.create_user("ada", password=PASSWORD)
    session = client.session
    session["planted"] = True
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted
    client.post(reverse("login"), {"username": "ada", "password": PASSWORD})
    assert client.session.session_key != planted
    thief = Client()
    thief.cookies["sessionid"] = planted
    assert thief.get(reverse("account")).status_code == 302


def test_a_new_password_ends_the_other_sessions(client: Client) -> None:
    user = get_user_model().objects.create_user("ada", password=PASSWORD)
    other = Client()
    other.force_login(user)
    client.force_login(user)
    new = "a window of eight colours"
    client.post(
        reverse("password-change"),
        {"old_password": PASSWORD, "new_password1": new, "new_password2": new},
    )
    assert client.get(reverse("account")).status_code == 200
    assert other.get(reverse("account")).status_code == 302


@pytest.mark.parametrize("short", ["nineteen9", "password12", "1234567890", "qwertyuiop"])
def test_short_and_common_passwords_are_refused(client: Client, short: str) -> None:
    fields = {"username": "ada", "email": "", "password": short, "again": short, "next": ""}
    assert client.post(reverse("sign-up"), fields).status_code == 422
