"""DEnsity's tables with ours beside, as text, CSV and LaTeX: what ``trained`` has not. No Django
here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from common.tables.latex_text import comment, escaped, row_of
from common.tables.numerals import Dash
from leaderboard.reproduction.output import trained
from leaderboard.reproduction.output.trained import NOT_RECORDED, TextTable, recorded

to_csv = trained.to_csv
text_head = trained.text_head
text_notes = trained.text_notes


def text_tables(document: Mapping[str, Any]) -> Iterator[TextTable]:
    yield from trained.text_tables(document)
    yield _selection(document)
    if document["models"]:
        yield _models(document)


def _selection(document: Mapping[str, Any]) -> TextTable:
    header = ["R@1 MRR", "DailyDialog, of 16", "ConvAI2, of 20", "here", "of", "R@1", "MRR"]
    rows = []
    for row in document["selection"]:
        theirs = [
            f"{percent(one['R@1'])} {percent(one['MRR'])}" for one in row["published"].values()
        ]
        rows.append([row["loss"], *theirs, "", "", "", ""])
        for ours in row["ours"]:
            figures = [_spread(ours[name]) for name in ("R@1", "MRR")]
            rows.append(["", "", "", _names(ours), str(ours["candidates"]), *figures])
    return "Table 5: finding the answer among candidates, percent", header, rows


def _names(ours: Mapping[str, Any]) -> str:
    models = ours["models"]
    return (
        f"{len(models)} seeds: {ours['of']}" if len(models) > 1 else f"{models[0]} ({ours['of']})"
    )


def _spread(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return Dash(figure.get("reason", NOT_RECORDED))
    if figure["seeds"] == 1:
        return percent(figure["value"])
    return (
        f"{percent(figure['value'])} ({percent(figure['lowest'])} to {percent(figure['highest'])})"
    )


def percent(share: float | None) -> str:
    return Dash(NOT_RECORDED) if share is None else f"{100 * share:.1f}"


def _models(document: Mapping[str, Any]) -> TextTable:
    header = ["model", "L_CL", "seed", "encoder", "dialogues", "pairs", "steps", "rank", "R@1"]
    rows = []
    for model in document["models"]:
        settings, fit = model["settings"], model["fit"]
        rows.append(
            [
                model["name"] + ("" if model["state"] == "here" else f" ({model['state']})"),
                recorded(settings.get("contrastive")),
                _count(model["seed"]),
                recorded(settings.get("encoder")),
                _count(model["dialogues"]),
                _count(model["pairs"]),
                _count(model["steps"]),
                f"{fit['rank']}/{fit['dimensions']}" if fit else Dash(NOT_RECORDED),
                percent(model["figures"].get("R@1")),
            ]
        )
    return "Models trained here", header, rows


def _count(value: int | None) -> str:
    return Dash(NOT_RECORDED) if value is None else f"{value:,}"


def to_latex(document: Mapping[str, Any]) -> str:
    lines = [
        trained.to_latex(document),
        comment("Table 5, percent"),
        r"\begin{tabular}{llrr}",
        r"\toprule",
        r"Loss & Source & R@1 & MRR \\",
        r"\midrule",
    ]
    for row in document["selection"]:
        for corpus, figures in row["published"].items():
            cells = [
                row["loss"],
                f"published, {corpus}",
                percent(figures["R@1"]),
                percent(figures["MRR"]),
            ]
            lines.append(row_of([escaped(cell) for cell in cells]))
        for ours in row["ours"]:
            cells = [row["loss"], _names(ours), _spread(ours["R@1"]), _spread(ours["MRR"])]
            lines.append(row_of([escaped(cell) for cell in cells]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])
