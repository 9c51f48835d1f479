"""The pages that ``make reference`` makes of docstrings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site import PROJECT

MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")


@pytest.mark.slow
def test_a_function_s_page_has_what_goes_in_and_what_comes_out(tmp_path: Path) -> None:
    """By the options of the Makefile, of one module."""
    (line,) = re.findall(r"^\t\$\(BIN\)/(pdoc .*)", MAKEFILE, flags=re.MULTILINE)
    command = line.replace(
        "$(REFERENCE)", "leaderboard.statistics.significance.compact_letters"
    ).split()
    command[command.index("--output-directory") + 1] = str(tmp_path)
    subprocess.run([sys.executable, "-m", *command], cwd=PROJECT, check=True, timeout=120)
    page = (
        tmp_path / "leaderboard" / "statistics" / "significance" / "compact_letters.html"
    ).read_text(encoding="utf-8")
    for part in ("arguments", "returns", "raises"):
        assert f'<h6 id="{part}">' in page, part


def test_pages_are_made_of_packages_that_are_there() -> None:
    (packages,) = re.findall(r"^REFERENCE := (.*)", MAKEFILE, flags=re.MULTILINE)
    missing = [one for one in packages.split() if not (PROJECT / one.replace(".", "/")).is_dir()]
    assert missing == []
    assert "leaderboard.statistics" in packages.split()
