"""A module or class named in a string, a comment or a document is where the name says: Django,
Celery and gunicorn import some of them only when they are needed."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.site import PROJECT

PACKAGES = ("annotations", "common", "dialeval_site", "leaderboard", "workers")
READ = (*PACKAGES, "bench", "deploy", "docs", "templates")
SUFFIXES = (".conf", ".html", ".md", ".py", ".service", ".toml", ".yaml")
DOTTED = re.compile(rf"(?<![\w./-])(?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+(?![\w/(-])")
IMPORTS = re.compile(r"^\s*(?:from|import) .*$", flags=re.MULTILINE)
OTHERS = {
    # Names of tasks, kept from before the package was renamed
    "workers.trainings.tasks",
    "workers.trainings.tasks.train",
    # An example that a reader writes
    "workers.metrics.echo_share",
}


def files() -> list[Path]:
    folders = [path for name in READ for path in (PROJECT / name).rglob("*")]
    return [
        path
        for path in (*folders, PROJECT / "pyproject.toml", PROJECT / "CONTRIBUTING.md")
        if path.suffix in SUFFIXES and path.is_file() and "migrations" not in path.parts
    ]


def words_of(path: Path) -> str:
    """Of Python the strings and comments: imports are seen to by whoever runs it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    if not DOTTED.search(IMPORTS.sub("", text)):
        return ""
    strings = [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return "\n".join([*strings, *re.findall("#.*", text)])


@cache
def names_in(module: Path) -> set[str]:
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    return {
        name
        for node in nodes
        for name in (
            getattr(node, "name", None),
            getattr(node, "asname", None),
            getattr(node, "id", None),
        )
        if isinstance(name, str)
    }


def is_found(dotted: str) -> bool:
    path, *parts = dotted.split(".")
    at, position = PROJECT / path, 0
    while position < len(parts) and (at / parts[position]).is_dir():
        at, position = at / parts[position], position + 1
    if position < len(parts) and (at / f"{parts[position]}.py").is_file():
        at, position = at / f"{parts[position]}.py", position + 1
    if position == len(parts):
        return True
    module = at if at.is_file() else at / "__init__.py"
    if position == 0:  # an app's model: "workers.MetricRun"
        module = at / "models.py"
    return module.is_file() and parts[position] in names_in(module)


def test_every_dotted_name_of_the_project_is_found() -> None:
    lost = [
        f"{path.relative_to(PROJECT)}: {name}"
        for path in files()
        for name in DOTTED.findall(words_of(path))
        if name not in OTHERS and not name.endswith((".md", ".png")) and not is_found(name)
    ]
    assert lost == []


def test_a_name_that_is_nowhere_is_lost() -> None:
    assert is_found("dialeval_site.backends.NoDemoLogInsInProduction")
    assert not is_found("dialeval_site.backends.Nobody")
    assert not is_found("dialeval_site.nowhere.Worker")
