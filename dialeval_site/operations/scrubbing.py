"""Secrets out of texts, before a text is logged or sent to somebody who watches over the site.

Two ways together: what is known to be a secret here (keys and passwords of the environment) is
found wherever it stands; what only has the form of one (a token of the API, a cookie, an invitation
in an address) is found by its form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

HIDDEN = "[hidden]"
SHORTEST = 6
"""A known secret of fewer characters would be found in words that are none."""

_NAMES = (
    r"pass(?:word|wd|phrase)?[12]?|secret(?:_?key)?|token|api_?key|access_?key|otp|"
    r"authorization|cookie|session_?id|csrf_?token|csrfmiddlewaretoken|dsn"
)
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\bdial_[\w-]{8,}"), f"dial_{HIDDEN}"),
    (re.compile(r"\b(bearer|basic)\s+[^\s\"',;]+", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"(?<=://)([^/\s:@\"']*):[^\s@\"']+@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"(/join/|/password/new/[^/\s]+/)(?!set-password)[^/\s\"'?#<>]+"), rf"\1{HIDDEN}"),
    (
        re.compile(
            rf"((?:\b|_|-)(?:{_NAMES})\\?[\"']?\s*[:=]\s*)(\\?\"[^\"\r\n]*\"|\\?'[^'\r\n]*'|[^\s&;"
            r",\"'<>)}\]]+)",
            re.IGNORECASE,
        ),
        rf"\g<1>{HIDDEN}",
    ),
)


class Scrubber:
    """Takes the known secrets and whatever looks like one out of a text."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = {
            one
            for value in known
            if len(value) >= SHORTEST
            for one in (value, quote(value, safe=""))
        }
        longest_first = "|".join(
            re.escape(value) for value in sorted(values, key=len, reverse=True)
        )
        self._known = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)") if values else None

    def text(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        for form, instead in _FORMS:
            text = form.sub(instead, text)
        return text

    def all_of(self, value: Any) -> Any:
        """The same in every text of a nested document. What stands under the name of a secret is
        hidden whole."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {
                name: HIDDEN if _names_a_secret(name) else self.all_of(one)
                for name, one in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.all_of(one) for one in value]
        return value


_SECRET_NAME = re.compile(rf"(?:.*[_-])?(?:{_NAMES})", re.IGNORECASE)


def _names_a_secret(name: object) -> bool:
    return isinstance(name, str) and _SECRET_NAME.fullmatch(name) is not None
