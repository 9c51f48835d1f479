"""The leaderboard cache: stored answers as each process last read them. A leaderboard's document is
a megabyte of JSON, read twenty times a second.

The row is asked for every time, without its answer; what is kept counts only while the row says
that it is still the same answer. So nothing that was dropped or replaced is ever shown from here.
"""

from __future__ import annotations

import threading
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
    if row.computed_at is None:
        return None
    with _lock:
        found = _answers.get(row.pk)
        if found is not None and found.computed_at == row.computed_at:
            return found.answer
    text = _text_of(row.pk, row.computed_at, kind.for_files)
    # It was dropped or replaced in this moment: whoever looks again finds what there is
    if text is None:
        return None
    answer = kind.from_json(text)
    _remember(row.pk, CachedAnswer(row.computed_at, BYTES_A_CHARACTER * len(text), answer))
    return answer


def whole_answer(kind: Kind, pk: int, computed_at: datetime) -> Any:
    """For a file or another answer, which are made rarely: not kept. None where the row has another
    answer by now."""
    text = _text_of(pk, computed_at)
    return None if text is None else kind.from_json(text)


def _text_of(pk: int, computed_at: datetime, without: str = "") -> str | None:
    answer = _Without("answer", key=without) if without else F("answer")
    same = Analysis.objects.filter(pk=pk, computed_at=computed_at, answer__isnull=False)
    return same.annotate(text=Cast(answer, TextField())).values_list("text", flat=True).first()


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
