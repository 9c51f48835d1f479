"""The version of the project: of its pages, its API, the command ``dialeval`` and the package."""

from __future__ import annotations

VERSION = "0.3.0"
