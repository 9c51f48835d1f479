from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import (
    ConsoleCommand,
    add_format_argument,
    comma_list,
    figure,
)
from annotations.corpora.queries import NotFound, version_of
from common.tables.csv_text import csv_line
from common.tables.latex_text import comment, escaped, row_of
from common.tables.numerals import Dash
from leaderboard.reproduction.normality import ENCODERS, PEOPLE, normality_table
from workers.inference.model_files import ModelError
from workers.metrics.common.configuration import ConfigurationError, MetricUnavailableError

MEANS = ("w", "p")
COLUMNS = (
    "points",
    "dimensions",
    "constant_dimensions",
    "w_mean",
    "w_sd",
    "p_mean",
    "p_sd",
    "share_normal",
)


class Command(ConsoleCommand):
    help = (
        "How normal the points are that FBD takes as Gaussian: the test of Shapiro and Wilk in "
        "each dimension of the pairs of context and response, averaged over dimensions, beside "
        "the FBD paper's figures (Xiang et al., 2021)."
    )
    epilog = """
    It encodes what is not known yet, in this process. The paper prints one figure with its
    deviation and does not say whether it is W or p, so both are shown. published is filled for
    corpora with the paper's names, on people's side. Where there are no figures, a row has reason.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--corpus",
            required=True,
            type=comma_list,
            metavar="a,b",
            help="corpora, by their slugs, each in its newest version",
        )
        parser.add_argument(
            "--model",
            default="",
            metavar="M",
            help="an encoder: a folder or a hub id (default: fbd's)",
        )
        parser.add_argument(
            "--layer", type=int, metavar="L", help="1 is the first, -1 the last (default: fbd's)"
        )
        parser.add_argument(
            "--side",
            default=PEOPLE,
            metavar="human|SYSTEM",
            help="whose responses: human are the references; or a system's name, which every "
            "corpus "
            "must have",
        )
        add_format_argument(parser, "csv", "latex")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            versions = [version_of(slug) for slug in dict.fromkeys(options["corpus"])]
            document = normality_table(
                versions, options["model"], options["layer"], options["side"]
            )
        except (NotFound, ConfigurationError, MetricUnavailableError, ModelError) as refusal:
            raise CommandError(str(refusal)) from None
        self._print(document, options["format"])
        for row in document["rows"]:
            if "reason" in row:
                self.say(f"{row['corpus']}: no figures: {row['reason']}")
        side = "people" if document["side"] == PEOPLE else document["side"]
        corpora = "1 corpus" if len(versions) == 1 else f"{len(versions)} corpora"
        self.say(f"{corpora}, responses of {side}, {document['model']}, {document['device']}")

    def _print(self, document: dict[str, Any], form: str) -> None:
        if not self.print_as(form, document, _csv, _latex):
            encoders = [f"paper, {encoder}" for encoder in ENCODERS]
            self.print_table(
                ["corpus", "n", "dimensions", "W", "p", f"p ≥ {document['level']}", *encoders],
                [_cells(row, "±", "–") for row in document["rows"]],
            )
            for note in document["notes"]:
                self.stdout.write(note)


def _cells(row: dict[str, Any], between: str, nothing: str) -> list[str]:
    share = figure(row["share_normal"], 2)
    why, not_published = row.get("reason", "undefined"), "the paper has no such corpus"
    return [
        row["corpus"],
        str(row["points"]),
        str(row["dimensions"]),
        *(
            _with_deviation(row[f"{name}_mean"], row[f"{name}_sd"], between, Dash(why, nothing))
            for name in MEANS
        ),
        Dash(why, nothing) if row["share_normal"] is None else share,
        *(
            _with_deviation(
                *(row["published"].get(encoder, {}).get(key) for key in ("mean", "sd")),
                between,
                Dash(not_published, nothing),
            )
            for encoder in ENCODERS
        ),
    ]


def _with_deviation(mean: float | None, deviation: float | None, between: str, nothing: str) -> str:
    return nothing if mean is None else f"{mean:.2f} {between} {deviation:.2f}"


def _csv(document: dict[str, Any]) -> str:
    published = [f"published_{encoder}_{key}" for encoder in ENCODERS for key in ("mean", "sd")]
    heading = ["corpus", "corpus_version", "side", "model", "layer", *COLUMNS, "reason", *published]
    lines = [csv_line(heading, "\n")]
    for row in document["rows"]:
        cells = [row["corpus"], row["corpus_version"]]
        cells += [document["side"], document["model"], document["layer"]]
        cells += [*(row[name] for name in COLUMNS), row.get("reason", "")]
        for encoder in ENCODERS:
            cells += [row["published"].get(encoder, {}).get(key) for key in ("mean", "sd")]
        lines.append(csv_line(cells, "\n"))
    return "".join(lines)


def _latex(document: dict[str, Any]) -> str:
    head = [
        "Corpus",
        "$n$",
        "$d$",
        "$W$",
        "$p$",
        rf"$p \geq {document['level']}$",
        *map(escaped, ENCODERS),
    ]
    rows = [
        _cells({**row, "corpus": escaped(row["corpus"])}, r"$\pm$", "--")
        for row in document["rows"]
    ]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{tabular}{l" + "r" * (len(head) - 1) + "}",
            r"\toprule",
            row_of(head),
            r"\midrule",
            *map(row_of, rows),
            r"\bottomrule",
            r"\end{tabular}",
            comment(
                "Shapiro-Wilk in each dimension, mean and standard deviation over dimensions; "
                f"responses of {document['side']}; {document['model']}, layer {document['layer']}"
            ),
            comment(f"last columns: {document['published']}"),
        ]
    )
