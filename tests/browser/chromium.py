"""Where Chromium is on this machine, and how it is started for tests."""

from __future__ import annotations

import os
import shutil

HEADLESS = "chromium-headless-shell"
"""Chromium without its own windows, which each visitor of a test would open and close: a page costs
a third of the time."""
NAMES = (HEADLESS, "chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def options() -> list[str]:
    """Chromium's sandbox refuses to start as root, which is what a container runs as."""
    return [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
