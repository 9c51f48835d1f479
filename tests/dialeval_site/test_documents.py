"""The documents say what is there, all of it, and nothing else."""

from __future__ import annotations

import argparse
import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import (
    BaseCommand,
    get_commands,
    load_command_class,
)
from django.core.management.base import OutputWrapper

from dialeval_site.config.environment import SETTINGS
from dialeval_site.settings import VERSION
from tests.dialeval_site.documents import (
    ShellLine,
    code_words,
    documents,
    first_table,
    sections,
    shell_lines,
    table_rows,
    text_of,
)
from tests.dialeval_site.example_checks import CHECKS, check_make, parser_of
from tests.reference import commands
from tests.site import PROJECT

PACKAGES = ("common", "annotations", "workers", "leaderboard", "dialeval_site")


# --- settings -------------------------------------------------------------------------------------


KEYS_NAMED_BY_ORGANISERS = ("DIALEVAL_CHAT_KEY_…", "workers/chats/execution.py")


def test_nothing_reads_a_variable_that_is_not_on_the_page() -> None:
    """environment.py reads the settings; the page names the few modules that read another program's
    variables."""
    read = {(name, module) for module in modules() for name in variables_read(module)}
    read = {
        KEYS_NAMED_BY_ORGANISERS if one == ("?", "workers/chats/execution.py") else one
        for one in read
    }
    table = sections(text_of("settings.md"))["Variables of other programs"]
    documented = {
        (name, module)
        for names, module_cell, _ in table_rows(table)
        for name in code_words(names)
        for module in code_words(module_cell)
    }
    assert read == documented


def modules() -> list[str]:
    files = [path for package in PACKAGES for path in (PROJECT / package).rglob("*.py")]
    names = [str(path.relative_to(PROJECT)) for path in [*files, PROJECT / "manage.py"]]
    return [name for name in names if name != "dialeval_site/config/environment.py"]


def variables_read(module: str) -> Iterator[str]:
    """Names of variables that the module reads from the environment; ``?`` where the name is not in
    the code."""
    tree = ast.parse((PROJECT / module).read_text(encoding="utf-8"))
    constants = {
        target.id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    constants |= {
        name.id: value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for target in node.targets
        if isinstance(target, ast.Tuple)
        for name, value in zip(target.elts, node.value.elts, strict=True)
        if isinstance(name, ast.Name) and isinstance(value, ast.Constant)
    }
    for node in ast.walk(tree):
        name: ast.expr | None = None
        if (
            isinstance(node, ast.Subscript)
            and is_environ(node.value)
            and isinstance(node.ctx, ast.Load)
        ):
            name = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of_environ = is_environ(node.func.value) and node.func.attr in ("get", "pop")
            if of_environ or node.func.attr == "getenv":
                name = node.args[0]
        if name is not None:
            known = (
                name.value
                if isinstance(name, ast.Constant)
                else constants.get(getattr(name, "id", ""), "?")
            )
            yield str(known)


def is_environ(node: ast.expr) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == "environ"


# --- commands -------------------------------------------------------------------------------------


def arguments_of(name: str) -> dict[str, argparse.Action]:
    """The command's own arguments as one writes them; Django's, which every command has, left out,
    and so are those that no help names any more, because they are taken for one version only."""
    common = {action.dest for action in BaseCommand().create_parser("manage.py", "x")._actions}
    own = [
        one
        for one in parser_of(name)._actions
        if one.dest not in common and one.help != argparse.SUPPRESS
    ]
    return {
        action.option_strings[-1] if action.option_strings else str(action.metavar): action
        for action in own
    }


def test_the_table_of_commands_names_every_command() -> None:
    rows = first_table(text_of("commands.md"))
    assert sorted(name for _, names in rows for name in code_words(names)) == commands()


@pytest.mark.parametrize("name", commands())
def test_every_argument_says_what_it_is(name: str) -> None:
    """And so does the command; its own help names defaults and choices."""
    assert len(load_command_class(get_commands()[name], name).help.split()) >= 5
    silent = [one for one, action in arguments_of(name).items() if not action.help]
    assert silent == []


@pytest.mark.parametrize("name", commands())
def test_help_names_every_argument(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        load_command_class(get_commands()[name], name).run_from_argv(["manage.py", name, "--help"])
    assert not ending.value.code
    shown = capsys.readouterr().out
    assert [argument for argument in arguments_of(name) if argument not in shown] == []
    assert (
        load_command_class(get_commands()[name], name).help.split(":")[0].split(".")[0][:40]
        in shown
    )


@pytest.mark.parametrize("name", commands())
def test_wrong_arguments_end_a_command_with_1(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the page says of all of them; argparse alone would end with 2."""
    with pytest.raises(SystemExit) as ending:
        load_command_class(get_commands()[name], name).run_from_argv(
            ["manage.py", name, "--no-such-argument"]
        )
    shown = capsys.readouterr()
    assert (ending.value.code, shown.out) == (1, "")
    assert "Traceback" not in shown.err


# --- examples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", list(shell_lines()), ids=str)
def test_examples_name_what_exists(line: ShellLine) -> None:
    program, arguments = Path(line.words[0]).name, list(line.words[1:])
    if program == "python" and arguments[0] == "manage.py":
        program, arguments = arguments[0], arguments[1:]
    check = CHECKS.get(program)
    assert check is not None, f"no check for {program}"
    check(arguments)


def test_the_readme_s_test_command_is_what_ci_runs() -> None:
    assert ("make", "test") in {
        line.words for line in shell_lines() if line.document == "README.md"
    }
    assert "make test" in (PROJECT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]


def test_the_readme_shows_what_run_prints() -> None:
    printed = io.StringIO()
    command = load_command_class("dialeval_site", "run")
    command.stdout = OutputWrapper(printed)
    command._greet("http://127.0.0.1:8000/", with_accounts=True)
    shown = re.search(
        r"```text\n(.*?)```", (PROJECT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert shown
    assert shown.group(1).replace("…/var", str(settings.HOME)) == printed.getvalue()


def test_sentences_name_only_commands_and_targets_that_exist() -> None:
    for document in documents():
        text = document.read_text(encoding="utf-8")
        for name in re.findall(r"manage\.py ([a-z_]+)", text):
            assert name in {*get_commands(), "help"}, f"{document.name}: manage.py {name}"
        for target in re.findall(r"`make ([a-z-]+)", text):
            check_make([target])


def test_documents_name_only_settings_that_exist() -> None:
    known = {setting.name for setting in SETTINGS} | {
        "DIALEVAL_DATA",
        "DIALEVAL_LOCAL_SERVER_KEY",
        "DIALEVAL_CHAT_KEY_",
        "DIALEVAL_SERVER",  # these two of the command ``dialeval``
        "DIALEVAL_TOKEN",
        "DIALEVAL_LOAD_MINUTES",  # these three of tests
        "DIALEVAL_LONG",
        "DIALEVAL_TEST_SEED",
    }
    for document in documents():
        text = document.read_text(encoding="utf-8")
        assert set(re.findall(r"\bDIALEVAL_[A-Z_]+\b", text)) <= known, document.name
        exported = re.findall(r"^export ([A-Z_]+)=", text, flags=re.MULTILINE)
        assert set(exported) <= known | {"PATH"}, document.name


def test_links_between_documents_lead_somewhere() -> None:
    for document in documents():
        text = document.read_text(encoding="utf-8")
        pictures = re.findall(r'\b(?:src|srcset)="([^"]+)"', text)
        for target in [*re.findall(r"\]\(([^)\s]+)\)", text), *pictures]:
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            found = document.parent / path if path else document
            assert found.exists(), f"{document.name}: {target}"
            if anchor:
                assert anchor in anchors_of(found), f"{document.name}: {target}"


def anchors_of(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_document_is_on_the_readme_s_map() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    for document in (PROJECT / "docs").glob("*.md"):
        assert f"(docs/{document.name})" in readme, document.name


def test_documents_name_no_machine_s_paths() -> None:
    for document in documents():
        assert not re.search(
            r"(?<![\w>])/(work|root|home|tmp)/", document.read_text(encoding="utf-8")
        ), document.name


def test_the_changelog_begins_with_this_version() -> None:
    newest = next(iter(sections((PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"))))
    assert newest.split()[0] == VERSION
