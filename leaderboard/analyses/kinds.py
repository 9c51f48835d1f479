"""The kinds of statistics that are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from types import MappingProxyType
from typing import Any

from annotations.models import CorpusVersion
from leaderboard.stored_figures import DRAWN_BY

KEPT_UP = timedelta(days=30)
"""What nobody has looked at for longer is made anew when somebody does."""

PAIRS_KEPT_UP = timedelta(hours=1)

Compute = Callable[..., dict[str, Any]]


def of_the_version(version: CorpusVersion, **_parameters: Any) -> str:
    """The data of most statistics: the corpus version's, whose revision counts every write."""
    return str(version.revision)


@dataclass(frozen=True, slots=True)
class Kind:
    """``compute(version, **parameters)`` makes the answer, a JSON document. ``stamp(version, **parameters)`` names the
    state of the data that it is made from: an answer with another stamp is out of date. ``made_by`` names code beside
    that of statistics (``code``), where answers depend on more (drawings). ``kept_up``: for how long after a look
    workers make it anew by themselves when its data change. ``for_files``: the key of the document that only files and
    the API need; pages read the answer without it (``look.whole`` with it). ``of_pairs``: there are as many answers as
    pairs of systems or metrics, thousands of them, so that only some are kept and only some may wait at a time.

    ``compares_metrics``: it is over the systems of a choice, which the question always names (``resolve_choice``), so
    that no two surfaces differ by default.
    """

    name: str
    compute: Compute
    stamp: Callable[..., str] = of_the_version
    made_by: str = ""
    kept_up: timedelta = KEPT_UP
    for_files: str = ""
    of_pairs: bool = False
    compares_metrics: bool = False

    def resolved(self, version: CorpusVersion, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters as they are stored, with the choice of systems that they come to."""
        if not self.compares_metrics:
            return parameters
        resolve = import_module("leaderboard.queries.system_choice").resolve_choice
        return parameters | {"systems": resolve(version, parameters.get("systems"))}


_known: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    _known[kind.name] = kind
    return kind


def all_kinds() -> Mapping[str, Kind]:
    return MappingProxyType(_known)


def kinds_of_pairs() -> list[str]:
    return [kind.name for kind in _known.values() if kind.of_pairs]


def _of(path: str) -> Callable[..., Any]:
    """Imported when it is first called: the pages that only read need none of it."""
    module, _, name = path.partition(":")

    def called(version: CorpusVersion, **parameters: Any) -> Any:
        return getattr(import_module(module), name)(version, **parameters)

    return called


_COMPARE_METRICS = {"correlations", "comparisons", "metric-correlations", "misleading-metrics", "disagreement"}

for _name, _path in {
    "correlations": "leaderboard.queries.metric_leaderboard:metric_leaderboard",
    "comparisons": "leaderboard.queries.comparisons:comparisons",
    "separating": "leaderboard.queries.separating:separating",
    "metric-correlations": "leaderboard.queries.heat_map:metric_correlations",
    "response-map": "leaderboard.queries.response_map:response_map",
    "systems": "leaderboard.queries.system_leaderboard:system_leaderboard",
    "misleading-metrics": "leaderboard.queries.system_leaderboard:misleading_metrics",
    "system-profile": "leaderboard.queries.system_profile:system_profile",
    "score-spread": "leaderboard.queries.score_spread:score_spread",
    "disagreement": "leaderboard.queries.disagreement:disagreement",
    "judged": "leaderboard.queries.judge_items:judged",
    "rater-effects": "leaderboard.queries.rater_effects:rater_effects",
    "prediction-powered": "leaderboard.queries.prediction_powered:prediction_powered",
    "judge-hygiene": "leaderboard.queries.judge_hygiene:judge_hygiene",
}.items():
    register(Kind(_name, _of(_path), compares_metrics=_name in _COMPARE_METRICS))

register(Kind("agreement", _of("leaderboard.queries.standing:agreement"), for_files="all_pairs"))
register(
    Kind(
        "campaign-agreement",
        _of("leaderboard.queries.campaigns:stored_agreement"),
        _of("leaderboard.queries.campaigns:agreement_stamp"),
        kept_up=timedelta(hours=1),
    )
)
for _name, _path, _drawn_by, _for_files in (
    ("metric-pair", "leaderboard.queries.metric_pair:metric_pair", "", ""),
    ("metric-pair-scatter", "leaderboard.metric_pairs.plots:pair_scatter_documents", DRAWN_BY, "points"),
    ("system-pair", "leaderboard.queries.system_pair:system_pair", "", ""),
):
    register(
        Kind(
            _name,
            _of(_path),
            made_by=_drawn_by,
            kept_up=PAIRS_KEPT_UP,
            for_files=_for_files,
            of_pairs=True,
            compares_metrics=_name.startswith("metric-"),
        )
    )
register(
    Kind(
        "scatter",
        _of("leaderboard.metric_boards.scatter_plots:scatter_documents"),
        made_by=DRAWN_BY,
        for_files="points",
        compares_metrics=True,
    )
)
