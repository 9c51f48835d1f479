"""Accounts: signing up, one's own page, and that a name cannot be taken for another's."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotations.accounts import NameTaken, open_account
from common.jobs import notifications
from dialeval_site import backends
from dialeval_site import settings as site_settings
from dialeval_site.accounts import address_letter
from dialeval_site.accounts import views as accounts
from dialeval_site.config import environment
from dialeval_site.demo.site import DEMO_ACCOUNTS, make_account
from dialeval_site.tasks import tell_former_address
from tests.challenges.receivers import mail_receiver
from tests.dialeval_site.authenticator import code_of

PASSWORD = "a door of seven colours"
KEY = "3132333435363738393031323334353637383930"
Users = get_user_model()


def sign_up(client: Client, name: str = "ada", **changes: str) -> Any:
    fields = {
        "username": name,
        "email": "",
        "password": PASSWORD,
        "again": PASSWORD,
        "next": "",
        **changes,
    }
    return client.post(reverse("sign-up"), fields)


@pytest.fixture
def ada() -> Any:
    return Users.objects.create_user("ada", password=PASSWORD)


# --- signing up -----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_who_signs_up_is_logged_in_without_any_role(client: Client) -> None:
    answer = sign_up(client, email="ada@example.org")
    user = Users.objects.get()
    assert answer["Location"] == reverse("challenges")
    assert client.session["_auth_user_id"] == str(user.pk)
    assert (user.email, user.is_staff, user.is_superuser, user.groups.count()) == (
        "ada@example.org",
        False,
        False,
        0,
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wish", "goes_to"),
    [
        ("/challenges/x/", "/challenges/x/"),
        ("https://evil.example/", "/challenges/"),
        ("//evil.example/", "/challenges/"),
        ("javascript:alert(1)", "/challenges/"),
    ],
)
def test_one_returns_to_a_page_of_this_site_only(client: Client, wish: str, goes_to: str) -> None:
    assert sign_up(client, next=wish)["Location"] == goes_to
    client.logout()
    assert (
        wish not in client.get(reverse("sign-up"), {"next": wish}).content.decode()
        or goes_to == wish
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"username": ""}, "required"),
        ({"username": "two words"}, "valid username"),
        ({"username": "x" * 151}, "at most 150"),
        ({"username": "a\0b"}, "Null characters"),
        ({"username": "\u0430da"}, "mixes alphabets"),
        ({"username": "\u0441\u043e\u0440\u0435"}, "looks like a Latin word"),
        ({"username": "___"}, "letter or digit"),
        ({"email": "not an address"}, "valid email"),
        ({"email": "a@b.example\nBcc: c@d.example"}, "valid email"),
        ({"password": "12345678", "again": "12345678"}, "common"),
        ({"again": "something else"}, "differ"),
        ({"password": "demo-rater", "again": "demo-rater"}, "printed"),
        ({"password": "x" * 1001, "again": "x" * 1001}, "at most 1000"),
    ],
)
def test_bad_input_is_told_and_makes_no_account(
    client: Client, changes: dict[str, str], words: str
) -> None:
    answer = sign_up(client, **changes)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert PASSWORD not in answer.content.decode()
    assert not Users.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["ada", "ADA", "ａｄａ"], ids=["same", "case", "wide"])
def test_a_name_is_taken_in_whatever_case(client: Client, ada: Any, name: str) -> None:
    answer = sign_up(client, name)
    assert answer.status_code == 422
    assert "taken" in answer.content.decode()
    assert Users.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_five_who_want_one_name_at_once_one_gets_it() -> None:
    start = Barrier(5)

    def try_it(name: str) -> bool:
        start.wait()
        try:
            open_account(name, PASSWORD)
        except NameTaken:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(5) as pool:
        assert sum(pool.map(try_it, ["ada", "Ada", "ADA", "aDa", "adA"])) == 1
    assert Users.objects.filter(username__iexact="ada").count() == 1


@pytest.mark.django_db
def test_a_closed_site_makes_no_accounts(client: Client, settings: Any) -> None:
    settings.SIGN_UP_IS_OPEN = False
    assert client.get(reverse("sign-up")).status_code == 403
    assert sign_up(client).status_code == 403
    assert not Users.objects.exists()
    assert (
        reverse("sign-up") + '"'
        not in client.get(reverse("login")).content.decode().split("<main")[1]
    )


def test_the_setting_is_open_or_closed() -> None:
    assert environment.sign_up_is_open({})
    assert not environment.sign_up_is_open({"DIALEVAL_SIGN_UP": "closed"})
    with pytest.raises(ImproperlyConfigured, match="DIALEVAL_SIGN_UP must be open or closed"):
        environment.sign_up_is_open({"DIALEVAL_SIGN_UP": "maybe"})


@pytest.mark.django_db
def test_who_is_logged_in_needs_no_second_account(client: Client, ada: Any) -> None:
    client.force_login(ada)
    assert sign_up(client, "other", next="/metrics/")["Location"] == "/metrics/"
    assert Users.objects.count() == 1


def change_email(client: Client, email: str, password: str = PASSWORD, **more: str) -> Any:
    return client.post(reverse("account"), {"email": email, "password": password, **more})


# --- one's own account ----------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_address_can_be_changed_and_taken_away(client: Client, ada: Any) -> None:
    client.force_login(ada)
    for email in ("ada@example.org", ""):
        assert change_email(client, email).status_code == 302
        ada.refresh_from_db()
        assert ada.email == email
    assert change_email(client, "no address").status_code == 422


@pytest.mark.django_db
@pytest.mark.parametrize("password", ["", "guess"])
def test_the_address_is_not_changed_by_who_finds_the_browser_open(
    client: Client, ada: Any, password: str
) -> None:
    """A link to a new password would go there: the account would be taken over."""
    client.force_login(ada)
    assert change_email(client, "eve@example.org", password).status_code == 422
    ada.refresh_from_db()
    assert ada.email == ""


@pytest.mark.django_db
def test_where_two_factor_log_in_is_on_the_address_wants_a_code_too(
    client: Client, ada: Any
) -> None:
    TOTPDevice.objects.create(user=ada, key=KEY, name="app")
    client.force_login(ada)
    assert 'name="code"' in client.get(reverse("account")).content.decode()
    assert change_email(client, "eve@example.org").status_code == 422
    code = code_of(base64.b32encode(bytes.fromhex(KEY)).decode())
    assert change_email(client, "ada@example.org", code=code).status_code == 302
    ada.refresh_from_db()
    assert ada.email == "ada@example.org"


@pytest.mark.django_db
def test_guessing_the_password_beside_the_address_ends(client: Client, ada: Any) -> None:
    client.force_login(ada)
    for number in range(10):
        change_email(client, "eve@example.org", f"guess {number}")
    refused = change_email(client, "eve@example.org")
    assert (refused.status_code, refused["Retry-After"]) == (429, "600")
    ada.refresh_from_db()
    assert ada.email == ""


@pytest.fixture
def letters_asked_for(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is put before the workers. The task itself is called by the test of the letter."""
    given: list[list[str]] = []
    settings.SENDS_EMAIL = True
    monkeypatch.setattr(
        notifications.current_app, "send_task", lambda _task, args, **_: given.append(args)
    )
    return given


@pytest.mark.django_db
def test_the_former_address_is_told(
    client: Client, ada: Any, letters_asked_for: list[list[str]]
) -> None:
    client.force_login(ada)
    for email in ("old@example.org", "old@example.org", "new@example.org"):
        change_email(client, email)
    assert letters_asked_for == [["ada", "old@example.org"]], (
        "the first had no former one, the second changed nothing"
    )
    for number in range(5):
        change_email(client, f"{number}@example.org")
    assert len(letters_asked_for) == address_letter.EMAILS_PER_HOUR


@pytest.mark.django_db
def test_without_a_mail_server_nobody_is_asked_to_write(
    client: Client, ada: Any, settings: Any, letters_asked_for: list[list[str]]
) -> None:
    settings.SENDS_EMAIL = False
    client.force_login(ada)
    for email in ("old@example.org", "new@example.org"):
        change_email(client, email)
    assert letters_asked_for == []


@pytest.mark.django_db
def test_a_broker_that_is_away_keeps_no_address_from_being_changed(
    client: Client,
    ada: Any,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    letters_asked_for: list[list[str]],
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(notifications.current_app, "send_task", away)
    client.force_login(ada)
    for email in ("old@example.org", "new@example.org"):
        assert change_email(client, email).status_code == 302
    ada.refresh_from_db()
    assert ada.email == "new@example.org"


def test_the_letter_goes_to_the_former_address(settings: Any) -> None:
    with mail_receiver() as receiver:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", receiver.port
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        tell_former_address("ada", "old@example.org")
    (letter,) = receiver.letters
    assert "To: old@example.org" in letter
    assert "Your dialeval e-mail address was changed" in letter
    assert "of the account ada at" in letter


@pytest.mark.django_db
def test_the_password_is_changed_with_the_old_one(client: Client, ada: Any) -> None:
    client.force_login(ada)
    new = "a window of eight colours"
    wrong = {"old_password": "guess", "new_password1": new, "new_password2": new}
    assert client.post(reverse("password-change"), wrong).status_code == 422
    assert client.post(reverse("password-change"), {**wrong, "old_password": PASSWORD})[
        "Location"
    ] == reverse("account")
    assert Client().login(username="ada", password=new)


@pytest.mark.django_db
def test_a_password_that_is_stored_anew_while_it_is_checked_logs_its_owner_not_out(
    client: Client, ada: Any, settings: Any
) -> None:
    """The right old password beside a new one that is refused: the hash is another, the session
    goes on."""
    settings.PASSWORD_HASHERS = site_settings.PASSWORD_HASHERS
    Users.objects.filter(pk=ada.pk).update(
        password=PBKDF2PasswordHasher().encode(PASSWORD, "saltsaltsalt")
    )
    ada.refresh_from_db()
    client.force_login(ada)
    refused = {"old_password": PASSWORD, "new_password1": "1", "new_password2": "2"}
    assert client.post(reverse("password-change"), refused).status_code == 422
    ada.refresh_from_db()
    assert ada.password.startswith("argon2")
    assert client.get(reverse("account")).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["account", "password-change"])
def test_the_pages_of_an_account_need_one(client: Client, name: str) -> None:
    assert client.get(reverse(name))["Location"].startswith(reverse("login"))


@pytest.mark.django_db
def test_a_log_in_that_all_visitors_of_the_demo_share_stays_as_it_is(client: Client) -> None:
    shared = DEMO_ACCOUNTS[1]
    user = make_account(shared)
    client.force_login(user)
    assert change_email(client, "eve@example.org", shared.password).status_code == 403
    new = {"old_password": shared.password, "new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post(reverse("password-change"), new).status_code == 403
    user.refresh_from_db()
    assert user.email == ""
    assert user.check_password(shared.password)


# --- guessing -------------------------------------------------------------------------------------


def log_in(client: Client, password: str, name: str = "ada", address: str = "login") -> Any:
    page = reverse("admin:login") if address == "admin" else reverse(address)
    return client.post(page, {"username": name, "password": password})


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["login", "admin"])
def test_after_ten_wrong_passwords_for_a_name_no_other_is_looked_at_from_there(
    ada: Any, address: str
) -> None:
    guesser = Client()
    for number in range(10):
        log_in(guesser, f"guess {number}", address=address)
    refused = log_in(guesser, PASSWORD)
    assert (refused.status_code, refused["Retry-After"]) == (429, "600")
    assert "Too many wrong passwords" in refused.content.decode()
    assert "_auth_user_id" not in guesser.session
    assert log_in(Client(REMOTE_ADDR="192.0.2.9"), PASSWORD).status_code == 302


@pytest.mark.django_db
def test_a_log_in_that_succeeds_forgets_the_wrong_passwords(ada: Any) -> None:
    for _ in range(3):
        client = Client()
        assert [log_in(client, "wrong").status_code for _ in range(9)] == [200] * 9
        assert log_in(client, PASSWORD).status_code == 302


@pytest.mark.django_db
def test_guessing_at_many_names_from_one_address_ends_too(
    ada: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "GUESSES_OF_AN_ADDRESS", 20)
    for number in range(20):
        log_in(Client(), "letmein", f"u{number}")
    assert log_in(Client(), PASSWORD).status_code == 429


@pytest.mark.django_db
def test_who_signs_up_is_logged_in_whoever_guessed_before(client: Client) -> None:
    """At the name that is chosen now, or at any from this address."""
    for number in range(12):
        log_in(Client(), f"guess {number}", "ada")
    assert sign_up(client)["Location"] == reverse("challenges")
    assert client.session["_auth_user_id"] == str(Users.objects.get().pk)


@pytest.mark.django_db
def test_no_password_is_changed_to_a_demo_s(client: Client, ada: Any) -> None:
    client.force_login(ada)
    wish = {"old_password": PASSWORD, "new_password1": "demo-rater", "new_password2": "demo-rater"}
    answer = client.post(reverse("password-change"), wish)
    assert (answer.status_code, "printed" in answer.content.decode()) == (422, True)
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


@pytest.mark.django_db
def test_no_program_makes_accounts_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "SIGN_UPS_AN_HOUR", 2)
    answers = [sign_up(Client(), f"ada{number}") for number in range(4)]
    assert [answer.status_code for answer in answers] == [302, 302, 429, 429]
    assert "Too many accounts" in answers[-1].content.decode()
    assert Users.objects.count() == 2
