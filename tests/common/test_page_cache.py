"""All that a web process keeps to make pages faster is within one setting."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings

from common import cache
from leaderboard.results import answer_cache

MEGABYTE = 1_000_000


class Weighs:
    weight = MEGABYTE


def test_what_is_kept_for_pages_is_bounded_together() -> None:
    """200 MB by default: of 250 answers, 250 parts and 250 tables of a megabyte each, 200 at most
    are left."""
    answer = answer_cache.CachedAnswer(datetime.now(UTC), MEGABYTE, Weighs())
    for number in range(250):
        answer_cache._answers[number] = answer
        cache._parts(number, Weighs)
        cache._memoized(number, Weighs)
    caches = (answer_cache._answers, cache._parts.cache, cache._memoized.cache)
    try:
        assert all(kept.currsize for kept in caches)
        assert sum(kept.currsize for kept in caches) <= settings.PAGE_CACHE_BYTES
    finally:
        cache.forget()
        answer_cache.forget()
