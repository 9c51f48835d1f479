from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import (
    ConsoleCommand,
    add_format_argument,
    add_ratings_arguments,
    figure_with_interval,
)
from annotations.corpora.queries import NotFound, resolve_aspects, version_of
from annotations.corpora.slices import resolve_slice
from common.tables.csv_text import csv_line
from leaderboard.answers.metrics import CorrelationRow, MetricCorrelations
from leaderboard.board_text import design_text
from leaderboard.estimate_cells import LEFT_OUT, format_share, is_partial
from leaderboard.queries import CORRELATION_LEVELS, meta_evaluation, named_metrics
from leaderboard.reproduction.output.estimate_columns import estimate_columns, estimate_values
from leaderboard.reproduction.output.latex import correlations_to_latex
from leaderboard.reproduction.output.variants import (
    CSV_COLUMNS,
    accuracy_rows,
    csv_values,
    undefined_accuracies,
    undefined_variants,
    variant_rows,
)
from leaderboard.results import json_form
from leaderboard.statistics.correlation.resampling import METHODS, UNITS
from leaderboard.system_sets import add_system_choice, left_out_line, systems_of
from workers.metrics.common.configuration import ConfigurationError

COEFFICIENTS = ("pearson", "spearman", "kendall")
PEOPLE = {
    "correlation_ceiling": "ceiling (√reliability)",
    "leave_one_out_agreement": "leave-one-out agreement",
    "reliability": "reliability (Spearman–Brown)",
}


class Command(ConsoleCommand):
    help = (
        "How far each computed metric agrees with people: Pearson's r, Spearman's rho, Kendall's "
        "tau-b at turn, dialogue and system level, with intervals over dialogues, beside the "
        "highest that a perfect metric could reach."
    )
    epilog = """
    A row is a metric at a level. n is the number of pairs, coverage the share of the rated
    responses that have a score (null where nothing is rated): empty in the table where it is all, a
    double dagger in LaTeX where it is less. generalises_to says what a row's intervals speak of:
    these systems or new ones; with fewer than six new ones there is no p. ci_remark comes with
    Pearson's r where heavy tails make its interval too narrow, a * in the table. note tells an
    interval made in another way, or runs made unlike each other; worth, of judges, what they are
    known to be worth. submitted_by, in csv, says who sent scores. per_dialogue, per_system and
    per_input average over so many groups, and are defined within so many. correlation_ceiling,
    reliability and leave_one_out_agreement have bare numbers with their intervals (ci), or why
    there are none (ci_reason), next to them; human_ceiling and split_half are the old names of the
    last and the second, until 0.4.0. latex sets the intervals beneath the values and ends with the
    signatures as comments. docs/statistics_correlation.md says how everything is computed.

      manage.py correlate --corpus demo
      manage.py correlate --corpus demo --level system --exclude gold --metrics word_f1,bleu_4
    """

    def add_arguments(self, parser: CommandParser) -> None:
        add_ratings_arguments(parser)
        add_system_choice(parser)
        parser.add_argument(
            "--level",
            choices=[*CORRELATION_LEVELS, "all"],
            default="all",
            help="of what is rated and scored",
        )
        parser.add_argument(
            "--slice",
            metavar="KEY:VALUE",
            default="",
            help="of the conversations whose metadata, or a label of theirs, has this value alone, "
            "such as language:de",
        )
        parser.add_argument(
            "--metrics",
            metavar="a,b",
            default="",
            help="configurations (default: all that are computed, or submitted as scores)",
        )
        parser.add_argument(
            "--redraw",
            choices=UNITS,
            default="dialogues",
            help="what the intervals speak of: other dialogues, other systems, or both",
        )
        parser.add_argument(
            "--interval",
            choices=METHODS,
            default=None,
            help="jackknife (default): Student's t from leaving one out, which covers 95 %%; "
            "percentile: of bootstrap draws, as many papers have it, and the only one for "
            "--redraw both",
        )
        parser.add_argument(
            "--variants",
            action="store_true",
            help="averages within dialogues, inputs and systems, accuracies, split halves and "
            "coefficients corrected for the unreliability of the human scores, as rows of the "
            "table; json and csv hold them always",
        )
        add_format_argument(parser, "csv", "latex")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["redraw"] == "both" and options["interval"] == "jackknife":
            raise CommandError(
                "--redraw both draws dialogues and systems: --interval percentile is the one for it"
            )
        try:
            version = version_of(options["corpus"])
            systems, choice = systems_of(version, options)
            document = meta_evaluation(
                version,
                resolve_aspects(version, options["aspect"]),
                CORRELATION_LEVELS if options["level"] == "all" else [options["level"]],
                named_metrics(version, options["metrics"]) or None,
                systems,
                resamples=options["resamples"],
                seed=options["seed"],
                redraw=options["redraw"],
                interval=options["interval"],
                systems_chosen=choice,
                data_slice=resolve_slice(version, options["slice"]),
            )
        except (NotFound, ConfigurationError) as refusal:
            raise CommandError(str(refusal)) from None
        self._print(document, options["format"], with_variants=options["variants"])
        metrics = len({row.metric for row in document.rows})
        self.say(
            f"{document.corpus} {document.corpus_version}, {document.aspect}: {metrics} "
            f"metrics, {len(document.systems)} systems, {options['resamples']} draws, seed "
            f"{options['seed']}"
        )
        if line := left_out_line(version, choice):
            self.say(line)
        for line in _to_know(document):
            self.say(line)
        if design := design_text(document.design):
            self.say(design)
        if not metrics:
            self.say(
                "No metric is computed, or nobody has rated. Compute metrics with: manage.py score"
            )

    def _print(self, document: MetricCorrelations, form: str, *, with_variants: bool) -> None:
        if form == "json":
            self.print_json(json_form(document))
        elif not self.print_as(form, document, _csv, correlations_to_latex):
            header = ["metric", "level", "n", "coverage", *COEFFICIENTS, "generalises to"]
            people = dict(list(PEOPLE.items())[: None if with_variants else 2])
            rows = [
                *_rows(document.rows),
                *_rows(document.baseline),
                *_people_rows(document, people),
            ]
            undefined = _undefined(document) + _undefined_of_people(document, people)
            if with_variants:
                rows += variant_rows(document)
                undefined += undefined_variants(document)
            self.print_table(
                header, [[*row, *[""] * (len(header) - len(row))] for row in rows], undefined
            )
            self._print_remarks(document)
            if with_variants:
                accuracies = accuracy_rows(document)
                self.print_table(
                    ["metric", "level", "accuracy", "value"],
                    accuracies,
                    undefined_accuracies(document),
                )

    def _print_remarks(self, document: MetricCorrelations) -> None:
        """What the table's marks and its last column mean."""
        of_remark: dict[str, list[str]] = {}
        for row in document.rows:
            if remark := row.pearson.ci_remark:
                of_remark.setdefault(remark, []).append(f"{_marked(row)} ({row.level})")
        for remark, rows in of_remark.items():
            self.stdout.write(f"* {', '.join(rows)}: {remark}")
        if any(row.generalises_to for row in document.rows):
            self.stdout.write(f"System level: {document.interval['system']}.")


def _undefined(document: MetricCorrelations) -> list[tuple[str, str]]:
    """(what, why) of each coefficient without a value."""
    return [
        (f"{_marked(row)} ({row.level})", row.of(name).reason)
        for row in (*document.rows, *document.baseline)
        for name in COEFFICIENTS
        if not row.of(name).is_defined
    ]


def _undefined_of_people(
    document: MetricCorrelations, people: dict[str, str]
) -> list[tuple[str, str]]:
    return [
        (f"{label} ({level})", values.of(name).reason)
        for key, label in people.items()
        for level, values in getattr(document, key).items()
        for name in COEFFICIENTS
        if not values.of(name).is_defined
    ]


def _rows(rows: Iterable[CorrelationRow]) -> list[list[str]]:
    return [
        [
            _marked(row),
            row.level,
            str(row.n),
            _coverage(row),
            *(
                figure_with_interval(row.of(name).as_json())
                + (" *" if row.of(name).ci_remark else "")
                for name in COEFFICIENTS
            ),
            row.generalises_to,
        ]
        for row in rows
    ]


def _to_know(document: MetricCorrelations) -> list[str]:
    """What is left out of the table's figures, what the judges in it are worth, and which metrics
    read little of the texts, each once."""
    partial = [
        f"{row.metric} at {row.level} level" for row in document.rows if is_partial(row.coverage)
    ]
    worth: dict[str, list[str]] = {}
    for row in document.rows:
        for words in filter(None, (row.worth, row.warning)):
            if row.metric not in worth.setdefault(words, []):
                worth[words].append(row.metric)
    lines = (
        [f"Not all that people rated has a score: {', '.join(partial)}. {LEFT_OUT}"]
        if partial
        else []
    )
    return lines + [f"{', '.join(metrics)}: {words}." for words, metrics in worth.items()]


def _marked(row: CorrelationRow) -> str:
    return f"{row.metric} (by {row.submitted.by})" if row.submitted else row.metric


def _coverage(row: CorrelationRow) -> str:
    """Quiet where all has a score."""
    share = row.coverage
    return "" if share is None or share >= 1 else format_share(share)


def _people_rows(document: MetricCorrelations, people: dict[str, str]) -> list[list[str]]:
    return [
        [
            label,
            level,
            "",
            "",
            *(figure_with_interval(values.of(name).as_json()) for name in COEFFICIENTS),
        ]
        for key, label in people.items()
        for level, values in getattr(document, key).items()
    ]


def _csv(document: MetricCorrelations) -> str:
    heading = ["metric", "level", "n", "coverage", *estimate_columns(COEFFICIENTS), "signature"]
    heading += ["submitted_by", *CSV_COLUMNS, "generalises_to", "pearson_remark"]
    lines = [csv_line(heading, "\n")]
    for row in document.rows:
        cells: list[Any] = [row.metric, row.level, row.n, row.coverage]
        for name in COEFFICIENTS:
            cells += estimate_values(name, row.of(name).as_json()).values()
        submitted_by = row.submitted.by if row.submitted else ""
        to_know = [row.generalises_to, row.pearson.ci_remark]
        lines.append(
            csv_line([*cells, row.signature, submitted_by, *csv_values(row), *to_know], "\n")
        )
    return "".join(lines)
