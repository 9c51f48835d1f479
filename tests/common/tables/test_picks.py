"""Rows that can be ticked: a form elsewhere on the page takes them."""

from __future__ import annotations

from common.tables import Cell, Column, Row, Table
from common.tables.to_html import table_to_html


def drawn(pick: str, form: str = "compare") -> str:
    rows = (Row("one", {"name": Cell('<b> "quoted"')}, pick=pick),)
    return table_to_html(Table("t", "T", (Column("name", "Name"),), rows, pick_form=form))


def test_a_row_that_can_be_ticked_has_a_box_that_belongs_to_the_form() -> None:
    said = drawn('fbd[model="a"]')
    assert (
        '<input type="checkbox" class="pick" name="pick" value="fbd[model=&quot;a&quot;]" '
        'form="compare"' in said
    )
    assert 'aria-label="Compare &lt;b&gt; &quot;quoted&quot;"' in said


def test_other_rows_and_tables_have_none() -> None:
    assert "checkbox" not in drawn("")
    assert "checkbox" not in drawn("one", form="")
