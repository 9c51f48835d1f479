"""``login`` and ``logout``: which token is made, kept and revoked, and what is said where that
fails."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from leaderboard.client import credentials
from tests.client.stand_in import Answer, StandIn, stand_in

Run = Callable[..., tuple[int, str, str]]


def test_login_with_a_password_makes_a_token_and_keeps_it(
    dialeval: Run, server: StandIn, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a long pass word\n"))
    server.gives("tokens", Answer(b'{"token": "dial_new"}', 201))
    server.gives("me", {"username": "ada"})
    status, out, err = dialeval(
        "login", server.address, "--username", "ada", "--days", "7", "--scope", "read"
    )
    assert (status, err) == (0, "")
    assert "as ada" in out
    asked = server.asked[0].document
    assert {key: asked[key] for key in ("username", "password", "scopes", "days")} == {
        "username": "ada",
        "password": "a long pass word",
        "scopes": ["read"],
        "days": 7,
    }
    assert server.asked[1].headers["Authorization"] == "Bearer dial_new"
    kept = json.loads((config / "dialeval" / "credentials.json").read_text())
    assert kept == {"server": server.address, "token": "dial_new", "was_made": True}
    assert "dial_new" not in out


def test_login_with_a_token_that_is_not_good_keeps_nothing(
    dialeval: Run, server: StandIn, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("dial_old\n"))
    server.refuses("me", 401, "This token has expired.")
    status, _, err = dialeval("login", server.address)
    assert (status, err) == (1, "dialeval: This token has expired: run dialeval login\n")
    assert not config.exists()


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a long pass word\n"))


def deeds(server: StandIn) -> list[tuple[str, str, str]]:
    return [
        (asked.method, asked.path, asked.headers.get("Authorization", "")) for asked in server.asked
    ]


MADE = Answer(b'{"token": "dial_new"}', 201)
GONE = Answer(b"", 204)
REVOKED = ("DELETE", "/api/v1/tokens/current")


@pytest.mark.usefixtures("password")
def test_login_always_asks_for_the_scope_read(dialeval: Run, server: StandIn) -> None:
    server.gives("tokens", MADE)
    server.gives("me", {"username": "ada"})
    dialeval("login", server.address, "--username", "ada", "--scope", "submit", "--scope", "submit")
    assert server.asked[0].document["scopes"] == ["read", "submit"]


@pytest.mark.usefixtures("password")
def test_a_made_token_that_the_site_then_refuses_is_revoked(
    dialeval: Run, server: StandIn, config: Path
) -> None:
    server.gives("tokens", MADE)
    server.refuses("me", 403, "Not you.")
    server.gives("tokens/current", GONE)
    assert dialeval("login", server.address, "--username", "ada") == (1, "", "dialeval: Not you.\n")
    assert deeds(server)[-1] == (*REVOKED, "Bearer dial_new")
    assert not config.exists()


@pytest.mark.usefixtures("password")
def test_no_token_is_made_where_none_can_be_kept(
    dialeval: Run, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/dev/null")
    status, _, err = dialeval("login", server.address, "--username", "ada")
    assert (status, err) == (
        1,
        "dialeval: /dev/null/dialeval/credentials.json cannot be written: Not a directory\n",
    )
    assert server.asked == []


@pytest.mark.usefixtures("password")
def test_a_made_token_that_could_not_be_kept_is_revoked(
    dialeval: Run, server: StandIn, config: Path
) -> None:
    (config / "dialeval" / "credentials.json").mkdir(parents=True)
    server.gives("tokens", MADE)
    server.gives("me", {"username": "ada"})
    server.gives("tokens/current", GONE)
    status, _, err = dialeval("login", server.address, "--username", "ada")
    assert (status, err.count("\n")) == (1, 1)
    assert deeds(server)[-1] == (*REVOKED, "Bearer dial_new")


@pytest.mark.usefixtures("password")
def test_a_made_token_that_could_be_neither_kept_nor_revoked_is_said(
    dialeval: Run, server: StandIn
) -> None:
    server.gives("tokens", MADE)
    server.refuses("me", 403, "Not you.")
    server.refuses("tokens/current", 500, "It broke.")
    status, _, err = dialeval("login", server.address, "--username", "ada")
    assert status == 1
    assert err.splitlines() == [
        "the token that was made is not kept and was not revoked: It broke. Revoke it on the site",
        "dialeval: Not you.",
    ]


@pytest.mark.usefixtures("password")
def test_a_login_revokes_the_token_that_the_one_before_kept(dialeval: Run, server: StandIn) -> None:
    credentials.keep(credentials.Credentials(server.address, "dial_before", was_made=True))
    server.gives("tokens", MADE)
    server.gives("me", {"username": "ada"})
    server.gives("tokens/current", GONE)
    status, _, err = dialeval("login", server.address, "--username", "ada")
    assert (status, err) == (0, "")
    assert deeds(server)[-1] == (*REVOKED, "Bearer dial_before")
    assert credentials.credentials_from_login() == credentials.Credentials(
        server.address, "dial_new", was_made=True
    )


@pytest.mark.usefixtures("password")
def test_a_token_that_was_typed_in_stays_valid_when_another_takes_its_place(
    dialeval: Run, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be in use elsewhere, too."""
    server.gives("me", {"username": "ada"})
    monkeypatch.setattr("sys.stdin", io.StringIO("dial_typed\n"))
    assert dialeval("login", server.address)[0] == 0
    server.gives("tokens", MADE)
    assert dialeval("login", server.address, "--username", "ada")[0] == 0
    assert "DELETE" not in [asked.method for asked in server.asked]


@pytest.mark.usefixtures("password")
def test_a_replaced_token_that_was_not_revoked_is_said_and_no_failure(
    dialeval: Run, server: StandIn
) -> None:
    credentials.keep(credentials.Credentials(server.address, "dial_before", was_made=True))
    server.gives("tokens", MADE)
    server.gives("me", {"username": "ada"})
    server.refuses("tokens/current", 500, "It broke.")
    status, out, err = dialeval("login", server.address, "--username", "ada")
    assert (status, "as ada" in out) == (0, True)
    assert err == "the token of the login before was not revoked: It broke. Revoke it on the site\n"


def test_a_login_with_the_token_that_is_kept_already_leaves_it_valid(
    dialeval: Run, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials.keep(credentials.Credentials(server.address, "dial_same", was_made=True))
    monkeypatch.setattr("sys.stdin", io.StringIO("dial_same\n"))
    server.gives("me", {"username": "ada"})
    assert dialeval("login", server.address)[0] == 0
    assert [asked.method for asked in server.asked] == ["GET"]


@pytest.mark.usefixtures("password")
def test_a_login_leaves_the_token_of_another_site_valid(dialeval: Run, server: StandIn) -> None:
    server.gives("tokens", MADE)
    server.gives("me", {"username": "ada"})
    with stand_in() as elsewhere:
        credentials.keep(
            credentials.Credentials(elsewhere.address, "dial_elsewhere", was_made=True)
        )
        assert dialeval("login", server.address, "--username", "ada")[0] == 0
        assert elsewhere.asked == []
    assert [asked.method for asked in server.asked] == ["POST", "GET"]


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_token_that_is_not_utf_8_is_said(
    dialeval: Run, server: StandIn, monkeypatch: pytest.MonkeyPatch, errors: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\n"), "utf-8", errors))
    status, _, err = dialeval("login", server.address, "--username", "ada", "--stdin")
    assert (status, err) == (1, "dialeval: standard input is not UTF-8\n")


def test_login_over_plain_http_is_refused_before_anything_is_asked(
    dialeval: Run, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("dial_x\n"))
    status, _, err = dialeval("login", "http://dialeval.example.org")
    assert status == 1
    assert "use https" in err
    assert server.asked == []


def test_logout_revokes_and_forgets(dialeval: Run, server: StandIn, config: Path) -> None:
    credentials.keep(credentials.Credentials(server.address, "dial_test"))
    server.gives("tokens/current", Answer(b"", 204))
    assert dialeval("logout")[:2] == (0, "logged out\n")
    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("DELETE", "/api/v1/tokens/current")
    ]
    assert not (config / "dialeval" / "credentials.json").exists()


def test_logout_leaves_a_token_of_the_environment_alone(
    dialeval: Run, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials.keep(credentials.Credentials(server.address, "dial_kept"))
    monkeypatch.setenv(credentials.TOKEN, "dial_of_the_pipeline")
    server.gives("tokens/current", Answer(b"", 204))
    assert dialeval("logout") == (0, "logged out\n", "DIALEVAL_TOKEN is set, and stays in use\n")
    assert [asked.headers["Authorization"] for asked in server.asked] == ["Bearer dial_kept"]


def test_logout_says_that_a_token_could_not_be_revoked(
    dialeval: Run, server: StandIn, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(credentials.TOKEN)
    credentials.keep(credentials.Credentials(server.address, "dial_test"))
    server.refuses("tokens/current", 500, "It broke.")
    status, out, err = dialeval("logout")
    assert (status, out) == (1, "logged out\n")
    assert err == (
        "dialeval: the token is forgotten here but was not revoked: It broke. Revoke it on the "
        "site\n"
    )
    assert not (config / "dialeval" / "credentials.json").exists()


def test_logout_with_a_token_that_is_good_for_nothing_any_more(
    dialeval: Run, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(credentials.TOKEN)
    credentials.keep(credentials.Credentials(server.address, "dial_test"))
    server.refuses("tokens/current", 401, "This token has expired.")
    assert dialeval("logout") == (0, "logged out\n", "")
