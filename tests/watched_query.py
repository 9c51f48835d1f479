"""Which names of its address's query a page looks at. What it never looks at changes nothing: a test
that asks each page with many queries asks with these."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import parse_qsl

from django.http import QueryDict

ALL = "*"
"""Somebody looked at whatever there is."""


class WatchedQuery(QueryDict):
    """In the place of ``django.core.handlers.wsgi.QueryDict``."""

    read: ClassVar[set[str]] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.read.add(str(name))
        return super().__contains__(name)

    def getlist(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().getlist(name, default)

    def __iter__(self) -> Any:
        self.read.add(ALL)
        return super().__iter__()

    def keys(self) -> Any:
        self.read.add(ALL)
        return super().keys()

    def items(self) -> Any:
        self.read.add(ALL)
        return super().items()

    def lists(self) -> Any:
        self.read.add(ALL)
        return super().lists()

    def urlencode(self, safe: str | None = None) -> str:
        self.read.add(ALL)
        return super().urlencode(safe)

    def copy(self) -> Any:
        self.read.add(ALL)
        return super().copy()


def is_read(query: str, read: set[str]) -> bool:
    """Whether a page that looked at these names looks at one of the query's."""
    names = {name for name, _ in parse_qsl(query.removeprefix("?"), keep_blank_values=True)}
    return ALL in read or bool(names & read)
