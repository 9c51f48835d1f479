from __future__ import annotations

from dataclasses import replace

import pytest

from common.estimates import Estimate
from common.tables import (
    Cell,
    Column,
    Row,
    Table,
    choose_columns,
    estimate_cell,
    mark_best,
    sort_table,
)
from common.tables.arrange import column_scale
from tests.common.tables.example import TABLE, ids


def test_ascending_puts_undefined_last() -> None:
    assert ids(sort_table(TABLE, "r")) == ["meteor", "bleu", "fbd"]


def test_descending_puts_undefined_last_too() -> None:
    assert ids(sort_table(TABLE, "-r")) == ["bleu", "meteor", "fbd"]


@pytest.mark.parametrize("params", ["loss", "-loss"])
def test_equal_rows_keep_their_order(params: str) -> None:
    assert [row for row in ids(sort_table(TABLE, params)) if row != "bleu"] == ["fbd", "meteor"]


def test_text_sorts_without_regard_to_case() -> None:
    assert ids(sort_table(TABLE, "metric")) == ["bleu", "fbd", "meteor"]


def test_an_unknown_key_leaves_the_order_of_the_table() -> None:
    assert ids(sort_table(replace(TABLE, sort=("r", False)), "nonsense")) == [
        "meteor",
        "bleu",
        "fbd",
    ]


def test_chosen_columns_keep_the_name_and_the_order_of_the_table() -> None:
    assert [column.key for column in choose_columns(TABLE, "loss,r").columns] == [
        "metric",
        "r",
        "loss",
    ]


def test_a_wish_for_no_known_column_shows_all() -> None:
    assert choose_columns(TABLE, "gone,lost").columns == TABLE.columns


def test_the_best_follows_the_direction_and_ties_share_it() -> None:
    marked = mark_best(TABLE)
    best = {(row.id, key) for row in marked.rows for key, cell in row.cells.items() if cell.best}
    # r: higher is better, 0.25 > -0.5. loss: lower is better, 1.5 twice. rank and metric have no
    # direction.
    assert best == {("bleu", "r"), ("fbd", "loss"), ("meteor", "loss")}


def test_an_excluded_row_does_not_compete() -> None:
    marked = mark_best(TABLE, exclude=["fbd"])
    assert [row.id for row in marked.rows if row.cell("loss").best] == ["meteor"]


def test_one_competitor_is_no_competition() -> None:
    table = Table(
        "t", "", (Column("a", "a", "number", higher_is_better=True),), (Row("1", {"a": Cell(1.0)}),)
    )
    assert not mark_best(table).rows[0].cell("a").best


@pytest.mark.parametrize(("numbers", "best"), [((0.0001, 0.0004), []), ((0.0001, 0.001), ["1"])])
def test_what_is_printed_as_one_number_throughout_has_no_best(
    numbers: tuple[float, float], best: list[str]
) -> None:
    """.000 and .000 with three decimals; .000 and .001."""
    rows = tuple(Row(str(place), {"a": Cell(number)}) for place, number in enumerate(numbers))
    table = Table("t", "", (Column("a", "a", "number", higher_is_better=True),), rows)
    assert [row.id for row in mark_best(table).rows if row.cell("a").best] == best


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_undefined_with_a_reason(number: float) -> None:
    cell = Cell(number, ci=(0.0, 1.0), p=0.5)
    assert (cell.value, cell.ci, cell.p, cell.reason) == (
        None,
        None,
        None,
        "the result is not a finite number",
    )


def test_an_undefined_estimate_keeps_its_reason() -> None:
    assert (
        estimate_cell(Estimate.undefined("all human scores are equal")).reason
        == "all human scores are equal"
    )


def test_an_estimate_without_interval_says_why_in_a_note() -> None:
    cell = estimate_cell(Estimate(0.3, reason="one dialogue only"))
    assert (cell.value, cell.note) == (0.3, "no interval: one dialogue only")


def test_the_scale_spans_every_interval_of_the_column() -> None:
    assert column_scale(TABLE, "r") == (-0.6, 0.4)


def test_two_columns_with_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="two columns"):
        Table("t", "", (Column("a", "a"), Column("a", "b")), ())
