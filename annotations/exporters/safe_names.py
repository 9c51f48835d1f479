"""Names that can be file names and single words in a file that is split at white space."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

_UNSAFE = re.compile(r"[^A-Za-z0-9_+.-]+")
_MAX_LENGTH = 100


class SafeNames:
    """Gives every name a safe one, always the same and never the same for two names.

    Safe names differ in more than case, for file systems that ignore it.

    Args:
        unsafe: further characters that may not occur.
        reserved: names that mean something else and are never given.
    """

    def __init__(self, unsafe: str = "", reserved: Iterable[str] = ()) -> None:
        self._unsafe = unsafe
        self._safe: dict[str, str] = {}
        self._taken = {name.casefold() for name in reserved}

    def of(self, name: str) -> str:
        """The safe name of a name.

        Args:
            name: any name.

        Returns:
            ASCII letters, digits and ``_+.-``, at least one, with ``_`` for each run of other
            characters; at most 100 of them and, where another name has the same, ``_`` with 8
            hexadecimal digits. It does not begin with ``-`` or ``+``, and has no point at either
            end.
        """
        if name not in self._safe:
            safe = candidate = self._candidate(name)
            digest = name
            while safe.casefold() in self._taken:
                digest = hashlib.sha256(digest.encode("utf-8")).hexdigest()
                safe = f"{candidate}_{digest[:8]}"
            self._taken.add(safe.casefold())
            self._safe[name] = safe
        return self._safe[name]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(name, safe name) in the order of first use."""
        return tuple(self._safe.items())

    def _candidate(self, name: str) -> str:
        safe = _UNSAFE.sub("_", name)
        for character in self._unsafe:
            safe = safe.replace(character, "_")
        safe = safe[:_MAX_LENGTH].strip(".")
        # No option of a command, and no formula in the tool's tables, which have no way to quote.
        return f"_{safe[1:]}" if safe.startswith(("-", "+")) else safe or "_"
