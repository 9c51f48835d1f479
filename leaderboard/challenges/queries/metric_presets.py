"""Sets of metrics that a round may start from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotations.models import CorpusVersion
from leaderboard.challenges.queries.organising import MetricChoice
from workers.metrics.registry import all_metrics
from workers.runs.language_fit import recommended_metrics

CPD_CHALLENGE = ("word_f1", "bleu_4")


@dataclass(frozen=True, slots=True)
class Preset:
    """``metrics``: names, of which the first ranks."""

    key: str
    name: str
    remark: str
    metrics: list[str]


def metric_presets(version: CorpusVersion | None, choices: Iterable[MetricChoice]) -> list[Preset]:
    """Of the metrics that can be computed on this corpus here; a preset without any is left out,
    but for the empty one."""
    metrics = all_metrics()
    offered = [one.text for one in choices if not one.why_not and one.text in metrics]
    without_model = [name for name in offered if metrics[name].queue == "cpu"]
    lexical = [name for name in without_model if "reference" in metrics[name].needs]
    recommended = recommended_metrics(version) if version is not None else []
    presets = [
        Preset(
            "cpd",
            _("CPD challenge"),
            _("word F1 ranks, as in its first round"),
            [name for name in CPD_CHALLENGE if name in offered],
        ),
        Preset(
            "recommended",
            _("Recommended"),
            _("reported most in the corpus’s language"),
            [name for name in recommended if name in offered],
        ),
        Preset(
            "lexical",
            _("Lexical"),
            _("overlap with the references, seconds"),
            _first_ranks(lexical, recommended),
        ),
        Preset(
            "no-model",
            _("No model needed"),
            _("everything that runs on any machine"),
            _first_ranks(without_model, recommended),
        ),
    ]
    empty = Preset("empty", _("Empty"), _("choose one by one"), [])
    return [*(one for one in presets if one.metrics), empty]


def _first_ranks(names: list[str], recommended: Collection[str]) -> list[str]:
    """Those that are recommended first, in their order."""
    known = [name for name in recommended if name in names]
    return [*known, *(name for name in names if name not in known)]
