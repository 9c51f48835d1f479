"""``python -m tests.audit``: does a pinned requirement have a known vulnerability? A step of ``make lint``.

Asks the index once a day and for each change of the pins; where it cannot be reached one line says so, and lint goes
on. What is known and accepted stands in ``accepted_vulnerabilities.toml`` beside this file, each with a reason and the
date until which it holds.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
PINS = PROJECT / "constraints.txt"
ACCEPTED = Path(__file__).with_name("accepted_vulnerabilities.toml")
SECONDS = 60

Ask = Callable[[], "subprocess.CompletedProcess[str]"]


def main() -> int:
    asked = PROJECT / ".venv" / f".audited-{_digest()}-{_today()}"
    if asked.exists():
        print("audit: asked today, nothing known")
        return 0
    problems, said = audit(_ask)
    print(said)
    for problem in problems:
        print(problem)
    if problems:
        return 1
    if "unreachable" not in said and asked.parent.is_dir():
        asked.touch()
    return 0


def audit(ask: Ask, today: date | None = None, accepted: Path = ACCEPTED) -> tuple[list[str], str]:
    """What is wrong, a line each, and what to say of the whole."""
    today = today or _today()
    known, problems = _accepted(accepted, today)
    try:
        finished = ask()
        found = json.loads(finished.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return problems, f"audit: the index is unreachable within {SECONDS} s; nothing was audited"
    except (ValueError, KeyError, TypeError):
        return problems, "audit: the index is unreachable; nothing was audited"
    for package in found:
        for one in package.get("vulns", []):
            names = {one["id"], *one.get("aliases", [])}
            if not names & known:
                fix = ", ".join(one.get("fix_versions", [])) or "no version yet"
                problems.append(f"{package['name']} {package.get('version', '')}: {one['id']} (mended in: {fix})")
    return problems, f"audit: {len(found)} pinned packages, {len(problems)} problems"


def _accepted(path: Path, today: date) -> tuple[set[str], list[str]]:
    known, problems = set(), []
    for one in tomllib.loads(path.read_text(encoding="utf-8")).get("accepted", []):
        fault = _fault_of(one, today)
        if fault:
            problems.append(f"{path.name}: {one.get('id', 'an entry')} {fault}")
        else:
            known.add(one["id"])
    return known, problems


def _fault_of(one: dict[str, Any], today: date) -> str:
    if not one.get("id") or not str(one.get("reason", "")).strip():
        return "has no id or no reason"
    if not isinstance(one.get("until"), date):
        return "has no date until which it holds"
    return f"held until {one['until']}: look at it again" if one["until"] < today else ""


def _ask() -> subprocess.CompletedProcess[str]:
    command = [
        *(sys.executable, "-m", "pip_audit", "--requirement", str(PINS), "--no-deps", "--disable-pip"),
        *("--format", "json", "--progress-spinner", "off", "--timeout", "10"),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def _digest() -> str:
    return hashlib.sha256(PINS.read_bytes() + ACCEPTED.read_bytes()).hexdigest()[:12]


def _today() -> date:
    return datetime.now(UTC).date()


if __name__ == "__main__":
    sys.exit(main())
