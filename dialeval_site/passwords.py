"""Passwords are hashed aside: slow on purpose, but not for those who only read.

A hash takes a third of a second of the processor. Twenty raters who log in at once took all of it for five seconds, and
every page waited. Here one thread of each process hashes, one password after the other, and gives way to the pages.
"""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from django.contrib.auth.hashers import PBKDF2PasswordHasher

NICENESS = 5
"""A third of what a page gets while both want the same core, three times what a worker gets."""


class HashedAside(PBKDF2PasswordHasher):
    """Django's own hasher: the same hashes under the same name."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        return _one_thread().submit(super().encode, password, salt, iterations).result()


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
