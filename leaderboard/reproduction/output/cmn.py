"""CMN's tables with ours beside, as text, CSV and LaTeX: what ``trained`` has not. No Django
here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from common.tables.numerals import Dash
from leaderboard.reproduction.output import trained
from leaderboard.reproduction.output.trained import NOT_RECORDED, TextTable, recorded, short

to_csv = trained.to_csv
text_head = trained.text_head
text_notes = trained.text_notes
to_latex = trained.to_latex
_FIGURES = ("NSP accuracy", "R@1", "KL", "bound")


def text_tables(document: Mapping[str, Any]) -> Iterator[TextTable]:
    yield from trained.text_tables(document)
    if drawn := list(_drawn(document)):
        header = [
            "Monte-Carlo error",
            "corpus",
            "of a score",
            "scores' spread",
            "share of the variance",
        ]
        yield "How much of the scores is drawing", header, drawn
    if document["models"]:
        yield _models(document)


def _drawn(document: Mapping[str, Any]) -> Iterator[list[str]]:
    for table in document["tables"]:
        for row in table["rows"]:
            for one in (one for group in row["ours"] for one in group["scored"]):
                if drawn := one.get("monte_carlo"):
                    share = (
                        f"{drawn['share']:.1%}".replace("%", " %")
                        if drawn["share"]
                        else Dash(drawn["reason"])
                    )
                    figures = [f"{drawn['error']:.3f}", f"{drawn['spread']:.3f}", share]
                    yield [one["configuration"], table["corpus"], *figures]


def _models(document: Mapping[str, Any]) -> TextTable:
    header = ["model", "NSP", "seed", "encoder", "dialogues", "pairs", "steps", *_FIGURES]
    rows = []
    for model in document["models"]:
        settings, figures = model["settings"], model["figures"]
        rows.append(
            [
                model["name"] + ("" if model["state"] == "here" else f" ({model['state']})"),
                recorded({True: "yes", False: "no"}.get(settings.get("next_sentence", True))),
                recorded(model["seed"]),
                recorded(settings.get("encoder")),
                *(
                    Dash(NOT_RECORDED) if model[name] is None else f"{model[name]:,}"
                    for name in ("dialogues", "pairs", "steps")
                ),
                *(
                    short(figures[name]) if name in figures else Dash(NOT_RECORDED)
                    for name in _FIGURES
                ),
            ]
        )
    return "Models trained here", header, rows
