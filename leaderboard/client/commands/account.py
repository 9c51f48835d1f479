"""``login`` and ``logout``."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import platform
import sys
from collections.abc import Iterator

from leaderboard.client import credentials, terminal
from leaderboard.client.commands.arguments import Subparsers, command
from leaderboard.client.credentials import Credentials
from leaderboard.client.errors import ClientError, Refused
from leaderboard.client.server import Server
from leaderboard.client.texts import is_unicode, one_line

DAYS = 90
SCOPES = ("read", "submit", "export")


def add(parsers: Subparsers) -> None:
    login = command(
        parsers,
        "login",
        "log in and keep a token on this machine",
        _login,
        "Asks for a token (made on the site under Account, Tokens) or, with --username, for the "
        "password, with which a token is made; for an account with two-factor log-in for a code, "
        "too. It is kept in a file that only you can read.",
    )
    login.add_argument(
        "server", metavar="ADDRESS", help="the site, such as https://dialeval.example.org"
    )
    login.add_argument("--username", help="log in with a password instead of a token")
    login.add_argument(
        "--days",
        type=int,
        default=DAYS,
        help=f"with --username: how long the token is good, at most 365 (default: {DAYS})",
    )
    login.add_argument(
        "--scope",
        action="append",
        choices=("read", "submit", "export", "organise"),
        help="with --username: what the token may do besides read; may be given again (default: "
        f"{', '.join(SCOPES)})",
    )
    login.add_argument(
        "--stdin",
        action="store_true",
        help="read token, or password and code, from standard input, no prompt",
    )
    logout = command(parsers, "logout", "revoke the token and forget it", _logout)
    logout.add_argument(
        "--keep-token", action="store_true", help="forget it here but leave it valid on the server"
    )


def _login(options: argparse.Namespace) -> int:
    server = credentials.checked_server(options.server)
    credentials.refuse_unwritable()
    replaced = _made_before(server)
    if options.username:
        logged_in = Credentials(server, _token_for(server, options), was_made=True)
        with _revoked_on_failure(logged_in):
            answer = _verified_and_stored(logged_in)
    else:
        logged_in = Credentials(
            server, credentials.checked_token(_secret("Token: ", options.stdin))
        )
        answer = _verified_and_stored(logged_in)
    if replaced is not None and replaced.token != logged_in.token:
        _revoke_replaced(replaced)
    terminal.say(answer)
    return 0


def _made_before(server: str) -> Credentials | None:
    """What an earlier login made for this site, which nobody knows once it is replaced."""
    with contextlib.suppress(ClientError):  # a file that cannot be read is written anew
        saved = credentials.credentials_from_login()
        return saved if saved is not None and saved.was_made and saved.server == server else None
    return None


def _verified_and_stored(given: Credentials) -> str:
    """In one line whose token it is and where it is kept. Raises ClientError where the site does
    not know it."""
    with Server(given, terminal.waiting) as connection:
        me = connection.get("me")
    path = credentials.keep(given)
    return (
        f"logged in to {given.server} as {one_line(me.get('username') or me.get('name'), 100)}; "
        f"kept in {path}"
    )


@contextlib.contextmanager
def _revoked_on_failure(made: Credentials) -> Iterator[None]:
    """A token that was made and is not kept would live on, known to nobody."""
    try:
        yield
    except BaseException:  # Ctrl-C, too
        if still_valid := _why_not_revoked(made):
            terminal.note(
                f"the token that was made is not kept and was not revoked: {still_valid}. Revoke "
                "it on the site"
            )
        raise


def _revoke_replaced(replaced: Credentials) -> None:
    if still_valid := _why_not_revoked(replaced):
        terminal.note(
            f"the token of the login before was not revoked: {still_valid}. Revoke it on the site"
        )


def _token_for(server: str, options: argparse.Namespace) -> str:
    request = {
        "username": options.username,
        "password": _secret("Password: ", options.stdin),
        "name": f"dialeval on {platform.node()[:40] or 'a machine'}",
        # Without read it could neither be tried nor revoked.
        "scopes": list(dict.fromkeys(["read", *(options.scope or SCOPES)])),
        "days": options.days,
    }
    with Server(Credentials(server), terminal.waiting) as connection:
        try:
            answer = connection.post("tokens", request)
        except Refused as refusal:
            if refusal.problem.get("code") != "two_factor":
                raise
            answer = connection.post(
                "tokens", {**request, "code": _secret("Code: ", options.stdin)}
            )
    return credentials.checked_token(str(answer.get("token", "")))


def _secret(prompt: str, from_stdin: bool) -> str:
    try:
        hidden = not from_stdin and sys.stdin.isatty()
        typed = getpass.getpass(prompt) if hidden else sys.stdin.readline().rstrip("\r\n")
    except EOFError as error:
        raise ClientError("nothing was typed") from error
    except UnicodeDecodeError as error:
        raise ClientError("standard input is not UTF-8") from error
    if not is_unicode(typed):
        raise ClientError("standard input is not UTF-8")
    return typed


def _logout(options: argparse.Namespace) -> int:
    """Of the token that is kept here: one in the environment is somebody else's to revoke."""
    saved, still_valid = None, ""
    with contextlib.suppress(ClientError):  # a file that cannot be read is forgotten, too
        saved = credentials.credentials_from_login()
    if saved is not None and saved.token and not options.keep_token:
        still_valid = _why_not_revoked(saved)
    terminal.say("logged out" if credentials.forget() else "not logged in on this machine")
    if credentials.has_token():
        terminal.note(f"{credentials.TOKEN} is set, and stays in use")
    if still_valid:
        raise ClientError(
            f"the token is forgotten here but was not revoked: {still_valid}. Revoke it on the site"
        )
    return 0


def _why_not_revoked(credentials: Credentials) -> str:
    """Empty where the token is good for nothing any more."""
    try:
        with Server(credentials, terminal.waiting) as connection:
            connection.delete("tokens/current")
    except Refused as refusal:
        return "" if refusal.status == 401 else str(refusal).rstrip(".")
    except ClientError as error:
        return str(error).rstrip(".")
    return ""
