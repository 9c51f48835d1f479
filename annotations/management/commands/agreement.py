from __future__ import annotations

from argparse import SUPPRESS
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import (
    MAX_DRAWS,
    ConsoleCommand,
    add_choice_arguments,
    add_corpus_argument,
    add_format_argument,
    figure_with_interval,
    parse_integer,
)
from annotations.corpora.queries import NotFound, resolve_aspects, select_systems, version_of
from annotations.corpora.rating_queries import agreement_of

RESAMPLES = 1000
"""Any number but 0 asks for intervals."""
FORMER = ("resamples", "seed")


class Command(ConsoleCommand):
    help = (
        "How far the raters agree: Krippendorff's alpha, Cohen's and Fleiss' kappa, ICC, "
        "leave-one-out correlation."
    )
    epilog = """
    Each interval leaves out one dialogue at a time, so nothing is drawn.
    docs/statistics_agreement.md has the formulas and says what is undefined when.

      manage.py agreement --corpus usr --aspect engaging --exclude "Original Ground Truth"
    """

    def add_arguments(self, parser: CommandParser) -> None:
        add_corpus_argument(parser)
        add_choice_arguments(parser)
        add_report_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            version = version_of(options["corpus"])
            aspect = resolve_aspects(version, options["aspect"])
            systems = select_systems(version, options["systems"], options["exclude"])
        except NotFound as refusal:
            raise CommandError(str(refusal)) from None
        report = agreement_of(
            version,
            aspect,
            options["level"] or "turn",
            systems,
            resamples=self.resamples_of(options),
        )
        self.print_report(report, f"{version.corpus.slug} {version.label}", options["format"])

    def resamples_of(self, options: dict[str, Any]) -> int:
        """0: no intervals. Says that the options of bootstrap draws, which agreement has no more,
        do nothing."""
        former = [f"--{name}" for name in FORMER if options[name] is not None]
        if former:
            self.say(
                f"{' and '.join(former)} will go in 0.4: nothing is drawn, as one dialogue is "
                "left out at a time. Without intervals: --no-intervals"
            )
        return 0 if options["no_intervals"] or options["resamples"] == 0 else RESAMPLES

    def print_report(self, report: dict[str, Any], source: str, form: str) -> None:
        if form == "json":
            self.print_json(report)
        else:
            self.print_table(["coefficient", "variant", "value"], _rows(report))
        self.say(
            f"{source}: {report['ratings']} ratings of {report['aspect']} by {report['raters']} "
            f"raters on {report['items']} items; "
            + (
                "95 % intervals: one dialogue left out at a time"
                if report["resamples"]
                else "no intervals"
            )
        )


def add_report_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--level",
        choices=["turn", "dialogue"],
        help="ratings of single responses, or of a system in a whole dialogue (default: turn; a "
        "campaign has one level)",
    )
    parser.add_argument(
        "--no-intervals", action="store_true", help="the coefficients alone, which is quicker"
    )
    parser.add_argument("--resamples", type=parse_integer(0, MAX_DRAWS), help=SUPPRESS)
    parser.add_argument("--seed", type=parse_integer(0), help=SUPPRESS)
    add_format_argument(parser)


def _rows(report: dict[str, Any]) -> list[list[str]]:
    rows = [
        ["Krippendorff alpha", kind, _cell(value)]
        for kind, value in report["krippendorff_alpha"].items()
    ]
    rows += [
        ["Cohen kappa, mean of pairs", kind, _cell(value)]
        for kind, value in report["cohen_kappa"].items()
    ]
    rows.append(["Fleiss kappa", "", _cell(report["fleiss_kappa"])])
    rows += [["ICC", kind, _cell(value)] for kind, value in report["icc"].items()]
    rows += [
        ["leave-one-out", kind, _cell(value)] for kind, value in report["leave_one_out"].items()
    ]
    return rows


def _cell(estimate: dict[str, Any]) -> str:
    """Undefined values say why; the table has room for it."""
    if "mean" in estimate:
        mean = estimate["mean"]
        estimate = mean if isinstance(mean, dict) else {**estimate, "value": mean}
    if estimate.get("value") is None:
        return f"– ({estimate.get('reason', 'undefined')})"
    return figure_with_interval(estimate)
