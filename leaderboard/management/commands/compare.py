from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import (
    MAX_DRAWS,
    ConsoleCommand,
    add_choice_arguments,
    add_corpus_argument,
    add_format_argument,
    figure,
    parse_integer,
)
from annotations.corpora.queries import NotFound, resolve_aspects, version_of
from leaderboard.board_text import design_text
from leaderboard.pages.metric_pair.tables import why_not_tested
from leaderboard.queries import CORRELATION_LEVELS, named_metrics
from leaderboard.queries.pair_tests import COEFFICIENTS, pair_tests
from leaderboard.system_sets import add_system_choice, left_out_line, systems_of
from workers.metrics.common.configuration import ConfigurationError

TESTS = ("perm-sys", "perm-input", "perm-both", "jackknife-dialogues", "jackknife-both", "williams")


class Command(ConsoleCommand):
    help = (
        "Whether two metrics agree with people differently: the difference of their correlations "
        "at turn, dialogue and system level, and its p by every test: permutations of systems, of "
        "dialogues and of both, the jackknife over dialogues and over both, Williams' test. The "
        "test that keeps its level is marked."
    )
    epilog = """
    Both metrics are held to what both scored, so correlations may differ a little from correlate's;
    metrics whose low scores are good are turned round. Of each row of the JSON, tests holds
    estimates whose value is p, or which say why there is none: perm-sys, perm-input, perm-both; for
    Pearson's r also jackknife-dialogues and jackknife-both, at system level williams. advised names
    the marked one, method and population say how it works and what it speaks of.
    docs/statistics_significance.md says which test keeps its level and why.

      manage.py compare --corpus demo --metrics word_f1,bleu_4 --level system --coefficient all
    """

    def add_arguments(self, parser: CommandParser) -> None:
        add_corpus_argument(parser)
        add_choice_arguments(parser)
        add_system_choice(parser)
        parser.add_argument("--seed", type=parse_integer(0), default=0, help="of the permutations")
        parser.add_argument("--metrics", metavar="a,b", required=True, help="two configurations")
        parser.add_argument(
            "--level",
            choices=[*CORRELATION_LEVELS, "all"],
            default="all",
            help="at which to compare",
        )
        parser.add_argument(
            "--coefficient",
            choices=[*COEFFICIENTS, "all"],
            default="pearson",
            help="all but pearson take minutes at turn level of a large corpus",
        )
        parser.add_argument(
            "--permutations",
            type=parse_integer(1, MAX_DRAWS),
            default=1000,
            metavar="N",
            help=f"of each permutation test, at most {MAX_DRAWS:,}",
        )
        add_format_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            version = version_of(options["corpus"])
            systems, choice = systems_of(version, options)
            metrics = named_metrics(version, options["metrics"])
            if len(metrics) != 2:
                raise CommandError(f"--metrics: two metrics are compared, {len(metrics)} are named")
            document = pair_tests(
                version,
                resolve_aspects(version, options["aspect"]),
                metrics,
                CORRELATION_LEVELS if options["level"] == "all" else [options["level"]],
                COEFFICIENTS if options["coefficient"] == "all" else [options["coefficient"]],
                systems,
                permutations=options["permutations"],
                seed=options["seed"],
                systems_chosen=choice,
            )
        except (NotFound, ConfigurationError) as refusal:
            raise CommandError(str(refusal)) from None
        if options["format"] == "json":
            self.print_json(document)
        else:
            self._print(document)
        first, second = document["metrics"]
        self.say(
            f"{document['corpus']} {document['corpus_version']}, {document['aspect']}: {first} − "
            f"{second}, {len(document['systems'])} systems, {document['permutations']} "
            f"permutations, seed {document['seed']}"
        )
        if line := left_out_line(version, choice):
            self.say(line)
        if design := design_text(document["design"]):
            self.say(design)
        for line in dict.fromkeys(
            f"* {row['level']} level: {row['method']}; speaks of {row['population']}"
            for row in document["rows"]
            if "advised" in row
        ):
            self.say(line)

    def _print(self, document: dict[str, Any]) -> None:
        header = [
            "level",
            "coefficient",
            "n",
            *document["metrics"],
            "difference",
            *(f"p {name}" for name in TESTS),
        ]
        undefined = [
            (f"{name} ({row['level']}, {row['coefficient']})", row[key]["reason"])
            for row in document["rows"]
            for key, name in zip(("first", "second", "difference"), header[3:6], strict=True)
            if row[key]["value"] is None
        ]
        undefined += [
            (f"p {name} ({row['level']}, {row['coefficient']})", _why_no_p(row, name))
            for row in document["rows"]
            for name in TESTS
            if row["tests"].get(name, {}).get("value") is None
        ]
        self.print_table(header, [_cells(row) for row in document["rows"]], undefined)


def _why_no_p(row: dict[str, Any], test: str) -> str:
    """A row without any test is undefined throughout, for one reason."""
    if not row["tests"]:
        return str(row["difference"]["reason"])
    return str(
        row["tests"].get(test, {}).get("reason")
        or why_not_tested(test, row["level"], row["coefficient"])
    )


def _cells(row: dict[str, Any]) -> list[str]:
    correlations = [figure(row[name]["value"]) for name in ("first", "second", "difference")]
    return [
        row["level"],
        row["coefficient"],
        str(row["n"]),
        *correlations,
        *(_p(row, name) for name in TESTS),
    ]


def _p(row: dict[str, Any], test: str) -> str:
    p = row["tests"].get(test, {}).get("value")
    if p is None:
        return figure(None)
    return f"{p:.2g}*" if row.get("advised") == test else f"{p:.2g}"
