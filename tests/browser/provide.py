"""``python -m tests.browser.provide``: see to it that there is a Chromium for the browser tests.

Where there is none and it may (root, or sudo without a pass word, and apt-get), it installs
Debian's package. Else it says loudly that the browser tests will be skipped; under ``CI=true`` that
is a failure. There the quicker one is tried for where there is another.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tests.browser.chromium import HEADLESS, find_chromium
from tests.ci import is_ci

PACKAGE = HEADLESS
APT_SECONDS = 900


def main() -> int:
    if there := find_chromium():
        if is_ci() and not there.endswith(HEADLESS):
            install()
        return 0
    print(
        f"No Chromium here: installing Debian's package {PACKAGE} for the browser tests.",
        file=sys.stderr,
    )
    why_not = install()
    if find_chromium():
        return 0
    print(
        banner(why_not or f"{PACKAGE} is installed, but no program of its name is on the path"),
        file=sys.stderr,
    )
    return 1 if is_ci() else 0


def install() -> str:
    """Returns why it could not be installed, or ""."""
    if shutil.which("apt-get") is None:
        return "there is no apt-get to install it with"
    prefix = as_root()
    if prefix is None:
        return "installing needs root, or sudo without a pass word"
    for step in (["update"], ["install", "--yes", "--no-install-recommends", PACKAGE]):
        if why_not := run([*prefix, "apt-get", "--quiet", *step]):
            return why_not
    return ""


def as_root() -> list[str] | None:
    """What to put before a command that needs root; None where it cannot be had without asking."""
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    if os.geteuid() == 0:
        return environment
    if shutil.which("sudo") and not run(["sudo", "--non-interactive", "true"]):
        return ["sudo", "--non-interactive", *environment]
    return None


def run(command: Sequence[str]) -> str:
    """Returns what went wrong, or ""."""
    try:
        finished = subprocess.run(
            command, capture_output=True, text=True, timeout=APT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{' '.join(command)}: {problem}"
    if finished.returncode == 0:
        return ""
    last_words = (finished.stderr or finished.stdout).strip().splitlines()[-1:]
    return f"{' '.join(command)} ended with {finished.returncode}: {''.join(last_words)}"


def banner(why_not: str) -> str:
    consequence = (
        "CI may not skip browser tests, so this is a failure."
        if is_ci()
        else "THE BROWSER TESTS ARE SKIPPED."
    )
    lines = [
        consequence,
        f"Chromium is missing and was not installed: {why_not}.",
        "Install it and run again.",
    ]
    rule = "*" * 88
    return "\n".join([rule, *(f"** {line}" for line in lines), rule])


if __name__ == "__main__":
    sys.exit(main())
