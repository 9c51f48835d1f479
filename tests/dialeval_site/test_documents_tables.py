"""The document's tables of formats are those of the site."""

from __future__ import annotations

import pytest

from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.registry import importers
from annotations.questions import templates
from annotations.questions.schema import TYPES
from tests.dialeval_site.documents import (
    code_words,
    first_table,
    sections,
    text_of,
)


def test_the_table_of_formats_is_the_importers_and_exporters() -> None:
    rows = first_table(text_of("formats.md"))
    assert {name for row in rows if row[1] for name in code_words(row[0])} == set(importers())
    assert {name for row in rows if row[2] for name in code_words(row[0])} == set(exporters())


@pytest.mark.parametrize("name", sorted(exporters()))
def test_every_exporter_has_a_paragraph(name: str) -> None:
    assert f"**`{name}`** writes" in sections(text_of("formats.md"))["What holds for every export"]


def test_every_field_of_our_own_format_is_in_its_table() -> None:
    from dataclasses import fields

    from annotations.formats.importers.canonical import TYPE_NAMES
    from annotations.formats.records import Message, TurnRecord

    rows = {
        row[0].strip("`"): set(code_words(row[1]))
        for row in first_table(sections(text_of("formats.md"))["jsonl"])
    }
    described = {**TYPE_NAMES, Message: "a message", TurnRecord: "a turn"}
    assert set(rows) == set(described.values())
    for record, name in described.items():
        names = {field.name for field in fields(record)}
        if record is TurnRecord:  # of the first version, and told below the table
            names.remove("context")
        assert names <= rows[name], name


def test_the_types_of_questions_and_the_templates_are_in_their_tables() -> None:
    found = sections(text_of("questions.md"))
    kinds = {
        word for row in first_table(found["Types of questions"]) for word in code_words(row[0])
    }
    assert kinds == set(TYPES)
    named = {word for row in first_table(found["Templates"]) for word in code_words(row[0])}
    assert named == set(templates.names())
