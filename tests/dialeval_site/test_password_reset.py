"""A forgotten password: a letter over real SMTP, a link for an hour and one use, and nothing learnt
by who asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice

from common.jobs import notifications
from dialeval_site.accounts import password_reset, password_views, tokens
from dialeval_site.demo.site import DEMO_ACCOUNTS, make_account
from tests.challenges.receivers import MailReceiver, mail_receiver

pytestmark = pytest.mark.django_db
PASSWORD, NEW = "a door of seven colours", "a window of eight colours"
Users = get_user_model()


@pytest.fixture
def ada() -> Any:
    return Users.objects.create_user("ada", email="ada@example.org", password=PASSWORD)


@pytest.fixture
def post_office(settings: Any) -> Iterator[MailReceiver]:
    with mail_receiver() as receiver:
        settings.SENDS_EMAIL, settings.EMAIL_HOST, settings.EMAIL_PORT = (
            True,
            "127.0.0.1",
            receiver.port,
        )
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.SITE_URL = "https://dialeval.example.org"
        yield receiver


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is put before the workers. The task itself is called by the tests."""
    given: list[str] = []
    monkeypatch.setattr(
        notifications.current_app, "send_task", lambda _task, args, **_: given.extend(args)
    )
    return given


def ask(client: Client, email: str) -> Any:
    return client.post(reverse("password-reset"), {"email": email})


def link_in(letter: str) -> str:
    text = letter.replace("=\n", "").replace("=3D", "=")
    (found,) = re.findall(
        r"https://dialeval\.example\.org(/\S+)", "\n".join(text.splitlines()[-8:])
    )
    return found


def choose(client: Client, link: str, password: str = NEW) -> Any:
    page = client.get(link)
    if page.status_code != 302:
        return page
    return client.post(page["Location"], {"new_password1": password, "new_password2": password})


def letter_to(post_office: MailReceiver, email: str) -> str:
    assert password_reset.send(email) == 1
    return post_office.letters[-1]


def test_the_link_in_the_letter_sets_a_new_password(
    ada: Any, post_office: MailReceiver, client: Client
) -> None:
    letter = letter_to(post_office, "ada@example.org")
    assert "To: ada@example.org" in letter
    assert choose(client, link_in(letter))["Location"] == reverse("login")
    ada.refresh_from_db()
    assert ada.check_password(NEW)


def test_who_forgot_the_password_is_told_of_tokens_that_go_on_working(
    ada: Any, post_office: MailReceiver, client: Client
) -> None:
    tokens.make(ada, "laptop", ["read"], 30)
    choose(client, link_in(letter_to(post_office, "ada@example.org")))
    assert "tokens go on working" in client.get(reverse("login")).content.decode()


def test_a_link_is_good_once(ada: Any, post_office: MailReceiver) -> None:
    link = link_in(letter_to(post_office, "ada@example.org"))
    choose(Client(), link)
    assert b"This link is not valid" in choose(Client(), link, PASSWORD).content
    ada.refresh_from_db()
    assert ada.check_password(NEW)


def test_a_link_is_good_for_an_hour(
    ada: Any, post_office: MailReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import timedelta

    link, now = link_in(letter_to(post_office, "ada@example.org")), default_token_generator._now()
    monkeypatch.setattr(default_token_generator, "_now", lambda: now + timedelta(minutes=59))
    assert Client().get(link).status_code == 302
    monkeypatch.setattr(default_token_generator, "_now", lambda: now + timedelta(minutes=61))
    assert b"This link is not valid" in Client().get(link).content


def test_a_new_password_ends_all_sessions_and_begins_none(
    ada: Any, post_office: MailReceiver, client: Client
) -> None:
    thief = Client()
    thief.force_login(ada)
    choose(client, link_in(letter_to(post_office, "ada@example.org")))
    assert thief.get(reverse("account")).status_code == 302
    assert "_auth_user_id" not in client.session


def test_the_second_factor_is_asked_for_all_the_same(
    ada: Any, post_office: MailReceiver, client: Client
) -> None:
    TOTPDevice.objects.create(user=ada, name="app")
    choose(client, link_in(letter_to(post_office, "ada@example.org")))
    answer = client.post(reverse("login"), {"username": "ada", "password": NEW})
    assert answer["Location"] == reverse("two-factor-log-in")
    assert "_auth_user_id" not in client.session


def test_no_page_with_the_token_in_its_address_is_shown(
    ada: Any, post_office: MailReceiver, client: Client
) -> None:
    """So no Referer and no history of the browser carries it on."""
    link = link_in(letter_to(post_office, "ada@example.org"))
    onward = client.get(link)["Location"]
    assert onward.endswith("/set-password/")
    assert link.rstrip("/").rpartition("/")[2] not in client.get(onward).content.decode()


def test_a_weak_password_is_refused(ada: Any, post_office: MailReceiver, client: Client) -> None:
    link = link_in(letter_to(post_office, "ada@example.org"))
    for weak in ("ninechars", "password1234", DEMO_ACCOUNTS[0].password, "ada@example"):
        assert choose(client, link, weak).status_code == 422, weak
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


@pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
def test_who_asks_is_told_the_same(
    ada: Any, post_office: MailReceiver, client: Client, asked: list[str], email: str
) -> None:
    """Nothing is looked up before the answer: it takes as long, too."""
    answer = ask(client, email)
    assert (answer.status_code, answer["Location"]) == (302, reverse("password-reset-sent"))
    assert asked == [email]
    assert email not in client.get(answer["Location"]).content.decode()


def test_the_link_leads_to_the_site_whatever_host_was_asked(
    ada: Any, post_office: MailReceiver, settings: Any, asked: list[str]
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    ask(Client(headers={"host": "evil.example"}), "ada@example.org")
    assert password_reset.send(*asked) == 1
    assert "evil.example" not in post_office.letters[0]


@pytest.mark.parametrize("changes", [{"is_active": False}, {"email": ""}, {"password": "!"}])
def test_no_letter_for_accounts_that_nobody_logs_in_to(
    ada: Any, post_office: MailReceiver, changes: dict[str, Any]
) -> None:
    Users.objects.filter(pk=ada.pk).update(**changes)
    assert password_reset.send("ada@example.org") == 0


def test_the_demo_s_log_ins_keep_their_passwords(post_office: MailReceiver) -> None:
    shared = make_account(DEMO_ACCOUNTS[0])
    Users.objects.filter(pk=shared.pk).update(email="eve@example.org")
    assert password_reset.send("eve@example.org") == 0


def test_look_alike_letters_lead_to_no_other_mailbox(ada: Any, post_office: MailReceiver) -> None:
    """ "ı" without its dot becomes "i" in capitals: mail goes to the address of the account, or
    nowhere."""
    Users.objects.create_user("mike", email="mike@example.org", password=PASSWORD)
    assert password_reset.send("m\u0131ke@example.org") == 0


def test_a_mailbox_is_not_filled(ada: Any, post_office: MailReceiver, asked: list[str]) -> None:
    answers = [
        ask(Client(REMOTE_ADDR=f"192.0.2.{n}"), "ADA@example.org" if n else "ada@example.org")
        for n in (0, 2, 4, 6, 8)
    ]
    assert {answer.status_code for answer in answers} == {302}
    assert len(asked) == password_reset.EMAILS_PER_HOUR


def test_one_address_does_not_ask_without_end(
    post_office: MailReceiver, client: Client, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(password_views, "RESETS_PER_HOUR", 2)
    statuses = [ask(client, f"u{number}@example.org").status_code for number in range(3)]
    assert statuses == [302, 302, 429]
    assert len(asked) == 2


def test_without_a_mail_server_the_page_says_whom_to_ask(client: Client, settings: Any) -> None:
    settings.SENDS_EMAIL = False
    assert b"Ask its organisers" in client.get(reverse("password-reset")).content
    assert ask(client, "ada@example.org").status_code == 403


def test_guessing_the_old_password_ends(ada: Any, client: Client) -> None:
    client.force_login(ada)
    fields = {"new_password1": NEW, "new_password2": NEW}
    for number in range(10):
        client.post(reverse("password-change"), {"old_password": f"guess {number}", **fields})
    refused = client.post(reverse("password-change"), {"old_password": PASSWORD, **fields})
    assert (refused.status_code, refused["Retry-After"]) == (429, "600")
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)
