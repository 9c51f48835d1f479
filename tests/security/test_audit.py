"""The audit of what is installed: fails on what is known, says what it did not audit, forgets no
exception.

pip-audit itself runs, and asks an index of our own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from tests import audit, lock
from tests.security.vulnerability_index import vulnerability_index

TODAY = date(2026, 11, 21)
pytestmark = pytest.mark.slow
SOUND = {"soup/1.0": [], "salad/2.0": [], "other-system/3.0": []}


def fault(*names: str) -> list[dict[str, Any]]:
    """As the index tells it."""
    return [
        {"id": name, "aliases": [f"CVE-{name}"], "details": "It boils over.", "fixed_in": ["1.1"]}
        for name in names
    ]


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    packages = [
        ("soup", "1.0", ""),
        ("salad", "2.0", ""),
        ("other-system", "3.0", "sys_platform == 'win32'"),
    ]
    lock.write(path, [lock.Locked(*one, ("0" * 64,)) for one in packages])
    return path


Audit = Callable[..., tuple[int, str]]


@pytest.fixture
def audited(
    tmp_path: Path,
    locked: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Audit:
    """Audits with an index that knows ``packages``: the exit status, what was printed."""
    (tmp_path / "accepted.toml").touch()
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "cache"))

    def run(packages: dict[str, Any], status: int = 200, required: bool = False) -> tuple[int, str]:
        with vulnerability_index(tmp_path, packages, status) as environment:
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
            return again(required)

    def again(required: bool = False) -> tuple[int, str]:
        done = audit.audit(
            [locked],
            required=required,
            accepted=tmp_path / "accepted.toml",
            stamps=tmp_path,
            today=TODAY,
        )
        return done, capsys.readouterr().out

    run.again = again  # type: ignore[attr-defined]
    return run


def test_all_that_is_locked_is_audited_and_the_day_is_done(audited: Any) -> None:
    """Of other platforms, too."""
    assert audited(SOUND) == (0, "audit: 3 of 3 locked packages audited, 0 problems\n")
    assert audited.again() == (
        0,
        "audit: all 3 locked packages were audited today, nothing known\n",
    )


def test_a_known_vulnerability_is_told_with_what_mends_it(audited: Audit) -> None:
    status, said = audited({**SOUND, "soup/1.0": fault("PYSEC-1")})
    assert status == 1
    assert said == (
        "audit: 3 of 3 locked packages audited, 1 problems\nsoup 1.0: PYSEC-1 (mended in: 1.1)\n"
    )


def test_an_index_that_knows_no_package_audits_nothing_and_says_so(
    audited: Any, tmp_path: Path
) -> None:
    """pip-audit skips what the index does not know, and ends with 0: that is no audit."""
    status, said = audited({})
    assert status == 0
    assert "0 of 3 locked packages audited" in said
    assert "3 NOT AUDITED (Dependency not found on PyPI and could not be audited): " in said
    assert not list(tmp_path.glob(".audited-*")), "the day is not done"
    assert audited({"soup/1.0": []}, required=True)[0] == 1


def test_one_package_that_was_not_audited_is_named_and_the_day_is_not_done(
    audited: Any, tmp_path: Path
) -> None:
    """Without the release's word it is a warning; problems of others are told all the same."""
    status, said = audited({"soup/1.0": fault("PYSEC-1"), "salad/2.0": []})
    assert status == 1
    assert "2 of 3 locked packages audited, 1 problems" in said
    assert "1 NOT AUDITED" in said
    assert "other-system" in said
    assert not list(tmp_path.glob(".audited-*"))


def test_an_index_that_cannot_be_reached_is_said_and_a_failure_only_before_a_release(
    audited: Any, tmp_path: Path
) -> None:
    audited({})
    for required in (False, True):  # the index is gone, its address is not
        status, said = audited.again(required)
        assert status == int(required)
        assert "0 of 3 locked packages audited" in said
        assert "NOTHING WAS AUDITED: the index is unreachable" in said
        assert "NOT AUDITED (" not in said
    assert not list(tmp_path.glob(".audited-*"))


def test_an_index_that_is_broken_is_no_audit(audited: Audit) -> None:
    status, said = audited(SOUND, status=500)
    assert (status, "NOTHING WAS AUDITED" in said) == (0, True)


def test_an_index_that_does_not_answer_is_not_waited_for(
    audited: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "SECONDS", 0.01)
    status, said = audited(SOUND)
    assert status == 0
    assert "NOTHING WAS AUDITED: the index did not answer within 0.01 s" in said


def test_before_a_release_the_index_is_asked_again(audited: Any) -> None:
    assert audited(SOUND)[0] == 0
    assert audited({**SOUND, "soup/1.0": fault("PYSEC-1")}, required=True)[0] == 1


@pytest.mark.parametrize("name", ["PYSEC-1", "CVE-PYSEC-1"])
def test_what_is_accepted_with_a_reason_and_a_date_passes(
    audited: Audit, tmp_path: Path, name: str
) -> None:
    (tmp_path / "accepted.toml").write_text(
        f'[[accepted]]\nid = "{name}"\nreason = "not called"\nuntil = 2026-11-21\n'
    )
    assert audited({**SOUND, "soup/1.0": fault("PYSEC-1")})[0] == 0


@pytest.mark.parametrize(
    "entry", ['reason = ""\nuntil = 2027-01-01', 'reason = "x"', 'reason = "x"\nuntil = 2026-11-20']
)
def test_an_exception_without_reason_or_date_or_past_it_fails(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "accepted.toml"
    path.write_text(f'[[accepted]]\nid = "PYSEC-1"\n{entry}\n')
    known, problems = audit._accepted(path, TODAY)
    assert (known, len(problems)) == (set(), 1)


def test_the_file_of_exceptions_is_sound() -> None:
    assert audit._accepted(audit.ACCEPTED, datetime.now(UTC).date())[1] == []


def test_a_release_asks_for_a_whole_audit() -> None:
    makefile = (lock.PROJECT / "Makefile").read_text(encoding="utf-8")
    assert re.search(
        r"^release-check:.*\n(\t.*\n)*\tAUDIT_REQUIRED=1 .*tests\.audit\n", makefile, re.MULTILINE
    )
