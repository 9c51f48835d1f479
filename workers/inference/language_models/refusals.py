"""What an endpoint says when it does not answer, in words that may be kept and shown. Pure.

Nothing that an endpoint says is trusted: its key is taken out of whatever comes back, and its own
words about an error are told apart from ours, because they may repeat what it was asked.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from common.outgoing import AddressNotAllowed
from workers.inference.language_models.client import Endpoint

REMOVED = "[key removed]"
SHORTEST_KEY = 4
"""Anything shorter is no secret, and taking it out would take words apart."""
MAX_TEXT_LENGTH = 500
NOT_STORED = "(its words repeat what it was asked, and are not kept)"
TELLING = 16
"""Characters in a row that an error shares with what was asked: then it repeats it."""


def without_key(text: str, endpoint: Endpoint) -> str:
    key = endpoint.api_key
    if len(key) <= SHORTEST_KEY:  # "none" is what an endpoint without a key is sent
        return text
    for form in {key, quote(key, safe=""), key.replace("/", "\\/")}:
        text = text.replace(form, REMOVED)
    return text


def key_fault(endpoint: Endpoint) -> str:
    """Why the key cannot be sent, or "". An HTTP library would say it by printing the key."""
    if endpoint.api_key.isascii() and endpoint.api_key.isprintable():
        return ""
    return "the key of the endpoint holds characters that cannot be sent"


def repeats(words: str, inputs: str) -> bool:
    """Whether an error's words share ``TELLING`` characters in a row with what was asked, blanks
    and case aside."""
    bare_words, known = _bare(words), _bare(inputs)
    return any(
        bare_words[start : start + TELLING] in known
        for start in range(max(1, len(bare_words) - TELLING + 1))
        if bare_words
    )


def storable_error(problem: Exception, endpoint: Endpoint, inputs: str) -> str:
    """The endpoint's own words about ``inputs``, as far as they may be kept: without
    its key, cut, and nothing of what it was asked."""
    words = without_key(words_of(problem), endpoint)[:MAX_TEXT_LENGTH]
    return NOT_STORED if repeats(words, inputs) else words


def _bare(text: str) -> str:
    return "".join(text.casefold().split())


def reason_of(problem: Exception) -> str:
    """What went wrong, in words of ours alone."""
    import openai

    if isinstance(problem, openai.APITimeoutError):
        return "the endpoint gave no answer in time, again and again"
    if isinstance(problem, AddressNotAllowed):
        return "the endpoint's address is not one that this site asks"
    if isinstance(problem, openai.APIConnectionError):
        return "the endpoint cannot be reached"
    if isinstance(problem, openai.APIStatusError):
        return _STATUS.get(
            problem.status_code, f"the endpoint answers with the error {problem.status_code}"
        )
    return f"the endpoint's answer cannot be read ({type(problem).__name__})"


_STATUS = {
    400: "the endpoint refuses what it is asked (400)",
    401: "the endpoint refuses this site's key (401)",
    403: "the endpoint refuses this site (403)",
    404: "the endpoint does not know the model (404)",
    429: "the endpoint takes no more requests for now (429), again and again",
}


_TOO_LONG = re.compile(
    r"context[ _-]?(length|size|window)|maximum context|(prompt|input|request|messages?) (is|are) "
    r"too long|too many (input )?tokens|exceeds? the (available )?(context|maximum)",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[ _-]?(filter|policy|management)", re.IGNORECASE)
_REQUEST_REFUSED = (400, 413, 422)


def why_not_taken(problem: Exception) -> str:
    """What of a prompt the endpoint refuses for its length or its content, in our words; "" for
    other errors."""
    import openai

    if (
        not isinstance(problem, openai.APIStatusError)
        or problem.status_code not in _REQUEST_REFUSED
    ):
        return ""
    words = f"{problem.code or ''} {problem.type or ''} {problem}"
    if problem.status_code == 413 or _TOO_LONG.search(words):
        return "the prompt is longer than its model takes"
    return "the endpoint's content filter refuses the prompt" if _FILTERED.search(words) else ""


def words_of(problem: Exception) -> str:
    """The endpoint's own words, as a line that a database keeps."""
    return " ".join(str(problem).replace("\0", "").encode("utf-8", "replace").decode().split())
