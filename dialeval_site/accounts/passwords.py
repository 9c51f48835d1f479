"""Passwords are hashed aside: slow on purpose, but not for those who only read.

Twenty raters who log in at once make twenty hashes. Here one thread of each process hashes, one
password after the other, and gives way to the pages; so a process also holds the memory of one hash
at most.

A new password is hashed by Argon2id, which is costly to guess because it takes memory, not because
it takes long: the site pays a twentieth of a second of its processor where PBKDF2 of Django's
strength takes a third. The cost is the recommended minimum of the OWASP Password Storage Cheat
Sheet. A password that is stored as PBKDF2 is known, and stored anew when its owner types it; as
with a changed password, the account's other sessions end then.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher

NICENESS = 5
"""A third of what a page gets while both want the same core, three times what a worker gets."""


class HashedAside(Argon2PasswordHasher):
    """Django's own hasher at another cost: 19 MiB gone through twice, by one thread."""

    time_cost, memory_cost, parallelism = 2, 19_456, 1

    def encode(self, password: str, salt: str) -> str:
        return _aside(super().encode, password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        return _aside(super().verify, password, encoded)


class HashedBefore(PBKDF2PasswordHasher):
    """As the site stored passwords before 0.2: for those whose owners have not logged in since."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        return _aside(super().encode, password, salt, iterations)


def _aside(action: Callable[..., Any], *arguments: Any) -> Any:
    return _one_thread().submit(action, *arguments).result()


@cache
def _one_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="hashing", initializer=_give_way)


# A forked process has the executor, but not its thread.
os.register_at_fork(after_in_child=_one_thread.cache_clear)


def _give_way() -> None:
    """Linux has a niceness of each thread; elsewhere a thread's number may be another process's."""
    if sys.platform == "linux":
        this_thread = threading.get_native_id()
        now = os.getpriority(os.PRIO_PROCESS, this_thread)
        os.setpriority(os.PRIO_PROCESS, this_thread, now + NICENESS)
