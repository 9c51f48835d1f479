"""The connection that a sub-command works with."""

from __future__ import annotations

from leaderboard.client import credentials, terminal
from leaderboard.client.server import Server


def connected() -> Server:
    """The server of the environment or of ``login``. Raises ClientError where there is none."""
    return Server(credentials.current(), terminal.waiting)
