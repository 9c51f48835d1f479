"""Two-factor log-in: a code beside the password, used once, guessed at in vain, and no way round
it."""

from __future__ import annotations

import base64
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.contrib.auth.models import Group
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotations.models import AuditEntry
from common.roles import ORGANISER, is_organiser
from dialeval_site.accounts import second_step, tokens, two_factor
from dialeval_site.config import environment
from dialeval_site.demo.site import DEMO_ACCOUNTS, make_account
from tests.dialeval_site.authenticator import code_of, key_on, recovery_codes_on

PASSWORD = "a door of seven colours"
KEY = "3132333435363738393031323334353637383930"
"""RFC 6238's own: "12345678901234567890"."""
LETTERS = base64.b32encode(bytes.fromhex(KEY)).decode()
Users = get_user_model()


@pytest.fixture
def ada(db: None) -> Any:
    """Two-factor log-in is on; her last code is older than all that tests give."""
    user = Users.objects.create_user("ada", password=PASSWORD)
    TOTPDevice.objects.create(user=user, key=KEY, name="app")
    return user


def give_password(client: Client, name: str = "ada", next_page: str = "") -> Any:
    return client.post(
        reverse("login"), {"username": name, "password": PASSWORD, "next": next_page}
    )


def give_code(client: Client, code: str) -> Any:
    return client.post(reverse("two-factor-log-in"), {"code": code})


def is_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def set_up(client: Client, password: str = PASSWORD, code: str = "") -> Any:
    letters = key_on(client.get(reverse("two-factor")).content.decode())
    return client.post(
        reverse("two-factor"), {"password": password, "code": code or code_of(letters)}
    )


def sure(prefix: str, code: str, password: str = PASSWORD) -> dict[str, str]:
    return {f"{prefix}-password": password, f"{prefix}-code": code}


# --- the app --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "code"), [(59, "287082"), (1111111109, "081804"), (2000000000, "279037")]
)
def test_codes_are_those_of_rfc_6238(at: int, code: str) -> None:
    """Appendix B, SHA-1: 94287082, 07081804, 69279037; of eight figures the last six."""
    assert code_of(LETTERS, at) == code


# --- setting it up --------------------------------------------------------------------------------


def test_who_shows_a_code_of_the_key_on_the_page_has_it_on(client: Client, db: None) -> None:
    user = Users.objects.create_user("bob", password=PASSWORD)
    client.force_login(user)
    page = set_up(client).content.decode()
    assert two_factor.is_on(user)
    assert len(set(recovery_codes_on(page))) == two_factor.CODES
    assert AuditEntry.objects.get(action="two_factor.on").actor == "bob"


def test_the_picture_holds_the_key_that_stands_below_it(client: Client, db: None) -> None:
    """The dark squares are those of the address that the key makes."""
    import segno

    user = Users.objects.create_user("bob", password=PASSWORD)
    client.force_login(user)
    page = client.get(reverse("two-factor")).content.decode()
    letters = key_on(page).replace(" ", "")
    address = (
        "otpauth://totp/"
        f"dialeval%3Abob?secret={letters}&algorithm=SHA1&digits=6&period=30&issuer=dialeval"
    )
    drawn = segno.make(address, error="m").svg_data_uri(
        scale=5, border=4, light="#fff", dark="#000"
    )
    assert drawn in page.replace("&#x27;", "'").replace("&amp;", "&")


@pytest.mark.parametrize(
    ("password", "code"), [("wrong", ""), (PASSWORD, "000000"), (PASSWORD, "no code")]
)
def test_without_password_and_code_it_stays_off(
    client: Client, db: None, password: str, code: str
) -> None:
    user = Users.objects.create_user("bob", password=PASSWORD)
    client.force_login(user)
    if code == "000000":  # the one code in a million that would be right
        letters = key_on(client.get(reverse("two-factor")).content.decode())
        code = f"{(int(code_of(letters)) + 500_000) % 1_000_000:06d}"
    assert set_up(client, password, code).status_code == 422
    assert not TOTPDevice.objects.exists()
    assert not AuditEntry.objects.exists()


def test_turning_it_on_ends_the_other_sessions(client: Client, db: None) -> None:
    """They were begun without a code."""
    user = Users.objects.create_user("bob", password=PASSWORD)
    other = Client()
    other.force_login(user)
    client.force_login(user)
    set_up(client)
    assert (is_in(client), is_in(other)) == (True, False)


def test_a_second_key_does_not_take_the_place_of_the_first(ada: Any) -> None:
    with pytest.raises(two_factor.IsOn):
        two_factor.turn_on(ada, two_factor.new_key(), "123456")
    assert TOTPDevice.objects.get().key == KEY


def test_the_demo_s_log_ins_stay_as_they_are(client: Client, db: None) -> None:
    shared = DEMO_ACCOUNTS[0]
    client.force_login(make_account(shared))
    assert client.get(reverse("two-factor")).status_code == 403
    for name in ("two-factor", "two-factor-codes", "two-factor-off"):
        assert client.post(reverse(name)).status_code == 403, name


def test_recovery_codes_are_kept_as_digests(client: Client, db: None) -> None:
    client.force_login(Users.objects.create_user("bob", password=PASSWORD))
    codes = recovery_codes_on(set_up(client).content.decode())
    kept = set(StaticToken.objects.values_list("token", flat=True))
    assert len(kept) == two_factor.CODES
    assert not kept & {code.replace("-", "") for code in codes}
    assert not recovery_codes_on(client.get(reverse("two-factor")).content.decode())


# --- logging in -----------------------------------------------------------------------------------


def test_the_password_alone_logs_nobody_in(ada: Any, client: Client) -> None:
    answer = give_password(client)
    assert answer["Location"] == reverse("two-factor-log-in")
    assert "_auth_user_id" not in client.session
    assert not is_in(client)


def test_password_and_code_lead_to_the_page_that_was_asked_for(ada: Any, client: Client) -> None:
    give_password(client, next_page="/metrics/")
    assert give_code(client, code_of(LETTERS))["Location"] == "/metrics/"
    assert is_in(client)


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"]
)
def test_the_code_leads_to_no_other_site(ada: Any, client: Client, elsewhere: str) -> None:
    give_password(client, next_page=elsewhere)
    assert give_code(client, code_of(LETTERS))["Location"] == reverse("desk")


def test_a_code_is_good_once(ada: Any) -> None:
    first, second, code = Client(), Client(), code_of(LETTERS)
    give_password(first)
    give_password(second)
    give_code(first, code)
    assert give_code(second, code).status_code == 422
    assert (is_in(first), is_in(second)) == (True, False)


def test_a_code_of_five_minutes_ago_is_none(ada: Any, client: Client) -> None:
    give_password(client)
    assert give_code(client, code_of(LETTERS, time.time() - 300)).status_code == 422
    assert not is_in(client)


def test_a_recovery_code_is_good_once_and_noted(ada: Any) -> None:
    code = two_factor.renew_codes(ada)[0]
    first, second = Client(), Client()
    give_password(first)
    give_password(second)
    assert give_code(first, code.upper().replace("-", " ")).status_code == 302
    assert give_code(second, code).status_code == 422
    assert two_factor.codes_left(ada) == two_factor.CODES - 1
    assert AuditEntry.objects.get(action="two_factor.recovery_code_used").details == {"left": 9}


def test_the_session_has_another_key_after_each_step(ada: Any, client: Client) -> None:
    """What somebody planted in the browser before is worth nothing afterwards."""
    client.get(reverse("login"))
    session = client.session
    session["planted"] = True
    session.save()
    planted = session.session_key
    client.cookies["sessionid"] = planted
    give_password(client)
    between = client.session.session_key
    give_code(client, code_of(LETTERS))
    assert len({planted, between, client.session.session_key}) == 3
    thief = Client()
    for key in (planted, between):
        thief.cookies["sessionid"] = key
        assert not is_in(thief)


def test_the_second_step_ends_after_five_minutes(
    ada: Any, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_password(client)
    monkeypatch.setattr(second_step, "SECONDS", -1)
    assert give_code(client, code_of(LETTERS))["Location"] == reverse("login")
    assert not is_in(client)


def test_the_second_step_ends_when_the_password_changes(ada: Any, client: Client) -> None:
    give_password(client)
    ada.set_password("another door of seven colours")
    ada.save()
    assert give_code(client, code_of(LETTERS))["Location"] == reverse("login")


def test_without_a_password_there_is_no_second_step(ada: Any, client: Client) -> None:
    assert give_code(client, code_of(LETTERS))["Location"] == reverse("login")
    assert not is_in(client)


# --- guessing -------------------------------------------------------------------------------------


def test_after_a_wrong_code_the_next_one_has_to_wait(ada: Any, client: Client) -> None:
    """django-otp: one second after the first wrong code, two after the second, then four …"""
    give_password(client)
    wrong = f"{(int(code_of(LETTERS)) + 500_000) % 1_000_000:06d}"
    assert give_code(client, wrong).status_code == 422
    refused = give_code(client, code_of(LETTERS))
    assert (refused.status_code, refused["Retry-After"]) == (429, "1")
    assert not is_in(client)


def test_a_wrong_code_before_a_clock_was_set_back_locks_nobody_out(ada: Any) -> None:
    """It was noted as of tomorrow: its owner would have had to wait until then."""
    tomorrow = timezone.now() + timedelta(days=1)
    TOTPDevice.objects.update(throttling_failure_count=1, throttling_failure_timestamp=tomorrow)
    two_factor.verify(ada, code_of(LETTERS))


def test_ten_wrong_codes_from_anywhere_are_the_last_for_ten_minutes(
    ada: Any, settings: Any
) -> None:
    """Counted by person: another address or session does not help."""
    settings.OTP_TOTP_THROTTLE_FACTOR = 0
    wrong = f"{(int(code_of(LETTERS)) + 500_000) % 1_000_000:06d}"
    answers = []
    for number in range(11):
        guesser = Client(REMOTE_ADDR=f"192.0.2.{number}")
        give_password(guesser)
        answers.append(give_code(guesser, wrong).status_code)
    assert answers == [422] * 10 + [429]
    last = Client(REMOTE_ADDR="192.0.2.99")
    give_password(last)
    assert give_code(last, code_of(LETTERS)).status_code == 429
    assert not is_in(last)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_send_one_code_at_once_one_is_let_in() -> None:
    user = Users.objects.create_user("ada", password=PASSWORD)
    TOTPDevice.objects.create(user=user, key=KEY, name="app")
    code, start = code_of(LETTERS), Barrier(2)

    def try_it(_: int) -> bool:
        start.wait()
        try:
            two_factor.verify(user, code)
        except (two_factor.WrongCode, two_factor.TooManyCodes):
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(try_it, range(2))) == 1


# --- no way round ---------------------------------------------------------------------------------


def test_the_admin_s_log_in_asks_for_the_code_too(ada: Any, client: Client) -> None:
    ada.is_staff = ada.is_superuser = True
    ada.save()
    form = {"username": "ada", "password": PASSWORD, "next": "/admin/auth/user/"}
    assert client.post(reverse("admin:login"), form)["Location"] == reverse("two-factor-log-in")
    assert client.get("/admin/").status_code == 302
    assert give_code(client, code_of(LETTERS))["Location"] == "/admin/auth/user/"
    assert client.get("/admin/auth/user/").status_code == 200


def test_whoever_asks_django_by_itself_is_refused(ada: Any) -> None:
    """A way in that is written one day and does not know of codes is closed, not open."""
    assert authenticate(RequestFactory().post("/"), username="ada", password=PASSWORD) is None
    assert authenticate(None, username="ada", password=PASSWORD) is None
    assert not Client().login(username="ada", password=PASSWORD)


def make_token(**more: str) -> Any:
    body = {"username": "ada", "password": PASSWORD, **more}
    return Client().post("/api/v1/tokens", body, content_type="application/json")


def test_a_token_needs_the_code(ada: Any) -> None:
    refused = make_token()
    assert (refused.status_code, refused.json()["code"]) == (401, "two_factor")
    assert make_token(code=code_of(LETTERS)).status_code == 201
    again = make_token(code=code_of(LETTERS))
    assert (again.status_code, again.json()["code"]) == (401, "wrong_code")
    assert make_token(code="123456").status_code == 429
    assert tokens.of(ada).count() == 1


def test_a_wrong_password_does_not_tell_that_a_code_is_wanted(ada: Any) -> None:
    refused = make_token(password="wrong")
    assert (refused.status_code, refused.json()["code"]) == (401, "password")


def test_the_admin_shows_no_keys(ada: Any, client: Client) -> None:
    client.force_login(Users.objects.create_superuser("root"))
    assert "otp" not in client.get("/admin/").content.decode()
    assert client.get("/admin/otp_totp/totpdevice/").status_code == 404


# --- changing it ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes", [{"password": "wrong"}, {"code": "no code"}, {"code": ""}, {"password": ""}]
)
@pytest.mark.parametrize(
    ("name", "prefix"), [("two-factor-off", "off"), ("two-factor-codes", "codes")]
)
def test_who_finds_the_browser_open_changes_nothing(
    ada: Any, client: Client, name: str, prefix: str, changes: dict[str, str]
) -> None:
    two_factor.renew_codes(ada)
    kept = set(StaticToken.objects.values_list("token", flat=True))
    client.force_login(ada)
    fields = {"password": PASSWORD, "code": code_of(LETTERS), **changes}
    assert (
        client.post(reverse(name), sure(prefix, fields["code"], fields["password"])).status_code
        == 422
    )
    assert two_factor.is_on(ada)
    assert set(StaticToken.objects.values_list("token", flat=True)) == kept


def test_password_and_code_turn_it_off(ada: Any, client: Client) -> None:
    client.force_login(ada)
    assert client.post(reverse("two-factor-off"), sure("off", code_of(LETTERS)))[
        "Location"
    ] == reverse("account")
    assert not two_factor.is_on(ada)
    assert AuditEntry.objects.get(action="two_factor.off").actor == "ada"
    assert give_password(Client())["Location"] == reverse("desk")


@pytest.mark.slow
def test_new_recovery_codes_end_the_old_ones(ada: Any, client: Client) -> None:
    old = two_factor.renew_codes(ada)
    client.force_login(ada)
    page = client.post(
        reverse("two-factor-codes"), sure("codes", code_of(LETTERS))
    ).content.decode()
    new = recovery_codes_on(page)
    assert len(new) == two_factor.CODES
    with pytest.raises(two_factor.WrongCode):
        two_factor.verify(ada, old[0])
    time.sleep(1.1)  # django-otp's pause after a wrong code
    two_factor.verify(ada, new[0])


def test_the_file_of_codes_holds_them_all(ada: Any, client: Client) -> None:
    from urllib.parse import unquote

    client.force_login(ada)
    page = client.post(
        reverse("two-factor-codes"), sure("codes", code_of(LETTERS))
    ).content.decode()
    (data,) = re.findall(r'href="data:text/plain;charset=utf-8,([^"]*)"', page)
    lines = unquote(data).splitlines()
    assert lines[1:] == recovery_codes_on(page)
    assert "ada" in lines[0]


def test_guessing_the_password_of_an_open_browser_ends(ada: Any, client: Client) -> None:
    client.force_login(ada)
    for number in range(10):
        client.post(reverse("two-factor-off"), sure("off", "x", f"guess {number}"))
    refused = client.post(reverse("two-factor-off"), sure("off", code_of(LETTERS)))
    assert (refused.status_code, refused["Retry-After"]) == (429, "600")
    assert two_factor.is_on(ada)


# --- who lost the phone ---------------------------------------------------------------------------


def test_an_operator_takes_it_off_and_the_log_says_so(
    ada: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("two_factor_off", "ada")
    assert capsys.readouterr().out == "ada: two-factor log-in is off; the password alone logs in\n"
    assert not two_factor.is_on(ada)
    entry = AuditEntry.objects.get(action="two_factor.reset")
    assert (entry.actor, entry.subject) == ("", "ada")
    call_command("two_factor_off", "ada")
    assert "was not on" in capsys.readouterr().out
    assert AuditEntry.objects.count() == 1


def test_the_command_names_an_account_that_is_not_there(db: None) -> None:
    with pytest.raises(CommandError, match="there is no account eve"):
        call_command("two_factor_off", "eve")


# --- organisers must ------------------------------------------------------------------------------


@pytest.fixture
def organiser(db: None, settings: Any) -> Any:
    settings.ORGANISERS_NEED_TWO_FACTOR = True
    user = Users.objects.create_user("olga", password=PASSWORD)
    user.groups.add(Group.objects.get(name=ORGANISER))
    return user


def test_an_organiser_without_a_second_factor_is_led_to_set_it_up(
    organiser: Any, client: Client
) -> None:
    client.force_login(organiser)
    for name in ("campaigns", "runs", "desk", "home", "audit"):
        assert client.get(reverse(name))["Location"] == reverse("two-factor"), name
    assert client.post(reverse("campaign-new"), {})["Location"] == reverse("two-factor")
    page = set_up(client)
    assert page.status_code == 200
    assert client.get(reverse("campaigns")).status_code == 200


def test_an_organiser_without_a_second_factor_is_none_for_programs_either(organiser: Any) -> None:
    assert not is_organiser(organiser)
    with pytest.raises(tokens.NotMade, match="Only organisers"):
        tokens.make(organiser, "mine", ["organise"], 1)


def test_a_token_of_before_the_rule_opens_nothing_of_organisers(
    organiser: Any, settings: Any
) -> None:
    settings.ORGANISERS_NEED_TWO_FACTOR = False
    _row, token = tokens.make(organiser, "mine", ["organise"], 1)
    header = {"authorization": f"Bearer {token}"}
    assert Client(headers=header).get("/api/v1/audit").status_code == 200
    settings.ORGANISERS_NEED_TWO_FACTOR = True
    assert Client(headers=header).get("/api/v1/audit").status_code == 403


def test_the_admin_is_closed_until_then(organiser: Any, client: Client) -> None:
    root = Users.objects.create_superuser("root", password=PASSWORD)
    client.force_login(root)
    assert client.get("/admin/")["Location"] == reverse("two-factor")
    from django.contrib import admin

    request = RequestFactory().get("/admin/")
    request.user = root
    assert not admin.site.has_permission(request)


def test_who_is_no_organiser_is_asked_for_nothing(organiser: Any, client: Client) -> None:
    client.force_login(Users.objects.create_user("pat", password=PASSWORD))
    assert client.get(reverse("home")).status_code == 200


def test_the_setting_is_optional_or_organisers() -> None:
    assert not environment.organisers_need_two_factor({})
    assert environment.organisers_need_two_factor({"DIALEVAL_TWO_FACTOR": "organisers"})
    with pytest.raises(
        ImproperlyConfigured, match="DIALEVAL_TWO_FACTOR must be optional or organisers"
    ):
        environment.organisers_need_two_factor({"DIALEVAL_TWO_FACTOR": "yes"})
