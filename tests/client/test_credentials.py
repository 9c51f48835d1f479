"""Where the token lies, who may read it, and to which servers it goes."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from leaderboard.client import credentials
from leaderboard.client.credentials import Credentials
from leaderboard.client.errors import ClientError

HOME = "https://dialeval.example.org"


def environ(folder: Path, **more: str) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(folder), **more}


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    credentials.keep(Credentials(HOME, "old"), environ(tmp_path))
    path = credentials.keep(Credentials(HOME, "new"), environ(tmp_path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["credentials.json"]
    assert credentials.current(environ(tmp_path)) == Credentials(HOME, "new")


def test_a_kept_token_goes_to_no_other_server(tmp_path: Path) -> None:
    credentials.keep(Credentials(HOME, "secret"), environ(tmp_path))
    assert (
        credentials.current(environ(tmp_path, DIALEVAL_SERVER="https://other.example")).token == ""
    )
    assert credentials.current(environ(tmp_path, DIALEVAL_SERVER=f"{HOME}/")).token == "secret"


def test_the_environment_stands_in_for_a_login(tmp_path: Path) -> None:
    given = environ(tmp_path, DIALEVAL_SERVER="http://127.0.0.1:8000", DIALEVAL_TOKEN="dial_x")
    assert credentials.current(given) == Credentials("http://127.0.0.1:8000", "dial_x")


def test_without_a_server_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="dialeval login"):
        credentials.current(environ(tmp_path))


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8000",
        "http://127.0.0.1",
        "http://127.8.9.1:1",
        "http://[::1]:8000",
        "https://x.example",
        "https://x.example/site",
    ],
)
def test_addresses_that_may_have_a_token(address: str) -> None:
    assert credentials.checked_server(f" {address}/ ") == address
    assert credentials.checked_server(f"{address}/api/v1") == address


@pytest.mark.parametrize(
    "address",
    [
        "http://dialeval.example.org",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "http://0.0.0.0",
        "http://10.0.0.1",
        "dialeval.example.org",
        "ftp://dialeval.example.org",
        "file:///etc/passwd",
        "https://",
        "https://me:secret@dialeval.example.org",
        "https://dialeval.example.org/?x=1",
        "https://dialeval.example.org/#",
        "",
        "http://[::1",
        "http://127.0.0.1:abc",
        "http://127.0.0.1:99999",
        "https://a..b",
        f"https://{'a' * 64}.example.org",
        "https://a\udcff.example.org",
        "https://example.org/\udcff",
    ],
)
def test_addresses_that_may_not(address: str) -> None:
    with pytest.raises(ClientError):
        credentials.checked_server(address)


def test_a_file_that_cannot_be_written_leaves_no_token_behind(tmp_path: Path) -> None:
    path = credentials.path_of(environ(tmp_path))
    path.mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        credentials.keep(Credentials(HOME, "secret"), environ(tmp_path))
    assert [file.name for file in path.parent.iterdir()] == ["credentials.json"]


def test_to_ask_whether_it_can_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    credentials.refuse_unwritable(environ(tmp_path / "new"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ClientError, match="cannot be written"):
        credentials.refuse_unwritable({"XDG_CONFIG_HOME": "/dev/null"})


@pytest.mark.parametrize("token", ["", " ", "a b", "a\nb", "ü", "a\x00"])
def test_what_does_not_fit_into_a_header_is_no_token(token: str) -> None:
    with pytest.raises(ClientError):
        credentials.checked_token(token)


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"server": 1}', '{"server": "http://evil.example"}']
)
def test_a_broken_file_is_an_error_and_no_token(tmp_path: Path, content: str) -> None:
    path = credentials.path_of(environ(tmp_path))
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ClientError):
        credentials.current(environ(tmp_path))


def test_the_token_stands_in_no_representation() -> None:
    assert "secret" not in repr(Credentials(HOME, "secret"))


def test_forgetting_removes_the_file(tmp_path: Path) -> None:
    credentials.keep(Credentials(HOME, "x"), environ(tmp_path))
    assert credentials.forget(environ(tmp_path))
    assert not credentials.forget(environ(tmp_path))
