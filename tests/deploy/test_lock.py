"""The locks agree with what the requirement files ask for, and pip refuses a file that is not in
them."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import lock
from tests.site import PROJECT

PINS = {path: {one.name: one.version for one in lock.read(path)} for path in lock.LOCKS}
OF_THE_SITE = PINS[lock.SITE] | PINS[lock.SOURCE] | PINS[lock.CUDA]
INSTALLED = OF_THE_SITE | PINS[lock.DEV]
LOCKED = INSTALLED | {"pip": version("pip")}
"""With pip, which comes with Python."""


def asked_for(*names: str) -> list[Requirement]:
    lines = "\n".join((PROJECT / name).read_text(encoding="utf-8") for name in names).splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize(
    ("name", "pins"),
    [
        ("requirements.txt", OF_THE_SITE),
        ("requirements-models.txt", OF_THE_SITE),
        ("requirements-dev.txt", INSTALLED),
    ],
)
def test_each_requirement_is_locked_in_the_version_that_is_asked_for(
    name: str, pins: dict[str, str]
) -> None:
    """Where it is not: make lock."""
    wanted = asked_for(name)
    assert wanted
    for one in wanted:
        assert f"=={pins.get(canonicalize_name(one.name))}" == str(one.specifier), one.name


def brought_along(wanted: Iterable[Requirement]) -> set[str]:
    """Names of all that installed packages need on this platform; of PyTorch, whatever build is
    installed."""
    todo = [(canonicalize_name(one.name), frozenset(one.extras)) for one in wanted]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        name, extras = found = todo.pop()
        if found in seen:
            continue
        seen.add(found)
        try:
            needs = map(Requirement, requires(name) or ())
        except PackageNotFoundError:
            continue
        for need in needs:
            chosen = [{"extra": one} for one in extras or {""}]
            if need.marker is None or any(map(need.marker.evaluate, chosen)):
                todo.append((canonicalize_name(need.name), frozenset(need.extras)))
                assert LOCKED.get(todo[-1][0], "") in need.specifier, f"{name} needs {need}"
    return {name for name, _ in seen}


def here(path: Path) -> set[str]:
    return {one.name for one in lock.read(path) if not one.marker or Marker(one.marker).evaluate()}


def test_the_lock_has_what_the_requirements_bring_along_no_more_and_no_less() -> None:
    """It is installed without a look at what packages need: one that were missing would be missed
    at run time."""
    models = {canonicalize_name(one.name) for one in asked_for("requirements-models.txt")}
    needed = brought_along(asked_for("requirements.txt")) | models
    assert here(lock.SITE) | here(lock.SOURCE) == needed - here(lock.CUDA)
    for_tests = brought_along(asked_for("requirements-dev.txt")) - needed
    assert here(lock.DEV) - here(lock.SITE) == for_tests - {"pip"}


def test_every_package_of_a_lock_has_hashes(tmp_path: Path) -> None:
    for path in lock.LOCKS:
        packages = lock.read(path)
        assert packages
        assert all(one.hashes for one in packages)
    path = tmp_path / "requirements.lock"
    path.write_text(lock.read(lock.SITE)[0].line + "soup==1.0\n")
    with pytest.raises(ValueError, match=r"lines without a hash: soup==1\.0"):
        lock.read(path)


def test_nothing_is_installed_but_by_its_hash() -> None:
    """But for the project itself, which is there."""
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    assert "\nLOCKED := $(INSTALL) --require-hashes\n" in makefile
    by_hand = [
        line for line in makefile.splitlines() if "$(INSTALL)" in line and "LOCKED" not in line
    ]
    assert [line.split()[-2:] for line in by_hand] == [["--editable", "."]]
    assert makefile.count("pip install") == 1
    dockerfile = (PROJECT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    for line in re.findall(r"pip install (.*)", dockerfile):
        assert "--require-hashes" in line or line.endswith("--editable ."), line


# --- pip itself -----------------------------------------------------------------------------------


def wheel(folder: Path, content: str) -> Path:
    path = folder / "soup-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("soup.py", content)
        file.writestr(
            "soup-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: soup\nVersion: 1.0\n"
        )
        file.writestr(
            "soup-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr("soup-1.0.dist-info/RECORD", "soup.py,,\n")
    return path


def installed(folder: Path, file: Path) -> subprocess.CompletedProcess[str]:
    """As the Makefile does, from a folder in the index's place."""
    flags = re.search(
        r"^INSTALL := \$\(BIN\)/pip install (.*)$", (PROJECT / "Makefile").read_text(), re.M
    )
    assert flags
    command = [sys.executable, "-m", "pip", "install", *flags[1].split(), "--require-hashes"]
    command += ["--no-index", "--find-links", str(folder), "--target", str(folder / "there")]
    return subprocess.run(
        [*command, "-r", str(file)], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
def test_a_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    """Whoever puts another file into the index's place installs nothing."""
    digest = hashlib.sha256(wheel(tmp_path, "good = True\n").read_bytes()).hexdigest()
    file = tmp_path / "requirements.lock"
    lock.write(file, [lock.Locked("soup", "1.0", "", ("0" * 64, digest))])
    assert installed(tmp_path, file).returncode == 0
    assert (tmp_path / "there" / "soup.py").read_text() == "good = True\n"

    wheel(tmp_path, "good = False\n")
    refused = installed(tmp_path, file)
    assert refused.returncode == 1
    assert "DO NOT MATCH THE HASHES" in refused.stderr
    assert (tmp_path / "there" / "soup.py").read_text() == "good = True\n"


@pytest.mark.slow
def test_a_package_without_a_hash_is_refused(tmp_path: Path) -> None:
    wheel(tmp_path, "good = True\n")
    file = tmp_path / "requirements.lock"
    file.write_text("soup==1.0\n")
    refused = installed(tmp_path, file)
    assert refused.returncode == 1
    assert (
        "all requirements must have their versions pinned" in refused.stderr
        or "--hash" in refused.stderr
    )
    assert not (tmp_path / "there").exists()
