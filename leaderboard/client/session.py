"""The connection that a sub-command works with."""

from __future__ import annotations

from leaderboard.client import credentials, terminal
from leaderboard.client.server import Server


def connected() -> Server:
    """The server of the environment or of ``login``.

    Returns:
        A connection that prints to standard error before it waits.

    Raises:
        ClientError: there is no server, or its credentials or proxy cannot be used.
    """
    return Server(credentials.current(), terminal.waiting)
