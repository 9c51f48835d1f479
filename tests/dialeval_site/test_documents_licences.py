"""CITATION.cff, the licence, and those of requirements, of which CONTRIBUTING.md names the rare ones."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata

import pytest
import yaml

from common.version import VERSION
from tests import lock
from tests.site import PROJECT

CITATION = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
RUNNING = ("requirements.txt", "requirements-models.txt")


def required(*files: str) -> list[str]:
    """Names of packages, as the files write them."""
    text = "\n".join((PROJECT / file).read_text(encoding="utf-8") for file in files)
    return re.findall(r"^([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==", text, flags=re.MULTILINE)


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


OTHER_LICENCES = {
    "psycopg": "LGPL",
    "tqdm": "MPL",
    "hypothesis": "MPL",
    "django-otp": "Unlicense",
    "krippendorff": "GPL",
}
SILENT = {"axe-playwright-python"}
"""Its metadata name no licence, its LICENSE is MIT."""


@pytest.mark.parametrize("package", required(*RUNNING, "requirements-dev.txt"))
def test_a_requirement_s_licence_is_a_common_one_or_named(package: str) -> None:
    said = declared(package)
    if other := OTHER_LICENCES.get(package):
        assert other in said
        section = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Licence")
        assert f"`{package}`" in section[2]
    elif package not in SILENT:
        assert re.search("MIT|BSD|Apache", said)
        assert not re.search("GPL|General Public", said)


def test_each_named_licence_is_of_a_requirement() -> None:
    assert OTHER_LICENCES.keys() <= set(required(*RUNNING, "requirements-dev.txt"))


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
