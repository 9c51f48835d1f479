"""Tables as LaTeX and Markdown: what a paper's author copies. The structure is read, nothing is
compiled."""

from __future__ import annotations

import re

import pytest

from common.tables import Cell, Column, Row, Table
from common.tables.download import download
from common.tables.latex_text import comment, escaped
from common.tables.to_latex import table_to_latex
from common.tables.to_markdown import table_to_markdown

COLUMNS = (
    Column("metric", "Metric"),
    Column("turn", "r", "estimate", group="turn level"),
    Column("turn-n", "n", "number", decimals=0, group="turn level"),
    Column("rank", "Rank", "rank", decimals=0),
)
TABLE = Table(
    "metrics",
    "Metrics of usr",
    COLUMNS,
    (
        Row(
            "one",
            {
                "metric": Cell("bleu_4"),
                "turn": Cell(-0.1234, ci=(-0.3, 0.05), p=0.2, letters="b"),
                "turn-n": Cell(10395),
                "rank": Cell(2, ci=(2, 3)),
            },
            badges=("lower is better",),
            signature="metric:bleu_4",
        ),
        Row(
            "two",
            {
                "metric": Cell("simcse"),
                "turn": Cell(0.5, ci=(0.4, 0.6), p=0.001, best=True, letters="a"),
            },
        ),
        Row("three", {"metric": Cell("fbd"), "turn": Cell(reason="exists per system only")}),
    ),
    sort=("turn", True),
    notes=("Intervals: 95 %.",),
    signature="corpus:usr",
)
HOSTILE = [
    r"a & b \input{x}",
    "100 %",
    "$x$",
    "a\nb",
    "a\x00b",
    "=1+1",
    "<script>",
    "a|b",
    "a^b~c#d_e{f}",
    "```",
]


def rows_of(latex: str) -> list[list[str]]:
    """The cells of every line of the tabular that has any."""
    body = latex.split(r"\begin{tabular}")[1].split(r"\end{tabular}")[0]
    return [
        re.split(r"(?<!\\) & ", line.removesuffix(r" \\"))
        for line in body.splitlines()
        if line.endswith(r" \\")
    ]


def test_a_row_of_latex_has_its_figures_and_its_intervals_beneath() -> None:
    rows = rows_of(table_to_latex(TABLE))
    assert rows[2] == [
        r"bleu\_4 (lower is better)",
        r"$-$0.123$^{b\dagger}$",
        "10,395",
        "2 (2 to 3)",
    ]
    assert rows[3] == ["", r"{\scriptsize [$-$0.300, 0.050]}", "", ""]


def test_the_best_is_bold_and_undefined_is_a_dash_whose_reason_is_a_comment() -> None:
    latex = table_to_latex(TABLE)
    assert rows_of(latex)[4] == ["simcse", r"\textbf{0.500}$^{a}$", "--", "--"]
    assert "% fbd, turn level r: exists per system only" in latex.splitlines()


def test_groups_have_a_rule_over_their_columns() -> None:
    lines = table_to_latex(TABLE).splitlines()
    assert r" & \multicolumn{2}{c}{turn level} &  \\" in lines
    assert r"\cmidrule(lr){2-3}" in lines


def test_notes_signatures_and_what_marks_mean_stand_in_comments() -> None:
    lines = table_to_latex(TABLE).splitlines()
    end = lines.index(r"\end{tabular}")
    assert all(line.startswith("% ") for line in lines[end + 1 :])
    assert {"% Intervals: 95 %.", "% corpus:usr", "% metric:bleu_4", "% dagger: p >= 0.05"} <= set(
        lines
    )


def width_of(row: list[str]) -> int:
    spans = [int(span) for span in re.findall(r"multicolumn\{(\d)", " ".join(row))]
    return len(row) - len(spans) + sum(spans)


def test_every_line_of_latex_has_as_many_cells_as_there_are_columns() -> None:
    assert {width_of(row) for row in rows_of(table_to_latex(TABLE))} == {len(COLUMNS)}


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_name_holds_latex_reads_it_as_words(text: str) -> None:
    """Outside comments no special character stands without its backslash, and a line break ends
    nothing."""
    table = Table(
        "t",
        text,
        (Column("n", text), Column("v", "v", "number")),
        (Row(text, {"n": Cell(text)}),),
        notes=(text,),
    )
    latex = table_to_latex(table)
    for line in latex.splitlines():
        if line.startswith("%"):
            continue
        rest = re.sub(
            r"\\text(backslash|asciitilde|asciicircum)\{\}|\\[&%$#_{}]|\$[<>|]\$", "", line
        )
        rest = re.sub(
            r"\\(begin|end)\{tabular\}(\{[lr]+\})?|\\(top|mid|bottom)rule|\\\\$| & ", "", rest
        )
        assert not re.search(r"[\\&%$#_{}~^]", rest), line
    assert len(rows_of(latex)) == 2
    assert "\x00" not in latex


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("Cohen's κ", r"Cohen's $\kappa$"),
        ("Spearman’s ρ", r"Spearman's $\rho$"),
        ("first − second", "first $-$ second"),
        ("overall · turn…", r"overall $\cdot$ turn\ldots{}"),
        ("a <2|3> b", "a $<$2$|$3$>$ b"),
        (
            '"so" “so”',
            r"\textquotedblright{}so\textquotedblright{} \textquotedblleft{}so\textquotedblright{}",
        ),
        ("2 × 3 ± 1 – 2", r"2 $\times$ 3 $\pm$ 1 -- 2"),
        ("≤ 5 ≥ → ≠ ≈ ∞", r"$\leq$ 5 $\geq$ $\to$ $\neq$ $\approx$ $\infty$"),
        ("R² of 10⁻³", r"R$^{2}$ of 10$^{-}$$^{3}$"),
        ("x₁ ᵢ ½", r"x$_{1}$ $_{i}$ $\frac{1}{2}$"),
        ("é ü", "é ü"),
    ],
)
def test_signs_of_headings_are_commands_that_pdflatex_knows_without_packages(
    text: str, latex: str
) -> None:
    assert escaped(text) == latex


def test_every_greek_letter_has_its_latex() -> None:
    """A command of TeX's own, or the Latin letter of the same shape."""
    capitals, small = (
        [chr(point) for point in range(*ends)] for ends in ((0x391, 0x3AA), (0x3B1, 0x3CA))
    )
    letters = {letter: escaped(letter) for letter in (*capitals, *small) if letter.isalpha()}
    assert len(letters) == 24 + 25  # two forms of the small sigma
    assert all(re.fullmatch(r"\$\\[A-Za-z]+\$|[A-Za-z]", latex) for latex in letters.values())
    assert (letters["Σ"], letters["ς"], letters["Ο"]) == (r"$\Sigma$", r"$\varsigma$", "O")


def test_outside_comments_headings_and_figures_are_ascii() -> None:
    columns = (
        Column("metric", "Metric"),
        *(Column(name, name, "estimate", group="κ") for name in "rρτλ"),
    )
    row = Row(
        "one",
        {"metric": Cell("α – β…"), "ρ": Cell(-0.5, ci=(-0.75, 1e-9), p=0.2), "τ": Cell(reason="ρ")},
    )
    lines = table_to_latex(Table("t", "ρ", columns, (row,))).splitlines()
    assert not [line for line in lines if not line.isascii() and not line.startswith("% ")]
    assert r"Metric & r & $\rho$ & $\tau$ & $\lambda$ \\" in lines


@pytest.mark.parametrize("name", ["[2pt] ours", "* ours", "*"])
def test_a_row_that_begins_with_a_bracket_or_an_asterisk_keeps_it(name: str) -> None:
    r"""The ``\\`` before it, or the rule, would take it for an argument; an empty group stands
    between."""
    columns = (Column("n", name), Column("v", "v", "number"))
    table = Table(
        "t", "t", columns, (Row("1", {"n": Cell(name)}), Row("2", {"n": Cell(name), "v": Cell(1)}))
    )
    assert [row[0] for row in rows_of(table_to_latex(table))] == [f"{{}}{name}"] * 3


@pytest.mark.parametrize("line_break", [*"\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\r\n"])
def test_no_line_break_ends_a_comment(line_break: str) -> None:
    assert comment(rf"over{line_break}all \input{{x}}") == r"% over all \input{x}"


def test_a_row_of_markdown() -> None:
    lines = table_to_markdown(TABLE).splitlines()
    assert lines[2] == "| Metric | turn level: r | turn level: n | Rank |"
    assert lines[3] == "| --- | ---: | ---: | ---: |"
    assert (
        lines[4]
        == r"| bleu\_4 (lower is better) | −0.123 \[−0.300, 0.050\] b | 10,395 | 2 (2 to 3) |"
    )
    assert lines[5] == r"| simcse | **0.500** \[0.400, 0.600\] a | – | – |"


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_name_holds_a_row_of_markdown_has_its_cells(text: str) -> None:
    table = Table(
        "t",
        "c",
        (Column("n", "n"), Column("v", "v", "number")),
        (Row("r", {"n": Cell(text)}),),
        signature=text,
    )
    lines = table_to_markdown(table).splitlines()
    assert len(re.findall(r"(?<!\\)\|", lines[4])) == 3
    assert not re.search(r"(?<!\\)<", lines[4])


def test_files_for_papers_follow_the_reader_s_columns_and_order() -> None:
    found = download([TABLE], "metrics.md", columns="turn", sort="turn")
    assert found is not None
    assert [line.split(" | ")[0] for line in found.body.splitlines()[4:7]] == [
        r"| bleu\_4 (lower is better)",
        "| simcse",
        "| fbd",
    ]
    assert found.body.splitlines()[2] == "| Metric | turn level: r |"


def test_each_form_says_what_it_is() -> None:
    kinds = {form: download([TABLE], f"metrics.{form}") for form in ("tex", "md")}
    assert {form: file.content_type for form, file in kinds.items() if file} == {
        "tex": "application/x-tex; charset=utf-8",
        "md": "text/markdown; charset=utf-8",
    }


def test_a_p_is_never_written_as_nought() -> None:
    table = Table(
        "t", "T", (Column("name", "Name"), Column("p", "p", "p")), (Row("1", {"p": Cell(3e-9)}),)
    )
    assert "& $<$ 0.001" in table_to_latex(table)
    assert r"| \< 0.001 |" in table_to_markdown(table)
