"""Passwords are hashed as Django hashes them, by a thread that gives way to the pages."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import pytest
from django.contrib.auth.hashers import (
    Argon2PasswordHasher,
    PBKDF2PasswordHasher,
    check_password,
    make_password,
)
from django.test import override_settings

from dialeval_site import settings
from dialeval_site.accounts import passwords
from tests.site import PROJECT

PASSWORD, SALT, FEW = "correct horse battery", "saltsaltsaltsaltsaltsa", 1000

HASHES_IN_A_FORKED_PROCESS = """
import os
import signal
from dialeval_site.accounts.passwords import HashedAside, HashedBefore

def hashed():
    return HashedAside().encode("a pass word", "saltsalt"), HashedBefore().encode("a pass word", "saltsalt", 1)

before = hashed()
if child := os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
signal.alarm(20)
os._exit(0 if hashed() == before else 1)
"""


def test_the_site_hashes_aside() -> None:
    names = ("HashedAside", "HashedBefore")
    assert [
        f"dialeval_site.accounts.passwords.{name}" for name in names
    ] == settings.PASSWORD_HASHERS


def test_a_new_password_is_stored_at_the_least_cost_that_owasp_recommends() -> None:
    """Argon2id, 19 MiB, two passes, one thread: the Password Storage Cheat Sheet."""
    hashed = passwords.HashedAside().encode(PASSWORD, SALT)
    assert hashed.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")


def test_a_hash_is_django_s_own() -> None:
    """Known by its hasher: whoever moves a site's accounts elsewhere needs nothing of ours."""
    assert Argon2PasswordHasher().verify(PASSWORD, passwords.HashedAside().encode(PASSWORD, SALT))
    assert passwords.HashedBefore().encode(PASSWORD, SALT, FEW) == PBKDF2PasswordHasher().encode(
        PASSWORD, SALT, FEW
    )


@override_settings(PASSWORD_HASHERS=settings.PASSWORD_HASHERS)
def test_a_password_from_before_is_known_and_stored_anew_once() -> None:
    stored = PBKDF2PasswordHasher().encode(PASSWORD, SALT)
    again: list[str] = []

    def store(password: str) -> None:
        again.append(make_password(password))

    assert not check_password("another", stored, setter=store)
    assert again == []
    assert check_password(PASSWORD, stored, setter=store)
    assert len(again) == 1
    assert check_password(PASSWORD, again[0], setter=store)
    assert len(again) == 1


@override_settings(PASSWORD_HASHERS=settings.PASSWORD_HASHERS)
def test_many_at_once_are_each_their_own() -> None:
    made: dict[int, str] = {}
    threads = [
        threading.Thread(
            target=lambda number=number: made.update({number: make_password(f"pass {number}")})
        )
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [check_password(f"pass {number}", made[number]) for number in range(4)] == [True] * 4


@pytest.mark.parametrize(
    ("hasher", "work"),
    [(passwords.HashedAside, ("encode", "verify")), (passwords.HashedBefore, ("encode",))],
)
def test_one_thread_hashes_and_checks(
    hasher: Any, work: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Django checks a PBKDF2 hash by encoding once more."""
    django_s = hasher.__mro__[1]
    at_work: list[str] = []

    def noted(deed: Any) -> Any:
        def by_whom(self: Any, *arguments: Any) -> Any:
            at_work.append(threading.current_thread().name.partition("_")[0])
            return deed(self, *arguments)

        return by_whom

    for name in work:
        monkeypatch.setattr(django_s, name, noted(getattr(django_s, name)))
    stored = hasher().encode(PASSWORD, SALT)
    assert hasher().verify(PASSWORD, stored)
    assert set(at_work) == {"hashing"}
    assert len(at_work) >= 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a niceness of each thread")
def test_the_thread_that_hashes_gives_way_and_no_other_does() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    passwords.HashedBefore().encode(PASSWORD, SALT, FEW)
    it = passwords._one_thread().submit(threading.get_native_id).result()
    assert os.getpriority(os.PRIO_PROCESS, it) == before + passwords.NICENESS
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_forked_process_hashes_too() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HASHES_IN_A_FORKED_PROCESS], cwd=PROJECT, timeout=60, check=False
    )
    assert ended.returncode == 0
