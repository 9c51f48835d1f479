"""``python -m tests.audit``: does a locked package have a known vulnerability? A step of ``make
lint``.

Asks the index once a day and for each change of the locks. The day is done only when every package
was audited: where the index cannot be reached, or does not know a package, a line says so and lint
goes on. With ``AUDIT_REQUIRED=1``, as before a release, that is a failure. What is known and
accepted stands in ``accepted_vulnerabilities.toml`` beside this file, each with a reason and the
date until which it holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests import lock

ACCEPTED = Path(__file__).with_name("accepted_vulnerabilities.toml")
STAMPS = lock.PROJECT / ".venv"
SECONDS = 120
NAMES = 5
"""How many packages a line names."""


def main() -> int:
    return audit(lock.LOCKS, required=os.environ.get("AUDIT_REQUIRED", "") not in ("", "0"))


def audit(
    locks: Sequence[Path],
    *,
    required: bool = False,
    accepted: Path = ACCEPTED,
    stamps: Path = STAMPS,
    today: date | None = None,
) -> int:
    """Prints how many packages were audited, why others were not, and each problem.

    Returns:
        1 where there is a problem or, if an audit is required, where a package was not audited;
        else 0.
    """
    today = today or datetime.now(UTC).date()
    content = b"".join(path.read_bytes() for path in (*locks, accepted))
    done = stamps / f".audited-{hashlib.sha256(content).hexdigest()[:12]}-{today}"
    pins = {one.name: one.version for one in lock.read(*locks)}
    if done.exists() and not required:
        print(f"audit: all {len(pins)} locked packages were audited today, nothing known")
        return 0
    known, problems = _accepted(accepted, today)
    found, failure = _ask(pins)
    skipped = defaultdict(list)
    for package in found:
        if "skip_reason" in package:
            skipped[package["skip_reason"].partition(":")[0]].append(package["name"])
        for one in package.get("vulns", ()):
            if not {one["id"], *one.get("aliases", ())} & known:
                fix = ", ".join(one.get("fix_versions", ())) or "no version yet"
                at = f"{package['name']} {package['version']}"
                problems.append(f"{at}: {one['id']} (mended in: {fix})")
    audited = len(found) - sum(map(len, skipped.values()))
    print(f"audit: {audited} of {len(pins)} locked packages audited, {len(problems)} problems")
    if failure:
        print(f"audit: NOTHING WAS AUDITED: {failure}")
    for reason, names in skipped.items():
        more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
        print(f"audit: {len(names)} NOT AUDITED ({reason}): {', '.join(names[:NAMES])}{more}")
    for problem in problems:
        print(problem)
    complete = audited == len(pins)
    if complete and not problems and stamps.is_dir():
        done.touch()
    return int(bool(problems) or (required and not complete))


def _ask(pins: dict[str, str]) -> tuple[list[dict[str, Any]], str]:
    """What pip-audit says of each package; or of none, and why. Of those for other platforms,
    too."""
    with TemporaryDirectory() as folder:
        wanted = Path(folder) / "pins.txt"
        wanted.write_text(
            "".join(f"{name}=={pin}\n" for name, pin in pins.items()), encoding="utf-8"
        )
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(wanted), "--no-deps"]
        command += [
            "--disable-pip",
            "--format",
            "json",
            "--progress-spinner",
            "off",
            "--timeout",
            "10",
        ]
        try:
            said = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return [], f"the index did not answer within {SECONDS} s"
    try:
        return json.loads(said.stdout)["dependencies"], ""
    except (ValueError, KeyError, TypeError):
        last = (said.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]
        return [], f"the index is unreachable ({last[:200]})"


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


if __name__ == "__main__":
    sys.exit(main())
