"""Django's cache in Redis, whose content is not trusted and whose answer is not waited for.

Redis holds whatever anybody wrote who can reach it. Django stores pickles there, which run code
when they are read; here it is numbers and JSON. A value that cannot be read is a cache miss. While
Redis does not answer, each process has a cache of its own, as on a site without Redis.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from typing import Any

from django.core.cache.backends import redis as django_redis
from django.core.cache.backends.locmem import LocMemCache
from redis.exceptions import ConnectionError, RedisError, TimeoutError

from common.circuit_breaker import CircuitBreaker

log = logging.getLogger(__name__)

RETRY_SECONDS = 10.0
_breakers: defaultdict[str, CircuitBreaker] = defaultdict(lambda: CircuitBreaker(RETRY_SECONDS))
"""By address: Django makes a cache for each thread, and one that has waited is enough."""


class JSONSerializer:
    """For Django's client of Redis. Integers stay as they are: Redis counts with them."""

    def dumps(self, value: Any) -> int | str:
        return value if type(value) is int else json.dumps(value)

    def loads(self, data: bytes) -> Any:
        """Raises ``ValueError``."""
        try:
            return json.loads(data)
        except RecursionError as problem:
            raise ValueError("a document of great depth") from problem


def _or_miss(operation: str, miss: Any) -> Any:
    def guarded(self: RedisCache, *args: Any, **options: Any) -> Any:
        return self._call(operation, miss, *args, **options)

    return guarded


class RedisCache(django_redis.RedisCache):
    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {**params.get("OPTIONS", {}), "serializer": JSONSerializer}
        super().__init__(server, {**params, "OPTIONS": options})
        self._own = LocMemCache(server, {**params, "OPTIONS": {}})
        self._breaker = _breakers[server]

    add = _or_miss("add", False)
    set = _or_miss("set", None)
    touch = _or_miss("touch", False)
    delete = _or_miss("delete", False)
    get_many = _or_miss("get_many", {})
    has_key = _or_miss("has_key", False)
    set_many = _or_miss("set_many", [])
    delete_many = _or_miss("delete_many", None)
    clear = _or_miss("clear", False)

    def get(self, key: Any, default: Any = None, version: Any = None) -> Any:
        return self._call("get", default, key, default=default, version=version)

    def incr(self, key: Any, delta: int = 1, version: Any = None) -> int:
        """Raises ``ValueError`` where no number is stored under this key; then nothing is."""
        count = self._call("incr", None, key, delta=delta, version=version)
        if count is None:
            self.delete(key, version=version)
            raise ValueError(f"there is no number under {key!r}")
        return int(count)

    def _call(self, operation: str, miss: Any, *args: Any, **options: Any) -> Any:
        """What Redis answers; ``miss`` where it holds something else than this cache writes. Where
        it does not answer, what the process's own cache does."""
        if self._breaker.allows():
            try:
                answer = getattr(super(), operation)(*args, **options)
            except (ConnectionError, TimeoutError) as problem:
                self._breaker.failed()
                log.warning("no answer from Redis (%s): each process has its own cache", problem)
            except (RedisError, ValueError) as problem:
                self._breaker.succeeded()
                log.warning("the cache cannot read what Redis holds (%s)", type(problem).__name__)
                return miss
            else:
                self._breaker.succeeded()
                return answer
        try:
            return getattr(self._own, operation)(*args, **options)
        except ValueError:
            return miss
