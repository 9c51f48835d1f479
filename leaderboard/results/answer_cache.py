"""The leaderboard cache: stored answers as each process last read them. A leaderboard's document is
a megabyte of JSON, read twenty times a second.

The row is asked for every time, without its answer; what is kept counts only while the row says
that it is still the same answer. So nothing that was dropped or replaced is ever shown from here.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cachetools import LRUCache
from django.db.models import F, Func, JSONField, TextField
from django.db.models.functions import Cast

from common.cache import SHARE_OF_ANSWERS, share_of_page_cache
from leaderboard.models import Analysis
from leaderboard.results.kinds import Kind

BYTES_A_CHARACTER = 8
"""What a character of JSON takes as Python objects, roughly. A corpus with a million ratings has
nine million characters in use: with less room, pages take turns in reading each other's answers
anew, 50 to 300 ms each."""
MOST_BYTES = share_of_page_cache(SHARE_OF_ANSWERS)


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    computed_at: datetime
    size: int
    answer: Any


_answers: LRUCache[int, CachedAnswer] = LRUCache(MOST_BYTES, lambda found: found.size)
_lock = threading.Lock()


def answer_of(kind: Kind, row: Analysis) -> Any:
    """The answer of a row that was read without it, as pages see it (``Kind.for_files``). Several
    readers get the same object: nobody changes it."""
    return answers_of(kind, [row]).get(row.pk)


def answers_of(kind: Kind, rows: Iterable[Analysis]) -> dict[int, Any]:
    """``answer_of`` of each row, by its key; one query reads those that are not cached. One that
    was dropped or replaced in this moment is missing: whoever looks again finds what there is."""
    wanted = {row.pk: row.computed_at for row in rows if row.computed_at is not None}
    with _lock:
        found = {
            pk: cached.answer
            for pk, computed_at in wanted.items()
            if (cached := _answers.get(pk)) is not None and cached.computed_at == computed_at
        }
    missing = [pk for pk in wanted if pk not in found]
    if not missing:
        return found
    for pk, computed_at, text in _texts_of(missing, kind.for_files):
        if computed_at == wanted[pk]:
            found[pk] = kind.from_json(text)
            _remember(pk, CachedAnswer(computed_at, BYTES_A_CHARACTER * len(text), found[pk]))
    return found


def whole_answer(kind: Kind, pk: int, computed_at: datetime) -> Any:
    """For a file or another answer, which are made rarely: not kept. None where the row has another
    answer by now."""
    stored = [text for _pk, at, text in _texts_of([pk]) if at == computed_at]
    return kind.from_json(stored[0]) if stored else None


def _texts_of(pks: list[int], without: str = "") -> Iterable[tuple[int, datetime, str]]:
    answer = _Without("answer", key=without) if without else F("answer")
    stored = Analysis.objects.filter(pk__in=pks, computed_at__isnull=False, answer__isnull=False)
    return stored.annotate(text=Cast(answer, TextField())).values_list("pk", "computed_at", "text")


class _Without(Func):  # type: ignore[misc]  # Django comes without types
    """A JSON document without one of its keys, a word of our own."""

    output_field = JSONField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="JSON_REMOVE(%(expressions)s, '$.%(key)s')", **context
        )

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="(%(expressions)s - '%(key)s')", **context
        )


def _remember(pk: int, found: CachedAnswer) -> None:
    if found.size > MOST_BYTES // 2:
        return
    with _lock:
        _answers[pk] = found


def forget() -> None:
    with _lock:
        _answers.clear()
