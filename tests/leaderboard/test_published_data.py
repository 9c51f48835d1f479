"""The data files of what papers print: what is refused in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.reproduction.published import (
    COLUMNS,
    FOLDER,
    Figure,
    PublishedDataError,
    paper,
    read_paper,
)

ABOUT = """
[made]
citation = "Nobody (2024)"
tables = [{ number = "1", title = "made", columns = ["a", "b"], statistics = ["pearson"] }]
"""
GOOD = ["1,G,BLEU,,a,pearson,0.40,,0.2", "1,G,BLEU,,b,pearson,.5,*,"]


def read(folder: Path, lines: list[str], about: str = ABOUT, columns: list[str] = COLUMNS):
    (folder / "papers.toml").write_text(about)
    (folder / "made.csv").write_text("\n".join([",".join(columns), *lines, ""]))
    return read_paper("made", folder)


def test_a_figure_has_its_digits_its_star_and_its_p(tmp_path: Path) -> None:
    """.2 is not below .05."""
    (row,) = read(tmp_path, GOOD).tables["1"].rows
    assert (row.metric, row.group, row.model) == ("BLEU", "G", "")
    assert row.figures == {
        ("a", "pearson"): Figure(0.4, 2, significant=False, p=0.2),
        ("b", "pearson"): Figure(0.5, 1, significant=False),
    }


def test_percent_are_hundredths(tmp_path: Path) -> None:
    about = ABOUT.replace('number = "1"', 'number = "1", percent = true')
    (row,) = read(tmp_path, ["1,G,BLEU,,a,pearson,8.02,,", GOOD[1]], about).tables["1"].rows
    assert row.of_column("a") == {"pearson": Figure(0.0802, 4)}


@pytest.mark.parametrize(("value", "same"), [(0.4049, True), (0.395, True), (0.4051, False)])
def test_a_value_is_the_printed_one_to_the_printed_digits(value: float, same: bool) -> None:
    assert Figure(0.40, 2).is_same(value) is same


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (GOOD[:1], r"Table 1, BLEU : no figure of \('b', 'pearson'\)"),
        ([*GOOD, GOOD[0]], r"made.csv, line 4: the cell BLEU, .* is there twice"),
        ([GOOD[0].replace("0.40", "NaN"), GOOD[1]], "line 2: 'NaN' is no number"),
        ([GOOD[0].replace("0.40", "inf"), GOOD[1]], "line 2: 'inf' is no number"),
        ([GOOD[0].replace("0.40", ""), GOOD[1]], "line 2: '' is no number"),
        ([GOOD[0].replace("0.2", "1.2"), GOOD[1]], "line 2: p is 1.2"),
        ([GOOD[0], GOOD[1].replace("*", "!")], "line 3: the star is '!'"),
        ([GOOD[0].replace(",a,", ",c,"), GOOD[1]], r"Table 1 has no column \('c', 'pearson'\)"),
        ([*GOOD, GOOD[0].replace("1,G", "2,G")], "line 4: the paper has no table '2'"),
        (["1,G,BLEU,,a"], "line 2 has not 9 cells"),
        ([GOOD[0] + ",x", GOOD[1]], "line 2 has not 9 cells"),
    ],
)
def test_a_bad_cell_is_refused_with_its_line(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    with pytest.raises(PublishedDataError, match=message):
        read(tmp_path, lines)


def test_a_file_without_a_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PublishedDataError, match=r"made.csv has the columns"):
        read(tmp_path, [], columns=COLUMNS[:-1])


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.csv"))])
def test_every_correlation_of_a_paper_is_one(name: str) -> None:
    statistics = {"pearson", "spearman", "kendall", "R@1", "MRR", "mean", "sd", "alpha"}
    for table in paper(name).tables.values():
        for row in table.rows:
            for (_, statistic), figure in row.figures.items():
                assert statistic not in statistics or -1 <= figure.value <= 1, row


def test_the_files_are_part_of_the_package() -> None:
    """``tool.setuptools.package-data`` names them, or an installed site has none."""
    suffixes = {path.suffix for path in FOLDER.iterdir() if path.is_file()} - {".py"}
    text = (FOLDER.parents[2] / "pyproject.toml").read_text()
    (line,) = [one for one in text.splitlines() if one.startswith('"leaderboard.reproduction.pub')]
    assert all(f"*{suffix}" in line for suffix in suffixes)
