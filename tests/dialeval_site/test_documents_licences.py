"""CITATION.cff, the licence, and the table of licences in CONTRIBUTING.md."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata

import pytest
import yaml

from common.version import VERSION
from tests import lock
from tests.dialeval_site.documents import code_words, table_rows
from tests.site import PROJECT

CITATION = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
RUNNING = ("requirements.txt", "requirements-models.txt")


def required(*files: str) -> list[str]:
    """Names of packages, as the files write them."""
    text = "\n".join((PROJECT / file).read_text(encoding="utf-8") for file in files)
    return re.findall(r"^([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==", text, flags=re.MULTILINE)


def licence_table() -> dict[str, list[str]]:
    rows = table_rows(
        (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Licence")[2]
    )
    return {licence: code_words(packages) for licence, packages in rows}


def declared(package: str) -> str:
    """All that a package says of its licence in its metadata."""
    found = metadata(package)
    classifiers = [one for one in found.get_all("Classifier", []) if one.startswith("License")]
    return " ".join(
        [found.get("License-Expression") or "", (found.get("License") or "")[:100], *classifiers]
    )


def test_the_citation_has_what_version_1_2_of_the_format_requires() -> None:
    """Authors, cff-version, message and title; a person has given or family names, a group has
    ``name``."""
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["message"]
    assert CITATION["title"].startswith("dialeval")
    assert [author["name"] for author in CITATION["authors"]] == ["The dialeval developers"]
    assert CITATION["type"] == "software"


def test_the_citation_names_this_version() -> None:
    assert CITATION["version"] == VERSION


def test_one_licence_everywhere() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    licence = (PROJECT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in licence
    assert "Version 2.0, January 2004" in licence
    assert project["license"] == CITATION["license"] == "Apache-2.0"
    assert project["license-files"] == ["LICENSE"]


def test_the_table_has_every_requirement_once() -> None:
    named = [package for packages in licence_table().values() for package in packages]
    assert sorted(named) == sorted(required(*RUNNING, "requirements-dev.txt"))


@pytest.mark.parametrize(
    ("licence", "says"),
    [("MIT", "MIT"), ("BSD", "BSD"), ("Apache-2.0", "Apache"), ("GPL-3.0", "GPL")],
)
def test_a_package_says_of_itself_what_the_table_says(licence: str, says: str) -> None:
    # Its metadata are silent, its LICENSE is MIT
    for package in set(licence_table()[licence]) - {"axe-playwright-python"}:
        assert says in declared(package), package


def test_nothing_that_the_site_runs_with_is_under_the_gpl() -> None:
    """With all that is brought along; the LGPL of psycopg is explained below the table."""
    strict = set()
    for package in {one.name for one in lock.read(*lock.LOCKS)}:
        try:
            said = declared(package)
        except PackageNotFoundError:
            continue  # of another platform
        if re.search(r"(?<!L)GPL|General Public", said.replace("Lesser General Public", "")):
            strict.add(package)
    assert strict <= {"krippendorff"}
    assert "krippendorff" not in required(*RUNNING)
