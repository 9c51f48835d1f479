"""The linter's contracts name what they hold: a module that stands in no list would be held to
nothing."""

from __future__ import annotations

import tomllib

import pytest

from tests.site import PROJECT

CONTRACTS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]


@pytest.mark.parametrize(
    ("name", "package", "others"),
    [
        (
            "Corpora and ratings do not know of campaigns",
            "annotations",
            {"campaigns", "migrations"},
        ),
        # The command ``dialeval`` checks files before it sends them as a round will.
        (
            "Meta-evaluation does not know of challenges",
            "leaderboard",
            {"challenges", "client", "migrations"},
        ),
    ],
)
def test_every_module_of_the_package_is_held_to_it(
    name: str, package: str, others: set[str]
) -> None:
    (contract,) = (one for one in CONTRACTS if one["name"] == name)
    there = {file.stem for file in (PROJECT / package).glob("*.py")} | {
        file.parent.name for file in (PROJECT / package).glob("*/__init__.py")
    }
    assert set(contract["source_modules"]) == {
        f"{package}.{module}" for module in there - others - {"__init__"}
    }
