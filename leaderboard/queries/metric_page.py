"""What the page of a metric reads: where it ran, with what, how its scores are spread, where it and people disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db.models import Count

from annotations.estimates import Undefined
from annotations.models import CorpusVersion, Dialogue, Response, System, Turn
from annotations.queries import newest_visible_versions, select_systems
from leaderboard.queries.compared import MetricScores, chosen_metrics
from leaderboard.queries.finished_runs import metric_scores
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side, metric_grid
from leaderboard.statistics.over_under import Gap, OverUnder, widest_gaps
from leaderboard.statistics.placed_scores import FloatArray
from leaderboard.statistics.spread import histogram, summary_of
from workers.metrics.base import Metric
from workers.metrics.configuration import Configuration, ConfigurationError, parse
from workers.models import MetricRun

WIDEST_GAPS = 10
"""Responses shown on either side."""


# --- where it ran ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """The finished runs of one configuration on one corpus version."""

    configuration: Configuration
    version: CorpusVersion
    runs: int


def ran_on(user: Any, metric: Metric) -> list[Ran]:
    """Where the metric, in its present version, has finished runs that this person may see: on the newest version of
    each corpus. The plain configuration first, then the others by name; corpora that people rated before simulated
    ones, then by name."""
    versions = {version.pk: version for version in newest_visible_versions(user)}
    counted = (
        MetricRun.objects.filter(
            metric=metric.name,
            metric_version=metric.version,
            state=MetricRun.State.DONE,
            system__version__in=versions,
            system__withheld=False,
        )
        .order_by()
        .values_list("configuration", "system__version_id")
        .annotate(runs=Count("pk"))
    )
    found = [
        Ran(configuration, versions[version], runs)
        for text, version, runs in counted
        if (configuration := _still_there(text)) is not None
    ]
    plain = Configuration.of(metric).text
    return sorted(
        found,
        key=lambda ran: (
            ran.configuration.text != plain,
            ran.configuration.text,
            ran.version.simulated,
            ran.version.corpus.name.casefold(),
            ran.version.corpus.slug,
        ),
    )


def _still_there(text: str) -> Configuration | None:
    """None for options that the metric no longer has."""
    try:
        return parse(text)
    except ConfigurationError:
        return None


def not_run(user: Any, configuration: Configuration) -> dict[str, Any]:
    """What the page says where nothing ran: whether there are corpora at all, how many runs are still to come."""
    versions = newest_visible_versions(user)
    under_way = MetricRun.objects.filter(
        configuration=configuration.text,
        metric_version=configuration.metric.version,
        state__in=[MetricRun.State.PENDING, MetricRun.State.RUNNING],
        system__version__in=versions,
        system__withheld=False,
    )
    return {"has_corpora": bool(versions), "under_way": under_way.count()}


@dataclass(frozen=True, slots=True)
class MadeWith:
    """What runs say of the model and the machine that computed them."""

    model: str
    device: str
    runs: int


def made_with(configuration: Configuration, versions: Iterable[CorpusVersion]) -> list[MadeWith]:
    """The most frequent first."""
    counted = _finished(configuration, versions).order_by().values_list("model", "device").annotate(runs=Count("pk"))
    return sorted((MadeWith(*row) for row in counted), key=lambda one: (-one.runs, one.model, one.device))


def example_run(configuration: Configuration, version: CorpusVersion) -> MetricRun | None:
    """The latest finished run, without its scores."""
    runs = _finished(configuration, [version]).defer("turn_scores", "undefined", "remarks", "details")
    return runs.select_related("system").order_by("-finished_at", "pk").first()


@dataclass(frozen=True, slots=True)
class DetailsOf:
    """What a run stored beside its score."""

    system: str
    swatch: int
    score: float | None
    details: dict[str, Any]


def details_of(configuration: Configuration, version: CorpusVersion) -> list[DetailsOf]:
    """Those of the runs that have any, in the systems' order."""
    runs = _finished(configuration, [version]).exclude(details={}).order_by("system__position")
    return [DetailsOf(*row) for row in runs.values_list("system__name", "system__position", "system_score", "details")]


def _finished(configuration: Configuration, versions: Iterable[CorpusVersion]) -> Any:
    return MetricRun.objects.filter(
        configuration=configuration.text,
        metric_version=configuration.metric.version,
        state=MetricRun.State.DONE,
        system__version__in=list(versions),
        system__withheld=False,
    )


# --- how its scores are spread -----------------------------------------------------------------------------------


def score_spread(version: CorpusVersion, text: str) -> dict[str, Any]:
    """The scores of one configuration over all systems that are shown, as JSON: of its turns, or of systems where it
    scores nothing finer; what has no score, with the reasons; what its remarks say of how many."""
    systems = select_systems(version)
    turns = Turn.objects.filter(dialogue__version=version).count()
    scores = chosen_metrics(metric_scores(systems, turns, [text]), [text])
    runs = list(
        _finished(scores.configurations[0], [version]).values_list("system_reason", "undefined", "remarks")  # type: ignore[arg-type]
    )
    finest = scores.finest(0)
    values = scores.system[0] if finest == "system" else scores.turn[0]
    reasons = [reason for reason, _, _ in runs if reason] if finest == "system" else _all_values(runs, 1)
    defined = values[np.isfinite(values)]
    return {
        "level": finest,
        "systems": [
            [system.name, system.position, None if np.isnan(score) else float(score)]
            for system, score in zip(systems, scores.system[0], strict=True)
        ],
        "summary": asdict(summary_of(defined)) if len(defined) else None,
        "bins": [[one.low, one.high, one.count] for one in histogram(defined)] if len(defined) else [],
        "undefined": Counter(reasons).most_common(),
        "remarks": Counter(_all_values(runs, 2)).most_common(),
    }


def _all_values(rows: Sequence[tuple[Any, ...]], place: int) -> list[str]:
    return [value for row in rows for value in row[place].values()]


# --- where it and people disagree --------------------------------------------------------------------------------


def disagreement(version: CorpusVersion, aspect: str, text: str) -> dict[str, Any]:
    """The most over- and under-rated responses as JSON: of single responses where both judge these, else of a system's
    dialogues, else of systems. Names the places only: texts are read when they are shown."""
    left_out = _compared_with_itself(text)
    systems = [system for system in select_systems(version) if system.kind not in left_out]
    human = human_side(version, aspect, systems)
    scores = chosen_metrics(metric_scores(systems, len(human.order.turn_pks), [text]), [text])
    level, metric, people, places = _compared(human, scores)
    found: OverUnder | Undefined
    if level is None:
        found = Undefined(f"nobody has rated {aspect} here")
    else:
        found = widest_gaps(metric, people, higher_is_better=scores.configurations[0].higher_is_better, top=WIDEST_GAPS)
    if isinstance(found, Undefined):
        return {"level": level or "turn", "reason": found.reason, "n": 0, "over": [], "under": []}
    return {
        "level": level,
        "without_gold": bool(left_out),
        "reason": "",
        "n": found.n,
        "over": [_gap_document(gap, places[gap.item]) for gap in found.over],
        "under": [_gap_document(gap, places[gap.item]) for gap in found.under],
    }


def _compared_with_itself(text: str) -> frozenset[str]:
    """Kinds of systems that the metric would hold against their own answers: there its score says nothing."""
    needs = parse(text).metric.needs
    return frozenset({System.Kind.GOLD.value}) if needs & {"reference", "human_corpus"} else frozenset()


Place = tuple[int, int | None, int | None]
"""(system pk, dialogue pk or None, turn pk or None)"""


def _compared(human: HumanSide, scores: MetricScores) -> tuple[str | None, FloatArray, FloatArray, Sequence[Place]]:
    """(level, metric, human scores, places) at the finest level at which both sides judge."""
    pks = [system.pk for system in human.systems]
    order = human.order
    finest = scores.finest(0)
    if human.turn is not None and finest == "turn":
        items = human.turn
        turns = [
            (pks[system], int(order.dialogue_pks[order.dialogue[turn]]), int(order.turn_pks[turn]))
            for system, turn in zip(items.system, items.turn, strict=True)
        ]
        return "turn", scores.turn[0, items.system, items.turn], items.human_means(), turns
    grid = human_grid(human)
    if grid is not None and finest != "system":
        dialogues: list[Place] = [
            (pks[system], int(order.dialogue_pks[dialogue]), None)
            for system, dialogue in zip(grid.system, grid.dialogue, strict=True)
        ]
        return "dialogue", metric_grid(human, scores).scores[0], grid.scores[0], dialogues
    judged = human.at("system")
    if judged is None:
        return None, np.empty(0), np.empty(0), ()
    means = judged.human_means()
    given = np.isfinite(means)
    count = np.bincount(judged.system[given], minlength=len(pks))
    total = np.bincount(judged.system[given], weights=means[given], minlength=len(pks))
    people = np.divide(total, count, out=np.full(len(pks), np.nan), where=count > 0)
    return "system", scores.system[0], people, [(pk, None, None) for pk in pks]


def _gap_document(gap: Gap, place: Place) -> dict[str, Any]:
    system, dialogue, turn = place
    return {
        "system": system,
        "dialogue": dialogue,
        "turn": turn,
        "metric": gap.metric,
        "human": gap.human,
        "metric_z": gap.metric_z,
        "human_z": gap.human_z,
    }


@dataclass(frozen=True)
class Judged:
    """One of the widest gaps with what was said there."""

    system: str
    swatch: int
    dialogue: Dialogue | None
    turn: int | None
    context: tuple[tuple[str, str], ...]
    response: str
    metric: float
    human: float
    metric_z: float
    human_z: float

    @property
    def gap(self) -> float:
        return self.metric_z - self.human_z

    @property
    def last(self) -> tuple[str, str] | None:
        """What was said just before."""
        return self.context[-1] if self.context else None


def judged(version: CorpusVersion, gaps: Sequence[dict[str, Any]]) -> list[Judged]:
    """The gaps of ``disagreement`` with their texts, without what is not shown any more."""
    systems = {system.pk: system for system in select_systems(version)}
    dialogues = version.dialogues.in_bulk([gap["dialogue"] for gap in gaps if gap["dialogue"] is not None])
    turns = {gap["turn"] for gap in gaps if gap["turn"] is not None}
    responses = {
        (response.system_id, response.turn_id): response
        for response in Response.objects.filter(turn__in=turns, system__in=systems).select_related("turn")
    }
    found = []
    for gap in gaps:
        system = systems.get(gap["system"])
        if system is None:
            continue
        response = responses.get((gap["system"], gap["turn"]))
        found.append(
            Judged(
                system=system.name,
                swatch=system.position,
                dialogue=dialogues.get(gap["dialogue"]),
                turn=response.turn.number if response else None,
                context=tuple((speaker, text) for speaker, text in response.turn.context) if response else (),
                response=response.text if response else "",
                **{key: gap[key] for key in ("metric", "human", "metric_z", "human_z")},
            )
        )
    return found
