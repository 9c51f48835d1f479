"""The documents' tables of addresses and formats are those of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, get_resolver

from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.registry import importers
from tests.dialeval_site import campaign_matrix, judge_matrix, training_matrix
from tests.dialeval_site.documents import (
    code_words,
    first_table,
    sections,
    text_of,
)
from tests.dialeval_site.test_permissions import MATRIX


def test_the_table_of_addresses_is_the_url_configuration() -> None:
    rows = first_table(text_of("endpoints.md"))
    documented = {name.strip("`"): path.strip("`") for name, path, *_ in rows if name != "–"}
    assert documented == dict(named_addresses())


def named_addresses() -> Iterator[tuple[str, str]]:
    """(name, path) of every address but the admin's and the API's, ``<int:position>`` written
    ``<position>``."""
    waiting = [("/", pattern) for pattern in get_resolver().url_patterns]
    while waiting:
        start, pattern = waiting.pop()
        path = start + re.sub(r"<\w+:(\w+)>", r"<\1>", str(pattern.pattern))
        if isinstance(pattern, URLPattern):
            yield str(pattern.name), path.replace("^api/", "api/…")
        elif pattern.namespace not in ("admin", "api"):
            waiting += [(path, inner) for inner in pattern.url_patterns]


def test_methods_and_roles_in_the_table_are_those_of_the_permission_matrices() -> None:
    named = set(MATRIX) | {address.name for address in (*campaign_matrix.MATRIX, *OF_ORGANISERS)}
    rows = {
        row[0].strip("`"): row
        for row in first_table(text_of("endpoints.md"))
        if row[0].strip("`") in named
    }
    assert {name: row[2] for name, row in rows.items()} == {name: methods(name) for name in rows}
    assert {name: row[3] for name, row in rows.items()} == {name: who(name) for name in rows}


OF_ORGANISERS = (*judge_matrix.MATRIX, *training_matrix.MATRIX)
OF_CAMPAIGNS = {
    "raters": "who takes part",
    "anybody": "who is logged in",
    "holders": "who holds the link",
    "organisers": "organisers",
}


def methods(name: str) -> str:
    if name in MATRIX:
        return "GET, POST" if name in ("login", "corpus-new") else MATRIX[name].method
    of_others = (*campaign_matrix.MATRIX, *OF_ORGANISERS)
    return ", ".join(address.method for address in of_others if address.name == name)


def who(name: str) -> str:
    if name in {address.name for address in OF_ORGANISERS}:
        return "organisers"
    if name not in MATRIX:
        return next(
            OF_CAMPAIGNS[address.who] for address in campaign_matrix.MATRIX if address.name == name
        )
    address = MATRIX[name]
    if name == "monitoring":
        return "who has the monitoring token"
    if "403" in address.public:
        return "organisers"
    return "who may see the corpus" if address.private else "everybody"


def test_the_table_of_formats_is_the_importers_and_exporters() -> None:
    rows = first_table(text_of("formats.md"))
    assert {row[0].strip("`") for row in rows if row[1]} == set(importers())
    assert {row[0].strip("`") for row in rows if row[2]} == set(exporters())


@pytest.mark.parametrize("name", sorted(importers()))
def test_every_importer_has_a_section(name: str) -> None:
    assert name in sections(text_of("formats.md"))


@pytest.mark.parametrize("name", sorted(exporters()))
def test_every_exporter_has_a_paragraph(name: str) -> None:
    assert f"**`{name}`** writes" in sections(text_of("formats.md"))["What holds for every export"]


def test_every_field_of_our_own_format_is_in_its_table() -> None:
    from dataclasses import fields

    from annotations.formats.importers.canonical import TYPE_NAMES

    rows = {
        row[0].strip("`"): set(code_words(row[1]))
        for row in first_table(sections(text_of("formats.md"))["jsonl"])
    }
    assert set(rows) == set(TYPE_NAMES.values())
    for record, type_name in TYPE_NAMES.items():
        assert {field.name for field in fields(record)} <= rows[type_name], type_name
