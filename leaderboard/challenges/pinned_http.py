"""One POST to an address that somebody else chose. Redirects are not followed. All of it takes ten
seconds at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from common.pinned_http import NotReached, answered

__all__ = ["Answer", "NotReached", "post"]
SECONDS = 10.0
ANSWER_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    text: str


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    private_allowed: bool,
    seconds: float = SECONDS,
) -> Answer:
    """Raises ``AddressNotAllowed`` or ``NotReached``, with words for the webhook's owner."""
    with answered(
        "POST", url, headers, body, private_allowed=private_allowed, seconds=seconds
    ) as response:
        text = response.read(ANSWER_BYTES).decode("utf-8", "replace")
        return Answer(response.status, text)
