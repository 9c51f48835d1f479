"""The audit of requirements: fails on what is known, says where it could not ask, and forgets no exception."""

from __future__ import annotations

import json
import subprocess
from datetime import date
from pathlib import Path

import pytest

from tests import audit

TODAY = date(2026, 11, 21)


def answered(stdout: str) -> audit.Ask:
    return lambda: subprocess.CompletedProcess([], 1, stdout, "")


def found(*names: str) -> audit.Ask:
    """pip-audit's own document, of one package."""
    vulnerabilities = [{"id": name, "aliases": [f"CVE-{name}"], "fix_versions": ["1.1"]} for name in names]
    return answered(json.dumps({"dependencies": [{"name": "soup", "version": "1.0", "vulns": vulnerabilities}]}))


@pytest.fixture
def accepted(tmp_path: Path) -> Path:
    path = tmp_path / "accepted.toml"
    path.write_text("")
    return path


def test_nothing_known_is_no_problem(accepted: Path) -> None:
    assert audit.audit(found(), TODAY, accepted) == ([], "audit: 1 pinned packages, 0 problems")


def test_a_known_vulnerability_is_told_with_what_mends_it(accepted: Path) -> None:
    problems, _said = audit.audit(found("PYSEC-1"), TODAY, accepted)
    assert problems == ["soup 1.0: PYSEC-1 (mended in: 1.1)"]


@pytest.mark.parametrize("name", ["PYSEC-1", "CVE-PYSEC-1"])
def test_what_is_accepted_with_a_reason_and_a_date_passes(accepted: Path, name: str) -> None:
    accepted.write_text(f'[[accepted]]\nid = "{name}"\nreason = "not called"\nuntil = 2026-11-21\n')
    assert audit.audit(found("PYSEC-1"), TODAY, accepted)[0] == []


@pytest.mark.parametrize(
    "entry", ['reason = ""\nuntil = 2027-01-01', 'reason = "x"', 'reason = "x"\nuntil = 2026-11-20']
)
def test_an_exception_without_reason_or_date_or_past_it_fails(accepted: Path, entry: str) -> None:
    accepted.write_text(f'[[accepted]]\nid = "PYSEC-1"\n{entry}\n')
    assert len(audit.audit(found("PYSEC-1"), TODAY, accepted)[0]) == 2


@pytest.mark.parametrize("said", ["", "no JSON", "{}"])
def test_an_index_that_cannot_be_reached_is_said_and_no_failure(accepted: Path, said: str) -> None:
    assert audit.audit(answered(said), TODAY, accepted) == (
        [],
        "audit: the index is unreachable; nothing was audited",
    )


def test_an_index_that_does_not_answer_is_not_waited_for(accepted: Path) -> None:
    def never() -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired("pip-audit", audit.SECONDS)

    problems, said = audit.audit(never, TODAY, accepted)
    assert problems == []
    assert said == "audit: the index is unreachable within 60 s; nothing was audited"


def test_the_file_of_exceptions_is_sound() -> None:
    assert audit._accepted(audit.ACCEPTED, TODAY)[1] == []
