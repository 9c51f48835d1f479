"""The pages that ``make reference`` makes of the code name all that is there."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.registry import importers
from annotations.questions import templates
from dialeval_site.config.environment import SETTINGS
from tests import reference
from tests.dialeval_site.documents import code_words, first_table, sections, text_of
from tests.site import PROJECT
from workers.metrics.common.not_available import NOT_AVAILABLE
from workers.metrics.registry import built_in_metrics

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
    assert "python -m tests.reference var/reference" in MAKEFILE


def test_every_command_is_on_its_page() -> None:
    assert list(sections(reference.commands_page())) == reference.commands()


def test_every_setting_is_on_its_page_and_says_what_it_does() -> None:
    rows = first_table(reference.settings_page())
    assert [row[0] for row in rows] == [f"`{one.name}`" for one in SETTINGS]
    assert [one.name for one in SETTINGS if len(one.help.split()) < 3] == []


def test_every_metric_is_on_its_page_with_its_options() -> None:
    found = sections(reference.metrics_page())
    for metric in built_in_metrics():
        named = {code_words(row[0])[0] for row in first_table(found[metric.name])}
        assert named == {option.name for option in metric.options}, metric.name
    absent = first_table(found["Published metrics that are not here"])
    assert [row[0] for row in absent] == [one.name for one in NOT_AVAILABLE]


def test_every_format_is_on_its_page() -> None:
    page = reference.formats_page()
    assert set(importers()) <= set(sections(page))
    assert [one for one in exporters() if f"| `{one}` |" not in page] == []


def test_every_template_of_questions_is_on_its_page() -> None:
    found = sections(reference.questions_page())
    for name in templates.names():
        keys = [row[0].strip("`") for row in first_table(found[name])]
        assert keys == [question.key for question in templates.load(name).questions]


ADDRESSES = {name: view for name, _, view in reference.addresses()}
OWN = ("annotations", "workers", "leaderboard", "dialeval_site")


def test_every_address_is_on_its_page_with_who_may_open_it() -> None:
    """What each role gets there in detail is in the permission matrices."""
    rows = {row[0].strip("`"): row for row in first_table(reference.addresses_page())}
    assert set(rows) == set(ADDRESSES)
    for name, (_, _, methods, who, what) in rows.items():
        assert what, name
        assert (methods and who) or name == "no-such-api-address", name


def read_from_the_address(view: Callable[..., Any]) -> set[str]:
    """Parameters that the view itself asks for: ``request.GET.get("name")``."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(view))))
    return {
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("request.GET.get", "request.GET.getlist")
        and isinstance(node.args[0], ast.Constant)
    }


@pytest.mark.parametrize("name", sorted(ADDRESSES))
def test_every_parameter_that_a_view_reads_is_named(name: str) -> None:
    """In its docstring, or among those of many pages."""
    view = ADDRESSES[name]
    if hasattr(view, "view_class") or not view.__module__.startswith(OWN):
        return
    shared = sections(text_of("endpoints.md"))["What an address may carry"]
    words = set(re.findall(r"[\w-]+", f"{view.__doc__} {shared}"))
    assert read_from_the_address(view) <= words
