r"""A table for a paper: LaTeX with booktabs. Best is bold; intervals stand beneath in small type;
systems or metrics that cannot be told apart share a superscript letter; values with p ≥ 0.05 carry
a dagger; undefined is a dash.

What a paper's reader does not see but its author needs stands in comments: the reasons of dashes,
the notes, the signatures.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from common.tables.latex_text import comment, escaped, row_of
from common.tables.numerals import written, written_p_number
from common.tables.table import Cell, Column, Row, Table

NOT_SIGNIFICANT = 0.05


def table_to_latex(table: Table) -> str:
    r"""A table as LaTeX for a paper, to be used with the package booktabs.

    Args:
        table: with the rows and columns to be written, in order.

    Returns:
        A ``tabular``, with comments for the caption, the notes, the reasons of dashes and the
        signatures. ``\caption`` and ``\label`` are the paper's own. Rows that share a superscript
        letter are not significantly different; a dagger marks p ≥ ``NOT_SIGNIFICANT``.
    """
    alignment = "".join("r" if column.is_figure else "l" for column in table.columns)
    lines = [
        r"% needs \usepackage{booktabs}",
        comment(table.caption),
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *_group_rows(table.columns),
        row_of([escaped(column.label) for column in table.columns]),
        r"\midrule",
    ]
    for row in table.rows:
        lines.append(
            row_of(
                [_written(row, column, place == 0) for place, column in enumerate(table.columns)]
            )
        )
        if any(row.cell(column.key).ci for column in table.columns):
            lines.append(
                row_of([_interval(row.cell(column.key), column) for column in table.columns])
            )
    lines += [r"\bottomrule", r"\end{tabular}"]
    if any(_is_weak(row.cell(column.key)) for row in table.rows for column in table.columns):
        lines.append(comment(f"dagger: p >= {NOT_SIGNIFICANT}"))
    if any(row.cell(column.key).letters for row in table.rows for column in table.columns):
        lines.append(comment("rows that share a letter are not significantly different"))
    lines += [comment(note) for note in table.notes]
    lines += _reasons(table)
    lines += [comment(signature) for signature in _signatures(table)]
    return "\n".join(lines) + "\n"


def _group_rows(columns: tuple[Column, ...]) -> list[str]:
    """Names of groups over their columns, each with a rule beneath."""
    if not any(column.group for column in columns):
        return []
    heads, rules, place = [], [], 1
    for group, members in groupby(columns, lambda column: column.group):
        width = len(list(members))
        heads.append(
            rf"\multicolumn{{{width}}}{{c}}{{{escaped(group)}}}"
            if group
            else " & ".join([""] * width)
        )
        if group:
            rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        place += width
    return [row_of(heads), " ".join(rules)]


def _written(row: Row, column: Column, names_the_row: bool) -> str:
    cell = row.cell(column.key)
    if cell.value is None:
        return "--"
    if isinstance(cell.value, str):
        text = escaped(cell.value)
    elif column.kind == "p":
        text = escaped(written_p_number(cell.value))
    else:
        text = _number(cell.value, column.decimals)
    if names_the_row and row.badges:
        text = f"{text} ({escaped(', '.join(row.badges))})"
    if column.kind == "rank" and cell.ci:
        text = f"{text} ({_number(cell.ci[0], 0)} to {_number(cell.ci[1], 0)})"
    if cell.best:
        text = rf"\textbf{{{text}}}"
    marks = "".join([cell.letters, *([r"\dagger"] * _is_weak(cell))])
    return f"{text}$^{{{marks}}}$" if marks else text


def _interval(cell: Cell, column: Column) -> str:
    if cell.ci is None or column.kind == "rank":
        return ""
    low, high = (_number(end, column.decimals) for end in cell.ci)
    scope = f" {escaped(cell.generalises_to)}" if cell.generalises_to else ""
    return rf"{{\scriptsize [{low}, {high}]{scope}}}"


def _number(value: float, decimals: int) -> str:
    return escaped(written(value, decimals))


def _is_weak(cell: Cell) -> bool:
    return cell.p is not None and cell.p >= NOT_SIGNIFICANT


def _reasons(table: Table) -> list[str]:
    found = dict.fromkeys(
        f"{_name(row, table)}, {' '.join(filter(None, (column.group, column.label)))}: "
        f"{row.cell(column.key).reason}"
        for row in table.rows
        for column in table.columns
        if not row.cell(column.key).is_defined
    )
    no_p = dict.fromkeys(
        f"no p: {row.cell(column.key).p_reason}"
        for row in table.rows
        for column in table.columns
        if row.cell(column.key).p_reason
    )
    return [comment(reason) for reason in (*found, *no_p)]


def _name(row: Row, table: Table) -> str:
    return str(row.cell(table.columns[0].key).value or row.id)


def _signatures(table: Table) -> Iterator[str]:
    yield from dict.fromkeys(
        signature
        for signature in (table.signature, *(row.signature for row in table.rows))
        if signature
    )
