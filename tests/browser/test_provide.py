"""What ``make test`` says where there is no Chromium, and that CI does not pass then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import provide
from tests.browser.chromium import NAMES
from tests.site import PROJECT


def provided(path: Path, ci: str) -> subprocess.CompletedProcess[str]:
    """The command on a machine whose programs are those in ``path``."""
    return subprocess.run(
        [sys.executable, "-m", "tests.browser.provide"],
        cwd=PROJECT,
        env={**os.environ, "PATH": str(path), "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )


def program(folder: Path, name: str, script: str = "exit 0") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_chromium_on_the_path_is_enough(tmp_path: Path, name: str) -> None:
    program(tmp_path, name)
    finished = provided(tmp_path, ci="true")
    assert (finished.returncode, finished.stderr) == (0, "")


def test_without_one_the_skip_is_loud(tmp_path: Path) -> None:
    finished = provided(tmp_path, ci="")
    assert finished.returncode == 0
    assert "THE BROWSER TESTS ARE SKIPPED" in finished.stderr
    assert "there is no apt-get" in finished.stderr


def test_without_one_ci_fails(tmp_path: Path) -> None:
    assert provided(tmp_path, ci="true").returncode == 1


def test_debians_package_is_installed_where_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    shell = tmp_path / "chromium-headless-shell"
    made = f"printf '#!/bin/sh\\n' > {shell}; /bin/chmod 755 {shell}"
    program(tmp_path, "apt-get", f'echo "$*" >> {log}; case "$*" in *install*) {made};; esac')
    program(tmp_path, "env", 'shift; exec "$@"')
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert provide.main() == 0
    assert log.read_text().splitlines() == INSTALLED


INSTALLED = [
    "--quiet update",
    "--quiet install --yes --no-install-recommends chromium-headless-shell",
]


@pytest.mark.parametrize(("ci", "asked"), [("true", INSTALLED), ("", [])])
def test_ci_asks_for_the_quicker_one_where_there_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ci: str, asked: list[str]
) -> None:
    log = tmp_path / "log"
    log.touch()
    program(tmp_path, "chromium")
    program(tmp_path, "apt-get", f'echo "$*" >> {log}')
    program(tmp_path, "env", 'shift; exec "$@"')
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert provide.main() == 0
    assert log.read_text().splitlines() == asked


def test_a_failed_install_is_said_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program(tmp_path, "apt-get", "echo 'E: no network' >&2; exit 100")
    program(tmp_path, "env", 'shift; exec "$@"')
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert provide.main() == 1
    assert "E: no network" in capsys.readouterr().err
