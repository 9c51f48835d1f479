"""All metrics there are: the built-in ones, and those that installed packages add. Listing them
loads nothing heavy.

A package adds metrics through the entry-point group ``dialeval.metrics``; an entry point loads to a
``Metric`` or a list of them. A plug-in that fails, declares what cannot be, or wants a name that is
taken, is left out and reported, and stops nothing.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from workers.metrics.base import Metric

ENTRY_POINT_GROUP = "dialeval.metrics"

BUILT_IN_MODULES = (
    "workers.metrics.word_f1",
    "workers.metrics.word_precision",
    "workers.metrics.word_recall",
    "workers.metrics.bleu",
    "workers.metrics.rouge",
    "workers.metrics.meteor",
    "workers.metrics.chrf",
    "workers.metrics.corpus_bleu",
    "workers.metrics.bertscore",
    "workers.metrics.embedding_average",
    "workers.metrics.vector_extrema",
    "workers.metrics.greedy_matching",
    "workers.metrics.simcse",
    "workers.metrics.context_similarity",
    "workers.metrics.persona_overlap",
    "workers.metrics.distinct",
    "workers.metrics.self_repetition",
    "workers.metrics.response_length",
    "workers.metrics.fbd",
    "workers.metrics.prd",
    "workers.metrics.gpt2_coherency",
    "workers.metrics.pmi",
    "workers.metrics.fed",
    "workers.metrics.bleurt",
    "workers.metrics.unieval",
    "workers.metrics.usr_mlm",
    "workers.metrics.persona_nli",
    "workers.metrics.density",
    "workers.metrics.density_euclidean",
    "workers.metrics.density_classifier",
    "workers.metrics.cmn",
    "workers.metrics.cmn_no_nsp",
    "workers.metrics.cmn_no_mi",
    "workers.metrics.bert_ruber",
    "workers.metrics.usr_retrieval",
    "workers.metrics.maude_style",
    "workers.metrics.cpdscore",
    "workers.metrics.cpdscore_dialogue",
    "workers.metrics.judge",
)
"""In the order of the lists that people see. A module declares ``METRIC`` or ``METRICS`` and
imports nothing heavy."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Catalogue:
    """Metrics by name, and what is wrong with the plug-ins that were left out."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """One line for each plug-in, or metric of one, that was left out, with the reason."""


def all_metrics() -> dict[str, Metric]:
    """All metrics that are available, by name.

    Returns:
        A new dictionary: the built-in metrics in their order, then those of plug-ins in the order
        of their entry points.
    """
    return dict(_catalogue().metrics)


def problems() -> tuple[str, ...]:
    """What is wrong with the installed plug-ins.

    Returns:
        One line for each plug-in, or metric of one, that was left out, with the reason.
    """
    return _catalogue().problems


def reload() -> None:
    """Forget the metrics found so far: the next call looks again at what is installed."""
    _catalogue.cache_clear()


@cache
def _catalogue() -> Catalogue:
    catalogue = assemble(
        built_in_metrics(), sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda e: e.name)
    )
    for problem in catalogue.problems:
        logger.warning("%s", problem)
    return catalogue


def built_in_metrics() -> list[Metric]:
    """Import the built-in modules and list what they declare.

    Returns:
        The metrics in the order of ``BUILT_IN_MODULES``.
    """
    metrics: list[Metric] = []
    for module_name in BUILT_IN_MODULES:
        module = importlib.import_module(module_name)
        metrics.extend([module.METRIC] if hasattr(module, "METRIC") else module.METRICS)
    return metrics


def assemble(built_in: Iterable[Metric], plug_ins: Iterable[EntryPoint]) -> Catalogue:
    """Combine the built-in metrics with those of plug-ins, leaving out what cannot be used.

    Args:
        built_in: metrics that are taken unchecked, and whose names come first.
        plug_ins: entry points that load to a ``Metric`` or an iterable of them.

    Returns:
        The built-in metrics and, of the plug-ins, all that load, pass ``declarations.check`` and
        have a name of their own; and one line for everything that was left out. A plug-in that
        fails raises nothing.
    """
    metrics = {metric.name: metric for metric in built_in}
    found_wrong: list[str] = []
    for entry_point in plug_ins:
        plug_in = f'plug-in "{entry_point.name}" ({entry_point.value})'
        try:
            declared = _declared_by(entry_point)
        # A plug-in is somebody else's code: whatever it raises is its own affair
        except Exception as problem:
            found_wrong.append(f"{plug_in} is left out: {type(problem).__name__}: {problem}")
            continue
        for metric in declared:
            if metric.name in metrics:
                found_wrong.append(
                    f'{plug_in}: its metric "{metric.name}" is left out: the name is taken'
                )
            else:
                metrics[metric.name] = metric
    return Catalogue(metrics, tuple(found_wrong))


def _declared_by(entry_point: EntryPoint) -> list[Metric]:
    # Which makes configurations, and they look metrics up here
    from workers.metrics.common import declarations

    loaded = entry_point.load()
    declared = [loaded] if isinstance(loaded, Metric) else list(loaded)
    for metric in declared:
        declarations.check(metric)
    return declared
