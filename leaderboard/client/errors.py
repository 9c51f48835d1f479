"""What the command tells on one line before it ends with status 1."""

from __future__ import annotations

from typing import Any


class ClientError(Exception):
    """Something that the person at the keyboard can do something about; the message says what."""


class Refused(ClientError):
    """The server refused the request.

    Attributes:
        status: HTTP status.
        problem: the problem document, or an empty dictionary.
    """

    def __init__(self, message: str, status: int, problem: dict[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.problem = problem
