"""One version number: of the site, the package and the command."""

from __future__ import annotations

import tomllib
from importlib.metadata import version

import pytest
from django.conf import settings

from common.version import VERSION
from leaderboard.client.main import main


def test_site_and_command_name_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"dialeval {VERSION}"
    assert settings.VERSION == VERSION


def test_the_package_takes_it_from_there() -> None:
    project = tomllib.loads((settings.PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"]["attr"] == "common.version.VERSION"
    assert version("dialeval") == VERSION, "install the project anew: make"
