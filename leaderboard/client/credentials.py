"""Where the server's address and the token are kept: a file of the user's, readable by nobody
else."""

from __future__ import annotations

import ipaddress
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from common.temporary import temporary_folder
from leaderboard.client.errors import ClientError

if TYPE_CHECKING:
    import httpx2

SERVER, TOKEN = "DIALEVAL_SERVER", "DIALEVAL_TOKEN"
HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Credentials:
    """The address of a server and the token for it.

    Attributes:
        server: address, without a slash at its end.
        token: "" where there is none. It is kept out of the representation, and so out of
            tracebacks.
        was_made: whether ``login`` made the token, for itself. One that somebody typed in may be in
            use elsewhere, too.
    """

    server: str
    token: str = field(default="", repr=False)
    was_made: bool = False


def path_of(environ: Mapping[str, str] = os.environ) -> Path:
    """Path of the credentials file, below the system's folder for settings.

    Args:
        environ: environment variables; XDG_CONFIG_HOME, or APPDATA on Windows, names the folder.

    Returns:
        Path of a file that need not exist.
    """
    home = Path.home()
    if environ.get("XDG_CONFIG_HOME"):
        folder = Path(environ["XDG_CONFIG_HOME"])
    elif sys.platform == "win32":
        folder = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = home / ".config"
    return folder / "dialeval" / "credentials.json"


def current(environ: Mapping[str, str] = os.environ) -> Credentials:
    """Credentials from the environment, else as ``login`` stored them.

    A stored token goes to no server but its own.

    Args:
        environ: environment variables; DIALEVAL_SERVER and DIALEVAL_TOKEN replace what is stored.

    Returns:
        Credentials for the current server, with an empty token where there is none for it.

    Raises:
        ClientError: there is no server, its address or the token is refused (``checked_server``,
            ``checked_token``), or the credentials file cannot be read.
    """
    credentials = credentials_from_login(environ)
    server = (
        checked_server(environ[SERVER])
        if environ.get(SERVER)
        else (credentials.server if credentials else "")
    )
    if not server:
        raise ClientError(f"no server: run dialeval login ADDRESS, or set {SERVER}")
    if environ.get(TOKEN):
        return Credentials(server, checked_token(environ[TOKEN]))
    return Credentials(
        server, credentials.token if credentials and credentials.server == server else ""
    )


def credentials_from_login(environ: Mapping[str, str] = os.environ) -> Credentials | None:
    """Credentials as ``login`` stored them.

    Args:
        environ: environment variables, for ``path_of``.

    Returns:
        The credentials; None where none are stored.

    Raises:
        ClientError: the file cannot be read, or its address is refused (``checked_server``).
    """
    path = path_of(environ)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ClientError(f"{path} cannot be read: run dialeval login again") from error
    if not isinstance(document, dict) or not isinstance(document.get("server"), str):
        raise ClientError(f"{path} cannot be read: run dialeval login again")
    was_made = document.get("was_made") is True
    return Credentials(checked_server(document["server"]), str(document.get("token", "")), was_made)


def has_token(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment holds a token, which then goes before what ``login`` stored.

    Args:
        environ: environment variables.

    Returns:
        True where DIALEVAL_TOKEN is set and not empty.
    """
    return bool(environ.get(TOKEN))


def refuse_unwritable(environ: Mapping[str, str] = os.environ) -> None:
    """Check that ``keep`` can write, before a token is made. Leaves nothing behind.

    Args:
        environ: environment variables, for ``path_of``.

    Raises:
        ClientError: the folder of the credentials file, or its first parent that exists, cannot be
            written.
    """
    path = path_of(environ)
    try:
        there = next(folder for folder in path.parents if folder.exists())
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise ClientError(f"{path} cannot be written: {error.strerror}") from error


def keep(credentials: Credentials, environ: Mapping[str, str] = os.environ) -> Path:
    """Store credentials in a file that only its owner can read, whole or not at all.

    Args:
        credentials: to be stored in the place of those that are.
        environ: environment variables, for ``path_of``.

    Returns:
        Path of the file.

    Raises:
        OSError: the file cannot be written.
    """
    path = path_of(environ)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with temporary_folder(beside=path) as folder:  # only its owner may open it
        unfinished = folder / path.name
        unfinished.touch(mode=0o600)
        unfinished.write_text(json.dumps(asdict(credentials)), encoding="utf-8")
        unfinished.replace(path)
    return path


def forget(environ: Mapping[str, str] = os.environ) -> bool:
    """Remove the stored credentials.

    Args:
        environ: environment variables, for ``path_of``.

    Returns:
        Whether there was a file.

    Raises:
        OSError: the file cannot be removed.
    """
    path = path_of(environ)
    if not path.exists():
        return False
    path.unlink()
    return True


def checked_server(address: str) -> str:
    """Check a server's address.

    Args:
        address: as it was typed.

    Returns:
        The address without white space around it, a slash at its end, or ``/api/v1``.

    Raises:
        ClientError: it is no https address, nor an http one on this machine, or it holds a
            password, query or fragment.
    """
    address = address.strip().rstrip("/")
    url = _url_of(address)
    if url is None or url.scheme not in ("http", "https") or not url.host:
        raise ClientError("the server's address must look like https://dialeval.example.org")
    if url.userinfo or "?" in address or "#" in address:
        raise ClientError("the server's address must hold no password, query or fragment")
    if url.scheme == "http" and not _is_loopback(url.host):
        raise ClientError(
            "http would send the token in the clear: use https (http is for this machine only)"
        )
    return address.removesuffix("/api/v1")


def checked_token(token: str) -> str:
    """Check that a text can be a token: it must fit into a header.

    Args:
        token: as it was typed.

    Returns:
        The token without white space around it.

    Raises:
        ClientError: it is empty, or holds a space or anything but printable ASCII.
    """
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ClientError("this is no token: it has letters, digits and signs only, on one line")
    return token


def _url_of(address: str) -> httpx2.URL | None:
    """As the library reads it that connects to it; None where nobody can connect to it."""
    import httpx2

    try:
        url = httpx2.URL(address)
        # As the system's look-up does: no empty label, none of over 63
        url.raw_host.decode("ascii").encode("idna")
    except (httpx2.InvalidURL, ValueError):
        return None
    return url if (url.port or 0) <= HIGHEST_PORT else None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
