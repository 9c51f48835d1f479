"""Tokens of the API: made, shown once, scoped, ended, revoked; and guessing at passwords."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotations.models import AuditEntry
from common.roles import ORGANISER
from dialeval_site.accounts import tokens
from dialeval_site.demo.site import DEMO_ACCOUNTS
from dialeval_site.middleware.request_ids import HEADER
from dialeval_site.models import ApiToken
from tests.api_client import Program, program_of, token_of
from tests.at_once import at_once
from tests.dialeval_site.authenticator import code_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return get_user_model().objects.create_user("ada", "ada@example.org", "a long pass word")


@pytest.fixture
def boss(ada):
    ada.groups.add(Group.objects.get(name=ORGANISER))
    return ada


def test_a_password_makes_a_token_that_says_who_one_is(ada) -> None:
    asked = {
        "username": "ada",
        "password": "a long pass word",
        "name": "laptop",
        "scopes": ["read"],
        "days": 7,
    }
    made = Program().post("/tokens", asked)
    assert made.status_code == 201
    assert made.json()["token"].startswith("dial_")
    assert (
        timedelta(days=6.9) < ApiToken.objects.get().expires_at - timezone.now() < timedelta(days=7)
    )
    me = Program(made.json()["token"]).get("/me").json()
    assert (me["username"], me["token"]["name"], me["token"]["scopes"]) == (
        "ada",
        "laptop",
        ["read"],
    )


def test_only_the_digest_is_kept(ada) -> None:
    token = token_of(ada)
    row = ApiToken.objects.get()
    assert row.digest == tokens.digest_of(token)
    assert token not in str(ApiToken.objects.values().get())
    assert token.startswith(row.start)
    assert len(row.start) < 12


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scopes": ["read", "rule"]}, "body.scopes.1"),
        ({"scopes": []}, "body.scopes"),
        ({"days": 366}, "body.days"),
        ({"days": 0}, "body.days"),
        ({"days": "soon"}, "body.days"),
        ({"name": "  "}, "body.name"),
        ({"name": "a\0b"}, "body.name"),
        ({"username": "\ud800"}, "body.username"),
        ({"params": "more"}, "body.params"),
        ({"scopes": ["organise"]}, "body.scopes"),
    ],
)
def test_a_wrong_wish_names_its_field_and_makes_nothing(
    ada, change: dict[str, object], field: str
) -> None:
    asked = {"username": "ada", "password": "a long pass word", **change}
    answer = Program().post("/tokens", asked)
    assert answer.status_code == 422
    assert field in [error["field"] for error in answer.json()["errors"]]
    assert not ApiToken.objects.exists()


def test_guessing_at_a_password_ends_after_five_times(ada) -> None:
    wrong = {"username": "ada", "password": "wrong"}
    assert [Program().post("/tokens", wrong).status_code for _ in range(5)] == [401] * 5
    refused = Program().post("/tokens", {"username": "ada", "password": "a long pass word"})
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) == 600
    other = Client(REMOTE_ADDR="192.0.2.9")
    assert (
        Program(client=other)
        .post("/tokens", {"username": "ada", "password": "a long pass word"})
        .status_code
        == 201
    )


def test_guessing_at_many_names_from_one_address_ends_too(ada) -> None:
    answers = [
        Program().post("/tokens", {"username": f"u{n}", "password": "x"}).status_code
        for n in range(31)
    ]
    assert answers == [401] * 30 + [429]


def ended(row: ApiToken) -> None:
    row.expires_at = timezone.now() - timedelta(seconds=1)
    row.save()


def revoked(row: ApiToken) -> None:
    tokens.revoke(row)


def of_a_disabled_account(row: ApiToken) -> None:
    get_user_model().objects.filter(pk=row.user_id).update(is_active=False)


@pytest.mark.parametrize("end", [ended, revoked, of_a_disabled_account])
def test_a_dead_token_opens_nothing_not_even_what_everybody_sees(ada, end) -> None:
    program = program_of(ada)
    assert program.get("/corpora").status_code == 200
    end(ApiToken.objects.get())
    for path in ("/me", "/corpora"):
        answer = program.get(path)
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "Basic YWRhOng=", "dial_x", "Bearer dial_unknown", "Bearer \xff"],
)
def test_what_is_no_token_is_refused(header: str) -> None:
    answer = Client().get("/api/v1/corpora", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"


def test_a_token_can_do_what_its_scopes_say_and_no_more(boss) -> None:
    reader = program_of(boss, "read")
    assert reader.get("/me").status_code == 200
    refused = reader.get("/audit")
    assert (refused.status_code, refused.json()["code"]) == (403, "scope")
    assert program_of(boss, "submit").get("/corpora").status_code == 403


def test_organise_needs_the_role_when_it_is_used(boss) -> None:
    program = program_of(boss, "organise")
    assert program.get("/audit").status_code == 200
    boss.groups.clear()
    refused = program.get("/audit")
    assert (refused.status_code, refused.json()["code"]) == (403, "role")


def test_making_a_token_that_may_organise_is_audited(boss) -> None:
    token_of(boss, "read")
    assert not AuditEntry.objects.filter(action="token.made").exists()
    token = token_of(boss, "organise")
    entry = AuditEntry.objects.get(action="token.made")
    assert token not in str(entry.details)


def test_a_browser_session_counts_for_nothing(ada) -> None:
    browser = Client()
    browser.force_login(ada)
    assert Program(client=browser).get("/me").status_code == 401


def test_a_program_needs_no_csrf_token(ada) -> None:
    strict = Client(enforce_csrf_checks=True)
    asked = {"username": "ada", "password": "a long pass word"}
    assert Program(client=strict).post("/tokens", asked).status_code == 201
    assert Program(token_of(ada), strict).delete("/tokens/current").status_code == 204


def test_where_the_database_is_away_the_answer_is_a_problem(
    ada, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = program_of(ada)

    def away(*_: object) -> None:
        raise OperationalError("no database")

    monkeypatch.setattr(tokens, "_note_use", away)
    answer = program.get("/me")
    assert answer.status_code == 503
    assert answer.json()["request_id"] == answer[HEADER]


def test_its_use_is_noted_at_most_once_a_minute(ada) -> None:
    program = program_of(ada)
    program.get("/me")
    first = ApiToken.objects.get().used_at
    program.get("/me")
    assert ApiToken.objects.get().used_at == first
    ApiToken.objects.update(used_at=timezone.now() - timedelta(seconds=61))
    program.get("/me")
    assert ApiToken.objects.get().used_at > first


def test_a_token_can_revoke_itself(ada) -> None:
    program = program_of(ada)
    assert program.delete("/tokens/current").status_code == 204
    assert program.get("/me").status_code == 401


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture
def browser(ada) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def ask_for_token(browser: Client, **changes: object):
    fields = {
        "name": "laptop",
        "scopes": ["read"],
        "days": "30",
        "password": "a long pass word",
        **changes,
    }
    return browser.post(reverse("tokens"), fields)


def test_the_page_shows_a_new_token_once(ada, browser: Client) -> None:
    made = ask_for_token(browser)
    token = made.context["token"]
    assert token in made.content.decode()
    assert "no-store" in made["Cache-Control"]
    assert token not in browser.get(reverse("tokens")).content.decode()
    assert Program(token).get("/me").status_code == 200


def test_the_page_offers_organise_to_organisers_only(ada, browser: Client) -> None:
    assert b'value="organise"' not in browser.get(reverse("tokens")).content
    refused = ask_for_token(browser, scopes=["organise"])
    assert refused.status_code == 422
    assert refused.context["form"].errors.keys() == {"scopes"}
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("password", ["", "guess"])
def test_who_finds_the_browser_open_makes_no_token(ada, browser: Client, password: str) -> None:
    """It would open the account for a year after its owner has come back."""
    assert ask_for_token(browser, password=password).status_code == 422
    assert not ApiToken.objects.exists()


def test_where_two_factor_log_in_is_on_the_page_wants_a_code_too(ada, browser: Client) -> None:
    assert b'name="code"' not in browser.get(reverse("tokens")).content
    device = TOTPDevice.objects.create(user=ada, key="31" * 20, name="app")
    assert b'name="code"' in browser.get(reverse("tokens")).content
    assert ask_for_token(browser).status_code == 422
    code = code_of(base64.b32encode(device.bin_key).decode())
    assert ask_for_token(browser, password="guess", code=code).status_code == 422
    assert not ApiToken.objects.exists()
    assert ask_for_token(browser, code=code).status_code == 200, "a wrong password uses no code up"
    assert ApiToken.objects.exists()


@pytest.mark.parametrize(
    ("most", "params"),
    [(0, {}), (5, {"name": "x" * 81}), (5, {"scopes": ["organise"]}), (5, {"days": "366"})],
)
def test_a_token_that_cannot_be_made_uses_no_code_up(
    ada, browser: Client, monkeypatch: pytest.MonkeyPatch, most: int, params: dict[str, object]
) -> None:
    device = TOTPDevice.objects.create(user=ada, key="31" * 20, name="app")
    code = code_of(base64.b32encode(device.bin_key).decode())
    with monkeypatch.context() as patched:
        patched.setattr(tokens, "MOST_TOKENS", most)
        assert ask_for_token(browser, code=code, **params).status_code == 422
    assert ask_for_token(browser, code=code).status_code == 200


def test_guessing_the_password_on_the_page_ends(ada, browser: Client) -> None:
    for number in range(10):
        ask_for_token(browser, password=f"guess {number}")
    refused = ask_for_token(browser)
    assert (refused.status_code, refused["Retry-After"]) == (429, "600")
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(("is_production", "status"), [(False, 200), (True, 422)])
def test_a_demo_s_password_makes_tokens_of_a_demo_alone(
    settings, is_production: bool, status: int
) -> None:
    """A session that began in the demo may still be open in production."""
    shared = DEMO_ACCOUNTS[1]
    browser = Client()
    browser.force_login(
        get_user_model().objects.create_user(shared.username, password=shared.password)
    )
    settings.PRODUCTION = is_production
    assert ask_for_token(browser, password=shared.password).status_code == status


def test_a_new_password_says_that_tokens_go_on_working(ada, browser: Client) -> None:
    def said_after(old: str, new: str) -> str:
        fields = {"old_password": old, "new_password1": new, "new_password2": new}
        return browser.post(reverse("password-change"), fields, follow=True).content.decode()

    revoked(ApiToken.objects.get(digest=tokens.digest_of(token_of(ada))))
    assert "tokens go on working" not in said_after("a long pass word", "a longer pass word")
    token_of(ada)
    assert "tokens go on working" in said_after("a longer pass word", "the longest pass word")


def test_one_revokes_ones_own_tokens_only(ada, browser: Client) -> None:
    token_of(get_user_model().objects.create_user("eve"))
    other = ApiToken.objects.get()
    assert browser.post(reverse("token-revoke", args=[other.pk])).status_code == 404
    token_of(ada)
    own = ApiToken.objects.get(user=ada)
    assert browser.post(reverse("token-revoke", args=[own.pk])).status_code == 302
    own.refresh_from_db()
    other.refresh_from_db()
    assert own.revoked_at is not None
    assert other.revoked_at is None


def test_a_name_is_text_on_the_page(ada, browser: Client) -> None:
    tokens.make(ada, "<script>alert(1)</script>", ["read"], 1)
    assert b"<script>alert" not in browser.get(reverse("tokens")).content


def test_a_wish_that_is_sent_twice_in_one_body_is_refused(ada) -> None:
    body = (
        '{"username": "ada", "password": "a long pass word", "name": "laptop", "days": 7, '
        '"scopes": ["read"], "scopes": ["read", "submit"]}'
    )
    answer = Client().post("/api/v1/tokens", body, content_type="application/json")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body.scopes")
    assert not ApiToken.objects.exists()


def test_nobody_has_endless_tokens(ada) -> None:
    for _ in range(tokens.MOST_TOKENS):
        token_of(ada)
    with pytest.raises(tokens.NotMade):
        token_of(ada)
    tokens.revoke(ApiToken.objects.first())
    token_of(ada)


@pytest.mark.django_db(transaction=True)
def test_those_made_at_once_are_not_more_than_the_most(
    ada, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MOST_TOKENS", 1)
    monkeypatch.setattr(tokens, "living", counted_by_all_before_one_is_made(tokens.living, 2))
    outcomes = at_once(*[lambda: token_of(ada)] * 2)
    assert [type(one) for one in outcomes if isinstance(one, Exception)] == [tokens.NotMade]
    assert ApiToken.objects.count() == 1


def counted_by_all_before_one_is_made(living: Callable, callers: int) -> Callable:
    """``living`` as the most unlucky moment has it: whoever looks waits for the others to look,
    too, unless these wait for it in turn."""
    all_looked = threading.Barrier(callers)

    class Counted:
        def __init__(self, user) -> None:
            self.user = user

        def count(self) -> int:
            found = living(self.user).count()
            with suppress(threading.BrokenBarrierError):
                all_looked.wait(1)
            return found

    return Counted
