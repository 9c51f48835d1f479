"""docs/papers.md holds to the code: its rows are counted, and what it names exists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from django.core.management import get_commands

from annotations.formats.importers.registry import importers
from annotations.questions import templates
from dialeval_site.config.environment import SETTINGS
from tests.dialeval_site.addresses import addresses
from tests.dialeval_site.documents import table_rows, text_of
from tests.dialeval_site.example_checks import parser_of
from tests.site import PROJECT
from workers.metrics.common.configuration import parse
from workers.metrics.common.not_available import NOT_AVAILABLE

PAGE = text_of("papers.md")
ROWS = [row for row in table_rows(PAGE) if row[0].isdigit()]
WORKS, IN_PART, NOT = "works", "in part", "not"
NAMES: dict[str, Callable[[], set[str]]] = {
    "page": lambda: {str(pattern.name) for pattern in addresses()},
    "importer": lambda: set(importers()),
    "form": lambda: set(templates.names()),
    "setting": lambda: {setting.name for setting in SETTINGS},
}
"""By the word before a name, the names that exist."""
REFERENCES = sorted(set(re.findall(rf"(?:\b({'|'.join([*NAMES, 'module'])}) )?`([^`]+)`", PAGE)))


def test_each_row_is_there_once_and_in_order() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, 179))
    assert {len(row) for row in ROWS} == {6}


def test_the_rows_are_counted_by_their_state() -> None:
    count = Counter(row[3] for row in ROWS)
    assert set(count) == {WORKS, IN_PART, NOT}
    told = f"**{len(ROWS)} rows: {count[WORKS]} work, {count[IN_PART]} in part, {count[NOT]} not.**"
    assert told in PAGE


def test_a_row_that_works_names_what_makes_it_and_another_one_says_what_is_missing() -> None:
    assert [row[0] for row in ROWS if row[3] == WORKS and not re.search(r"`|\]\(", row[4])] == []
    assert [row[0] for row in ROWS if row[3] != WORKS and not row[5]] == []


@pytest.mark.parametrize(("kind", "name"), REFERENCES, ids=[" ".join(one) for one in REFERENCES])
def test_what_it_names_exists(kind: str, name: str) -> None:
    if kind in NAMES:
        assert name in NAMES[kind]()
    elif kind == "module":
        assert (PROJECT / name).exists()
    elif name.split()[0] in get_commands():
        check_command(*name.split())
    else:
        parse(name)  # raises ConfigurationError where no metric, option or value is so called


def check_command(name: str, *arguments: str) -> None:
    """Each argument is an option of the command, or a choice of one without a name."""
    actions = parser_of(name)._actions
    known = {
        str(one) for action in actions for one in action.option_strings or action.choices or ()
    }
    assert set(arguments) <= known


@pytest.mark.parametrize("name", [one.name for one in NOT_AVAILABLE if one.name != "MAUDE"])
def test_a_metric_that_cannot_be_computed_is_not_there(name: str) -> None:
    """MAUDE's loss can be trained."""
    states = [row[3] for row in ROWS if row[1] == name]
    assert states
    assert set(states) == {NOT}
