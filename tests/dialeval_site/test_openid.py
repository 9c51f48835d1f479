"""Logging in by OpenID Connect at a provider that runs as a process of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotations.models import AuditEntry
from common.roles import ORGANISER
from dialeval_site.accounts import openid_views
from dialeval_site.config import environment
from dialeval_site.demo.site import DEMO_ACCOUNTS, make_account
from dialeval_site.models import LinkedIdentity
from tests.dialeval_site.authenticator import code_of
from tests.dialeval_site.openid_provider import CLIENT_ID, CLIENT_SECRET, running_provider
from tests.services import free_port

PASSWORD = "a door of seven colours"
KEY_IN_LETTERS = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
KEY = "3132333435363738393031323334353637383930"
ADA = {"sub": "u-1815", "email": "Ada@example.edu", "email_verified": True}
Users = get_user_model()


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with running_provider() as address:
        yield address


@pytest.fixture(autouse=True)
def site(issuer: str, settings: Any) -> None:
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = issuer, CLIENT_ID
    settings.OIDC_CLIENT_SECRET = CLIENT_SECRET
    settings.OIDC_NAME, settings.OIDC_SIGN_UP = "Example University", False


@pytest.fixture
def ada(db: None) -> Any:
    return Users.objects.create_user("ada", "ada@example.edu", PASSWORD)


@pytest.fixture
def linked(ada: Any, issuer: str) -> Any:
    LinkedIdentity.objects.create(user=ada, issuer=issuer, subject=ADA["sub"])
    return ada


def come_back(client: Client, issuer: str, next_page: str = "", **person: Any) -> Any:
    """To the provider and back, as a browser goes: the site's answer."""
    requests.post(f"{issuer}/person", json={"claims": ADA, **person}, timeout=30)
    return client.get(way_back(client, issuer, next_page))


def way_back(client: Client, issuer: str, next_page: str = "") -> str:
    to_provider = client.get(reverse("openid-log-in"), {"next": next_page})
    assert to_provider["Location"].startswith(f"{issuer}/authorize?")
    answer = requests.get(to_provider["Location"], allow_redirects=False, timeout=30)
    return "{0.path}?{0.query}".format(urlsplit(answer.headers["Location"]))


def is_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def first(client: Client, username: str = "ada", password: str = PASSWORD, **more: str) -> Any:
    form = {"username": username, "password": password, **more}
    return client.post(reverse("openid-first-log-in"), form)


# --- logging in -----------------------------------------------------------------------------------


def test_a_linked_account_is_logged_in_and_led_to_the_page_it_asked_for(
    client: Client, issuer: str, linked: Any
) -> None:
    assert come_back(client, issuer, reverse("account"))["Location"] == reverse("account")
    assert client.get(reverse("account")).context["user"] == linked


def test_the_log_in_page_leads_to_the_provider(client: Client, db: None) -> None:
    page = client.get(reverse("login"), {"next": "/corpora/a/"}).content.decode()
    assert "Log in with Example University" in page
    assert f'href="{reverse("openid-log-in")}?next=%2Fcorpora%2Fa%2F"' in page


def test_no_page_of_another_site_comes_after_the_log_in(
    client: Client, issuer: str, linked: Any
) -> None:
    assert come_back(client, issuer, "https://evil.example/")["Location"] == reverse("desk")


def test_the_provider_is_asked_with_state_nonce_and_a_code_challenge(
    client: Client, db: None
) -> None:
    asked = parse_qs(urlsplit(client.get(reverse("openid-log-in"))["Location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert all(len(asked[name][0]) >= 20 for name in ("state", "nonce", "code_challenge"))
    assert asked["redirect_uri"] == [f"http://testserver{reverse('openid-return')}"]


def test_the_session_has_another_key_after_the_log_in(
    client: Client, issuer: str, linked: Any
) -> None:
    back = way_back(client, issuer)
    before = client.session.session_key
    client.get(back)
    assert is_in(client)
    assert client.session.session_key != before


def test_without_the_setting_there_is_no_such_log_in(
    client: Client, settings: Any, db: None
) -> None:
    settings.OIDC_ISSUER = ""
    assert "Log in with" not in client.get(reverse("login")).content.decode()
    for name in ("openid-log-in", "openid-return", "openid-first-log-in"):
        assert client.get(reverse(name)).status_code == 404


# --- the rules of accounts ------------------------------------------------------------------------


def test_the_second_step_follows_where_two_factor_log_in_is_on(
    client: Client, issuer: str, linked: Any
) -> None:
    TOTPDevice.objects.create(user=linked, key=KEY, name="app")
    answer = come_back(client, issuer, reverse("tokens"))
    assert answer["Location"] == reverse("two-factor-log-in")
    assert not is_in(client)
    code = {"code": code_of(KEY_IN_LETTERS)}
    assert client.post(answer["Location"], code)["Location"] == reverse("tokens")
    assert is_in(client)


def test_organisers_are_led_to_set_up_a_second_factor_where_they_need_one(
    client: Client, issuer: str, linked: Any, settings: Any
) -> None:
    settings.ORGANISERS_NEED_TWO_FACTOR = True
    linked.groups.add(Group.objects.get(name=ORGANISER))
    come_back(client, issuer)
    assert client.get(reverse("home"))["Location"] == reverse("two-factor")


def test_an_account_that_is_closed_stays_closed(client: Client, issuer: str, linked: Any) -> None:
    Users.objects.filter(pk=linked.pk).update(is_active=False)
    assert come_back(client, issuer).status_code == 403
    assert not is_in(client)


# --- the first time -------------------------------------------------------------------------------


def test_an_account_with_the_verified_address_is_linked_by_its_password_once(
    client: Client, issuer: str, ada: Any
) -> None:
    answer = come_back(client, issuer, reverse("tokens"))
    assert answer["Location"] == reverse("openid-first-log-in")
    assert 'value="ada"' in client.get(answer["Location"]).content.decode()
    assert not is_in(client)
    assert first(client)["Location"] == reverse("tokens")
    assert is_in(client)
    assert AuditEntry.objects.get(action="account.identity_linked").actor == "ada"
    other_browser = Client()
    come_back(other_browser, issuer)
    assert is_in(other_browser)


def test_who_put_my_address_into_an_account_of_theirs_does_not_get_me_into_it(
    client: Client, issuer: str, ada: Any
) -> None:
    """Nobody has shown that an address which stands in an account is its owner's."""
    come_back(client, issuer)
    assert first(client, password="the password that I think of").status_code == 422
    assert not is_in(client)
    assert not LinkedIdentity.objects.exists()


def test_another_account_s_password_links_nothing(client: Client, issuer: str, ada: Any) -> None:
    Users.objects.create_user("bob", "bob@example.edu", PASSWORD)
    come_back(client, issuer)
    assert first(client, "bob").status_code == 422
    assert not LinkedIdentity.objects.exists()


def test_the_password_is_guessed_ten_times(client: Client, issuer: str, ada: Any) -> None:
    come_back(client, issuer)
    answers = [first(client, password="wrong").status_code for _ in range(11)]
    assert answers == [422] * 10 + [429]
    assert first(client).status_code == 429


def test_linking_an_account_asks_for_its_code_too(client: Client, issuer: str, ada: Any) -> None:
    TOTPDevice.objects.create(user=ada, key=KEY, name="app")
    come_back(client, issuer)
    assert first(client)["Location"] == reverse("two-factor-log-in")
    assert not is_in(client)


@pytest.mark.parametrize("only_userinfo", [False, True], ids=["in the token", "userinfo"])
def test_an_address_that_was_not_verified_links_nothing(
    client: Client, issuer: str, ada: Any, only_userinfo: bool
) -> None:
    come_back(client, issuer, claims=ADA | {"email_verified": False}, only_userinfo=only_userinfo)
    page = client.get(reverse("openid-first-log-in"))
    assert page.status_code == 403
    assert "did not confirm an e-mail address" in page.content.decode()


def test_an_address_that_only_userinfo_tells_links_too(
    client: Client, issuer: str, ada: Any
) -> None:
    come_back(client, issuer, only_userinfo=True)
    first(client)
    assert is_in(client)


def test_an_account_that_visitors_of_a_demo_share_is_linked_to_nobody(
    client: Client, issuer: str, db: None
) -> None:
    shared = make_account(DEMO_ACCOUNTS[1])
    Users.objects.filter(pk=shared.pk).update(email=ADA["email"])
    come_back(client, issuer)
    assert client.get(reverse("openid-first-log-in")).status_code == 403


def test_without_an_account_nobody_is_let_in(client: Client, issuer: str, db: None) -> None:
    come_back(client, issuer)
    page = client.get(reverse("openid-first-log-in"))
    assert page.status_code == 403
    assert "No account here has the address Ada@example.edu" in page.content.decode()
    assert not Users.objects.filter(email__iexact=str(ADA["email"])).exists()


@pytest.mark.parametrize("sign_up_is_open", [True, False])
def test_people_of_the_provider_make_an_account_where_they_may(
    client: Client, issuer: str, settings: Any, db: None, sign_up_is_open: bool
) -> None:
    settings.OIDC_SIGN_UP, settings.SIGN_UP_IS_OPEN = True, sign_up_is_open
    come_back(client, issuer, claims=ADA | {"preferred_username": "countess"})
    page = client.get(reverse("openid-first-log-in")).content.decode()
    assert 'value="countess"' in page
    assert 'value="Ada@example.edu"' in page
    answer = first(client, "countess", again=PASSWORD, email=str(ADA["email"]))
    assert answer["Location"] == reverse("desk")
    assert client.get(reverse("account")).context["user"].username == "countess"
    other_browser = Client()
    come_back(other_browser, issuer)
    assert is_in(other_browser)


def test_a_name_that_is_taken_makes_no_account_and_links_none(
    client: Client, issuer: str, settings: Any, db: None
) -> None:
    settings.OIDC_SIGN_UP = True
    Users.objects.create_user("ada", "", PASSWORD)
    come_back(client, issuer)
    assert first(client, "Ada", again=PASSWORD).status_code == 422
    assert not LinkedIdentity.objects.exists()


def test_a_first_log_in_waits_a_quarter_of_an_hour(client: Client, issuer: str, ada: Any) -> None:
    come_back(client, issuer)
    session = client.session
    session["openid_identity"] = session["openid_identity"] | {"since": time.time() - 901}
    session.save()
    assert first(client)["Location"] == reverse("login")


def test_one_identity_has_one_account(client: Client, issuer: str, settings: Any, db: None) -> None:
    """Two windows, each with the form of a new account."""
    settings.OIDC_SIGN_UP = True
    other = Client()
    for window in (client, other):
        come_back(window, issuer)
    first(client, "countess", again=PASSWORD)
    assert first(other, "lovelace", again=PASSWORD)["Location"] == reverse("openid-log-in")
    assert not Users.objects.filter(username="lovelace").exists()
    assert LinkedIdentity.objects.count() == 1


def test_a_link_is_shown_to_its_owner_who_removes_it(
    client: Client, issuer: str, linked: Any
) -> None:
    come_back(client, issuer)
    assert "u-1815" in client.get(reverse("account")).content.decode()
    client.post(reverse("openid-unlink"))
    assert not LinkedIdentity.objects.exists()
    assert AuditEntry.objects.get(action="account.identity_removed").actor == "ada"
    client.logout()
    come_back(client, issuer)
    assert not is_in(client)


def test_a_new_password_says_that_a_linked_log_in_goes_on_working(
    client: Client, linked: Any
) -> None:
    client.force_login(linked)
    new = {"new_password1": "another door of colours", "new_password2": "another door of colours"}
    answer = client.post(reverse("password-change"), {"old_password": PASSWORD, **new}, follow=True)
    assert "Another log-in is linked to your account" in answer.content.decode()


# --- what is not the provider's word --------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"wrong": {"nonce": "of another log-in"}},
        {"wrong": {"aud": "another site"}},
        {"wrong": {"iss": "https://login.example.org"}},
        {"wrong": {"exp": 1_000_000_000}},
        {"wrong_key": True},
        {"denies": True},
    ],
    ids=["nonce", "audience", "issuer", "expired", "signature", "denied"],
)
def test_a_wrong_token_logs_nobody_in(
    client: Client, issuer: str, linked: Any, wrong: dict[str, Any]
) -> None:
    answer = come_back(client, issuer, **wrong)
    assert answer.status_code == 403
    assert "did not confirm who you are" in answer.content.decode()
    assert not is_in(client)


def test_an_answer_that_this_browser_did_not_ask_for_logs_nobody_in(
    client: Client, issuer: str, linked: Any
) -> None:
    """Somebody's link would log its reader in as them."""
    requests.post(f"{issuer}/person", json={"claims": ADA}, timeout=30)
    their_link = way_back(Client(), issuer)
    assert client.get(their_link).status_code == 403
    assert not is_in(client)


def test_an_answer_is_good_once(client: Client, issuer: str, linked: Any) -> None:
    requests.post(f"{issuer}/person", json={"claims": ADA}, timeout=30)
    back = way_back(client, issuer)
    client.get(back)
    client.logout()
    assert client.get(back).status_code == 403
    assert not is_in(client)


def test_a_provider_that_is_away_is_said_so(client: Client, settings: Any, db: None) -> None:
    settings.OIDC_ISSUER = f"http://127.0.0.1:{free_port()}"
    answer = client.get(reverse("openid-log-in"))
    assert answer.status_code == 502
    assert "You are not logged in" in answer.content.decode()


def test_what_a_visitor_writes_into_the_address_is_one_line_of_the_log(
    client: Client, db: None, caplog: pytest.LogCaptureFixture
) -> None:
    client.get(reverse("openid-return"), {"error": "x", "error_description": "a\nERROR b"})
    assert [one.getMessage().count("\n") for one in caplog.records if "OpenID" in one.msg] == [0]


def test_one_address_begins_so_many_log_ins_a_minute(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid_views, "LOG_INS_A_MINUTE", 2)
    monkeypatch.setattr("common.clock.seconds", lambda: 1_000_000.0)
    answers = [client.get(reverse("openid-log-in")).status_code for _ in range(3)]
    assert answers == [302, 302, 429]


# --- settings -------------------------------------------------------------------------------------

COMPLETE = {
    "DIALEVAL_OIDC_ISSUER": "https://login.example.edu/",
    "DIALEVAL_OIDC_CLIENT_ID": "dialeval",
    "DIALEVAL_OIDC_CLIENT_SECRET": "a provider's secret",
}


def test_the_issuer_is_read_without_its_slash() -> None:
    assert environment.oidc_issuer(COMPLETE) == "https://login.example.edu"
    assert environment.oidc_issuer({}) == ""


@pytest.mark.parametrize("missing", ["DIALEVAL_OIDC_CLIENT_ID", "DIALEVAL_OIDC_CLIENT_SECRET"])
def test_an_issuer_needs_a_client(missing: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{missing} is not set"):
        environment.oidc_issuer({k: v for k, v in COMPLETE.items() if k != missing})


def test_in_production_the_provider_is_asked_over_https() -> None:
    plain = COMPLETE | {"DIALEVAL_OIDC_ISSUER": "http://login.example.edu"}
    assert environment.oidc_issuer(plain) == "http://login.example.edu"
    with pytest.raises(ImproperlyConfigured, match="DIALEVAL_OIDC_ISSUER must begin with https://"):
        environment.oidc_issuer(plain | {"DIALEVAL_MODE": "production"})


def test_the_secret_stands_in_no_log() -> None:
    assert "a provider's secret" in environment.secrets(COMPLETE)
