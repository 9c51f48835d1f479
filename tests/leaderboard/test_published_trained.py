"""The figures of DEnsity's and CMN's papers, as they stand in ``leaderboard.reproduction.published``."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from leaderboard.reproduction import cmn as cmn_table
from leaderboard.reproduction import density as density_table
from leaderboard.reproduction.published import Table, paper
from workers.metrics.common.configuration import parse

OF_DENSITY, OF_CMN = paper("density").tables, paper("cmn").tables
MAIN, ABLATION, DIALOGUES = (OF_DENSITY[number] for number in ("1", "2", "4"))
SETS = [OF_CMN["1"], OF_CMN["2"]]
ALL = [MAIN, ABLATION, DIALOGUES, *SETS]


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.title)
def test_every_row_has_a_figure_for_every_column(table: Table) -> None:
    assert {len(row.figures) for row in table.rows} == {len(table.columns) * len(table.statistics)}
    assert all(-1 < figure.value < 1 for row in table.rows for figure in row.figures.values())


def test_the_tables_have_the_papers_rows() -> None:
    assert [len(table.rows) for table in ALL] == [18, 6, 6, 19, 19]
    assert [len({row.metric for row in table.rows}) for table in SETS] == [19, 19]


@pytest.mark.parametrize(
    ("table", "metric", "figures"),
    [
        (MAIN, "BLEU", "8.02* 2.77* 11.22* 12.43* 14.15* 10.70* 10.69* 12.36"),
        (MAIN, "FED", "-7.30* -6.58* -2.03* 0.58* 2.56* 0.13* -14.29 -14.55"),
        (MAIN, "USR-Retrieval", "48.77 51.61 49.96 59.65 27.47 23.84 40.30 39.98"),
        (DIALOGUES, "DEnsity", "43.30"),
    ],
)
def test_density_s_figures_stand_where_the_paper_has_them(
    table: Table, metric: str, figures: str
) -> None:
    (row,) = [row for row in table.rows if row.metric == metric]
    assert (
        " ".join(
            f"{100 * one.value:.2f}{'' if one.significant else '*'}" for one in row.figures.values()
        )
        == figures
    )


def test_density_s_full_form_is_the_same_row_in_both_tables() -> None:
    (main,) = [row for row in MAIN.rows if row.metric == "DEnsity"]
    (ablated,) = [
        row
        for row in ABLATION.rows
        if (row.metric, row.group) == ("Mahalanobis", density_table.WITH)
    ]
    for key in ABLATION.columns:
        assert main.of_column(key) == ablated.of_column(key)


def test_density_is_the_best_of_every_column_as_the_paper_says() -> None:
    (own,) = [row for row in MAIN.rows if row.metric == "DEnsity"]
    for column, figure in own.figures.items():
        assert figure.value == max(row.figures[column].value for row in MAIN.rows)


def test_the_columns_of_density_s_table_add_up() -> None:
    """In hundredths, added up from the paper's text: a slip of a digit in any row changes a sum."""
    sums = [
        round(sum(100 * row.figures[column].value for row in MAIN.rows), 2)
        for column in MAIN.rows[0].figures
    ]
    assert sums == [420.7, 410.55, 337.41, 362.87, 285.37, 250.13, 370.49, 369.59]


@pytest.mark.parametrize(
    ("table", "source", "n"),
    [
        ("1", "dailydialog", 82),
        ("1", "personachat", 56),
        ("2", "dailydialog", 468),
        ("2", "personachat", 187),
    ],
)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_cmn_s_figures_and_their_p_belong_together(
    table: str, source: str, n: int, coefficient: str
) -> None:
    """t = r √((n − 2) / (1 − r²)): with one n for a set the printed p follow from the printed r; a
    slip of one of the first three digits would move them by more. One does not, in the paper:
    0.2947 (0.0025)."""
    for row in OF_CMN[table].rows:
        figure = row.figures[source, coefficient]
        if figure.p is None or (row.metric, figure.value) == ("w/o NSP", 0.2947):
            continue
        t = abs(figure.value) * math.sqrt((n - 2) / (1 - figure.value**2))
        p = 2 * float(stats.t.sf(t, n - 2))
        assert p == pytest.approx(figure.p, abs=0.005), row.metric


def test_cmn_has_the_highest_pearson_of_every_set() -> None:
    for table in SETS:
        for source in table.columns:
            best = max(row.figures[source, "pearson"].value for row in table.rows)
            (full,) = [row for row in table.rows if row.metric == cmn_table.FULL]
            assert full.figures[source, "pearson"].value == best


def test_every_row_has_a_metric_here_or_is_known_to_have_none() -> None:
    of_density = {row.metric for table in density_table.TABLES for row in table.rows}
    assert of_density - set(density_table.OURS) == {"USL-H", "FlowScore", "DynaEval", "Human"}
    of_cmn = {row.metric for table in SETS for row in table.rows}
    assert of_cmn - set(cmn_table.OURS) == {"MDD-Eval"}
    for name in [
        *(one for names in density_table.OURS.values() for one in names),
        *cmn_table.OURS.values(),
    ]:
        assert parse(name).metric.name == name
