"""The version that is installed."""

from __future__ import annotations


def version() -> str:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("dialeval")
    except PackageNotFoundError:
        return "0"
