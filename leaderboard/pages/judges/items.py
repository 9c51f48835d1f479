"""What a judge said of each response, or of each dialogue of a system, beside what people said of
it.

One stored document holds every row of a configuration on a corpus version, in columns and without
texts: a page of 25 of ten thousand rows reads it, chooses, and fetches the texts of those alone.

Ways from other pages of a corpus to the judge inspector.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Any

import numpy as np
from django.urls import reverse
from django.utils.http import urlencode
from numpy.typing import NDArray

from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import RatedItems
from annotations.models import CorpusVersion, Response, System
from leaderboard.answers.judges import Judged, JudgedColumns, Scores
from leaderboard.queries.human_scores import HumanSide, human_grid, human_side
from leaderboard.queries.metric_runs import finished_runs_of
from leaderboard.results.kinds import registered
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from leaderboard.statistics.judges.standardised_gaps import Gaps, standardised_gaps
from workers.metrics.common.configuration import (
    Configuration,
    ConfigurationError,
    parse,
    still_there,
)
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs.queries import NOTHING_TO_SCORE, runs_of

POINTS, DEVIATIONS = "points", "sd"
"""A judge on the scale of people's ratings is compared in points of it; another in standard
deviations of each side."""


def is_judge(configuration: Configuration) -> bool:
    """Whether a language model is asked for a score: only these have prompts and answers to look
    at."""
    return configuration.metric.queue == "llm"


def judges_on(version: CorpusVersion) -> list[tuple[Configuration, dict[str, int]]]:
    """The judges' configurations that have runs here, in the registry's order, with the number of
    runs by state."""
    judges = {
        name: place
        for place, (name, metric) in enumerate(all_metrics().items())
        if metric.queue == "llm"
    }
    counted: dict[str, dict[str, int]] = {}
    rows = (
        runs_of(version)
        .filter(metric__in=judges)
        .order_by()
        .values_list("configuration", "metric_version", "state")
    )
    for text, metric_version, state in rows:
        if still_there(text, metric_version) is not None:
            states = counted.setdefault(text, dict.fromkeys(MetricRun.State.values, 0))
            states[state] += 1
    found = [(parse(text), states) for text, states in counted.items()]
    return sorted(found, key=lambda one: (judges[one[0].metric.name], one[0].text))


# --- from runs and ratings to rows ----------------------------------------------------------------


@dataclass(frozen=True)
class RunOf:
    """What a finished run says of its rows, by the index of the turn (of the dialogue, for metrics
    of dialogues)."""

    scores: Sequence[float | None]
    undefined: Mapping[str, str]
    remarks: Mapping[str, str]
    traces: Mapping[str, Any]


@dataclass(frozen=True)
class JudgedItems:
    """One row for each response (dialogue of a system) that a finished run of the judge has to do
    with."""

    level: str
    systems: tuple[System, ...]
    runs: tuple[RunOf | None, ...]
    """One a system; None where its run is not done."""
    system: IntArray
    dialogue: IntArray
    """(n,) numbers from 0 in the version's order."""
    place: IntArray
    """(n,) index in the runs' lists."""
    number: IntArray
    """(n,) the turn's number, −1 of a dialogue."""
    score: FloatArray
    human: FloatArray
    human_sd: FloatArray
    """NaN with fewer than two ratings, or where the dialogue's score is a mean over its turns."""
    raters: IntArray
    responses: IntArray
    """(n,) the response's key; 0 of a dialogue."""

    @property
    def n(self) -> int:
        return len(self.system)


def judged_items(version: CorpusVersion, aspect: str, configuration: Configuration) -> JudgedItems:
    systems = select_systems(version)
    human = human_side(version, aspect, systems)
    runs = _runs(version, configuration, systems)
    if "turn" in configuration.metric.levels:
        return _of_turns(human, systems, runs)
    return _of_dialogues(human, systems, runs)


def _runs(
    version: CorpusVersion, configuration: Configuration, systems: Sequence[System]
) -> tuple[RunOf | None, ...]:
    rows = finished_runs_of(configuration, [version]).values_list(
        "system_id", "turn_scores", "dialogue_scores", "undefined", "remarks", "details"
    )
    found = {
        system: RunOf(turns or dialogues, undefined, remarks, details.get("traces") or {})
        for system, turns, dialogues, undefined, remarks, details in rows
    }
    return tuple(found.get(system.pk) for system in systems)


def _of_turns(
    human: HumanSide, systems: Sequence[System], runs: tuple[RunOf | None, ...]
) -> JudgedItems:
    order = human.order
    turn_index = {int(pk): place for place, pk in enumerate(order.turn_pks)}
    system_index = {
        system.pk: place for place, system in enumerate(systems) if runs[place] is not None
    }
    answered = np.array(
        [
            (pk, system_index[system], turn_index[turn])
            for pk, system, turn in Response.objects.filter(system__in=list(system_index))
            .order_by("turn__dialogue__position", "turn__number", "system__position")
            .values_list("pk", "system_id", "turn_id")
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    responses, system, turn = answered.T
    mean, sd, raters = _people((len(systems), len(order.turn_pks)), human.turn, "turn")
    return JudgedItems(
        level="turn",
        systems=tuple(systems),
        runs=runs,
        system=system,
        dialogue=order.dialogue[turn],
        place=turn,
        number=order.numbers[turn],
        score=_scores(runs, system, turn),
        human=mean[system, turn],
        human_sd=sd[system, turn],
        raters=raters[system, turn],
        responses=responses,
    )


def _of_dialogues(
    human: HumanSide, systems: Sequence[System], runs: tuple[RunOf | None, ...]
) -> JudgedItems:
    dialogues = len(human.order.dialogue_ids)
    places = [
        (number, place)
        for place in range(dialogues)
        for number, run in enumerate(runs)
        if run is not None
        and (_at(run.scores, place) is not None or str(place) in run.undefined)
        and run.undefined.get(str(place)) not in NOTHING_TO_SCORE
    ]
    system, place = np.array(places, dtype=np.int64).reshape(-1, 2).T
    mean, sd, raters = _people((len(systems), dialogues), human.dialogue, "dialogue")
    if human.dialogue is None and (grid := human_grid(human)) is not None:
        mean[grid.system, grid.dialogue] = grid.scores[0]
    return JudgedItems(
        level="dialogue",
        systems=tuple(systems),
        runs=runs,
        system=system,
        dialogue=place,
        place=place,
        number=np.full(len(system), -1, dtype=np.int64),
        score=_scores(runs, system, place),
        human=mean[system, place],
        human_sd=sd[system, place],
        raters=raters[system, place],
        responses=np.zeros(len(system), dtype=np.int64),
    )


def _at(scores: Sequence[float | None], place: int) -> float | None:
    return scores[place] if place < len(scores) else None


def _scores(runs: Sequence[RunOf | None], system: IntArray, place: IntArray) -> FloatArray:
    found = (
        _at(run.scores, int(at)) if (run := runs[int(number)]) is not None else None
        for number, at in zip(system, place, strict=True)
    )
    return np.array([math.nan if score is None else score for score in found], dtype=np.float64)


def _people(
    shape: tuple[int, int], items: RatedItems | None, level: str
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """(mean, standard deviation over raters with n − 1, ratings), each systems × turns
    (dialogues)."""
    mean, sd = np.full(shape, np.nan), np.full(shape, np.nan)
    raters = np.zeros(shape, dtype=np.int64)
    if items is None:
        return mean, sd, raters
    at = items.system, items.turn if level == "turn" else items.dialogue
    scores = items.matrix.scores
    count = (~np.isnan(scores)).sum(axis=0)
    means = items.human_means()
    squares = np.nansum((scores - means) ** 2, axis=0)
    mean[at], raters[at] = means, count
    # Of a mean in a file, nobody knows how it was spread
    if items.matrix.rater_kind != "aggregate":
        sd[at] = np.where(count > 1, np.sqrt(squares / np.maximum(count - 1, 1)), np.nan)
    return mean, sd, raters


# --- the stored document --------------------------------------------------------------------------


@registered("judged", version=1)
def judged(version: CorpusVersion, aspect: str, text: str) -> Judged:
    """Every row of the judge ``text``, in columns, in the order of dialogues, turns and systems."""
    configuration = parse(text)
    items = judged_items(version, aspect, configuration)
    unit = unit_of(version, aspect, configuration)
    samples_of: list[Scores | None] = []
    undefined, remarks, injections = {}, {}, {}
    for row in range(items.n):
        run, place = items.runs[items.system[row]], str(items.place[row])
        assert run is not None
        trace = run.traces.get(place) or {}
        samples = trace.get("samples") or []
        samples_of.append(tuple(samples) if len(samples) > 1 else None)
        if place in run.undefined:
            undefined[str(row)] = run.undefined[place]
        if place in run.remarks:
            remarks[str(row)] = run.remarks[place]
        if found := injections_of(trace):
            injections[str(row)] = tuple(found)
    return Judged(
        level=items.level,
        unit=unit,
        systems=tuple(
            (system.position, system.name)
            for system, run in zip(items.systems, items.runs, strict=True)
            if run
        ),
        rows=JudgedColumns(
            system=tuple(items.systems[number].position for number in items.system),
            dialogue=tuple(items.dialogue.tolist()),
            turn=tuple(items.number.tolist()),
            place=tuple(items.place.tolist()),
            score=_listed(items.score),
            human=_listed(items.human),
            human_sd=_listed(items.human_sd),
            raters=tuple(items.raters.tolist()),
            difference=_listed(differences(items, unit)),
            samples=tuple(samples_of),
        ),
        undefined=undefined,
        remarks=remarks,
        injections=injections,
    )


def injections_of(trace: Mapping[str, Any]) -> list[str]:
    """What speaks to the judge in a response, or in the responses of a dialogue."""
    found = list(trace.get("injections") or ())
    for turn in trace.get("turns") or ():
        found += turn.get("injections") or ()
    return [str(one) for one in found]


def unit_of(version: CorpusVersion, aspect: str, configuration: Configuration) -> str:
    scale = version.scales.get(aspect)
    return (
        POINTS
        if scale and tuple(map(float, scale)) == tuple(configuration.value_range)
        else DEVIATIONS
    )


def differences(items: JudgedItems, unit: str) -> FloatArray:
    """Judge minus people; NaN where one of them says nothing."""
    if unit == POINTS:
        return np.asarray(items.score - items.human)
    found = standardised_gaps(items.score, items.human)
    return found.value if isinstance(found, Gaps) else np.full(items.n, np.nan)


def _listed(values: FloatArray) -> Scores:
    return tuple(None if math.isnan(value) else value for value in values.tolist())


def sample_sd(samples: Sequence[float | None] | None) -> float | None:
    """Standard deviation (n − 1) over the samples that could be read; None with fewer than two."""
    given = [one for one in samples or () if one is not None]
    return stdev(given) if len(given) > 1 else None


def inspector_links(
    version: CorpusVersion, configurations: Iterable[str], aspect: str, **place: int
) -> list[tuple[str, str]]:
    """(configuration, address) of those that ask a language model; each once. ``place``:
    ``dialogue``, ``turn``."""
    address = reverse("judge-inspector", args=[version.corpus.slug])
    return [
        (
            text,
            f"{address}?"
            + urlencode({"metric": text, "aspect": aspect, "version": version.number, **place}),
        )
        for text in dict.fromkeys(configurations)
        if _asks_a_model(text)
    ]


def _asks_a_model(text: str) -> bool:
    """Not so of scores that were handed in, nor of a metric that is not installed any more."""
    try:
        return is_judge(parse(text))
    except ConfigurationError:
        return False
