from __future__ import annotations

from textwrap import fill
from typing import Any

from django.core.management.base import CommandParser

from annotations.console import (
    ConsoleCommand,
    add_format_argument,
)
from workers.metrics.base import Metric
from workers.metrics.common.configuration import Configuration, written_value
from workers.metrics.common.not_available import NOT_AVAILABLE
from workers.metrics.registry import all_metrics

WIDTH = 100


class Command(ConsoleCommand):
    help = (
        "List the metrics: what each needs, at which levels it exists, its options, and whether "
        "it can run here."
    )
    epilog = """
    Whether a metric can run is said of its default configuration: bleurt, unieval and usr_mlm need
    a checkpoint that you name, density, cmn and their kin a model that was trained here. Models are
    looked for, not loaded. After the table come published metrics that are not available, with the
    reason. In the JSON range is the lowest and highest score, null where there is no limit; reason
    is there only where available is false.
    """

    reads_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        add_format_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        metrics = list(all_metrics().values())
        if options["format"] == "json":
            self.print_json([_document(metric) for metric in metrics])
        else:
            self.print_table(
                ["metric", "version", "levels", "needs", "queue", "better", "available", "options"],
                [_row(metric) for metric in metrics],
            )
            self.stdout.write("\nNot available as released, and why:")
            for one in NOT_AVAILABLE:
                self.stdout.write(
                    fill(f"{one.name} ({one.url}): {one.why}.", WIDTH, subsequent_indent="  ")
                )
        available = sum(not why_missing(metric) for metric in metrics)
        self.say(f"{len(metrics)} metrics, {available} of them can run on this machine")


def why_missing(metric: Metric) -> str:
    return Configuration.of(metric).missing()


def _ordered(levels: frozenset[str]) -> list[str]:
    return [level for level in ("turn", "dialogue", "system") if level in levels]


def _document(metric: Metric) -> dict[str, Any]:
    reason = why_missing(metric)
    return {
        "name": metric.name,
        "version": metric.version,
        "summary": metric.summary,
        "citation": metric.citation,
        "higher_is_better": metric.higher_is_better,
        "levels": _ordered(metric.levels),
        "needs": sorted(metric.needs),
        "queue": metric.queue,
        "range": list(metric.value_range),
        "options": [
            {
                "name": option.name,
                "default": option.default,
                "choices": list(option.choices),
                "help": option.help,
            }
            for option in metric.options
        ],
        "available": not reason,
        **({"reason": reason} if reason else {}),
    }


def _row(metric: Metric) -> list[str]:
    return [
        metric.name,
        metric.version,
        " ".join(_ordered(metric.levels)),
        " ".join(sorted(metric.needs)) or "nothing",
        metric.queue,
        "higher" if metric.higher_is_better else "lower",
        why_missing(metric) or "yes",
        " ".join(f"{option.name}={written_value(option.default)}" for option in metric.options),
    ]
