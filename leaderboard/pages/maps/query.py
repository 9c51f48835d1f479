"""Every metric beside every other: how far they say the same; and responses and references as an
encoder sees them, on a plane."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import answered_turns, turn_order
from annotations.models import CorpusVersion, Response, System, Turn
from common.correlation import COEFFICIENTS, cluster_resamples
from leaderboard.answers.maps import MappedSystem, MappedText, OnAPlane, ResponseMap
from leaderboard.answers.metrics import (
    CorrelatedMetrics,
    CorrelatedPair,
    MetricsAmongThemselves,
    NamedMetric,
)
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.gold import gold_among
from leaderboard.queries.human_scores import HumanSide, metric_grid
from leaderboard.queries.submitted import compared_scores
from leaderboard.queries.system_choice import chosen_systems, resolve_choice, with_choice
from leaderboard.results.kinds import registered, without_parameters
from leaderboard.statistics.correlation.metric_by_metric import (
    MetricPair,
    correlate_metrics,
    correlate_metrics_of_systems,
    similar_order,
)
from leaderboard.statistics.correlation.placed_scores import FloatArray, system_sums
from leaderboard.statistics.embedding_map import cosines_to_references, plane_map
from workers.inference.model_files import PACKAGED_ENCODER, why_missing

METHOD = (
    "percentile bootstrap over dialogues for Pearson's r; a pair is over what both metrics "
    "scored, rated by people or not; where lower is better the scores are negated, so that "
    "metrics which agree correlate positively"
)


@registered("metric-correlations", version=3, resolved=with_choice, shown_first=without_parameters)
def metric_correlations(
    version: CorpusVersion,
    systems: str | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> MetricsAmongThemselves:
    """Correlation of every metric with every other at the turn, dialogue and system level."""
    key = resolve_choice(version, systems)
    chosen = chosen_systems(version, key)
    order = turn_order(version)
    scores = compared_scores(version, chosen, order)
    # People are not asked here
    human = HumanSide(tuple(chosen), order, None, None, answered_turns(chosen, order))
    sign = np.array([1.0 if one.higher_is_better else -1.0 for one in scores.configurations])
    levels: dict[str, CorrelatedMetrics] = {}
    of_level: dict[str, Callable[[], tuple[list[int], list[MetricPair]]]] = {
        "turn": lambda: _of_turns(human, scores, sign, resamples, seed),
        "dialogue": lambda: _of_dialogues(human, scores, sign, resamples, seed),
        "system": lambda: _of_systems(human, scores, sign, resamples, seed),
    }
    for level, compute in of_level.items():
        rows, pairs = compute()
        if len(rows) > 1:
            levels[level] = _of_level(rows, pairs)
    return MetricsAmongThemselves(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        systems_chosen=key,
        design=human.design.kind,
        resamples=resamples,
        seed=seed,
        method=METHOD,
        metrics=tuple(
            NamedMetric(
                metric=one.text,
                higher_is_better=one.higher_is_better,
                signature=one.signature(
                    corpus=version.corpus.slug, corpus_version=version.label, systems=key
                ),
            )
            for one in scores.configurations
        ),
        levels=levels,
    )


def _of_turns(
    human: HumanSide, scores: MetricScores, sign: FloatArray, resamples: int, seed: int
) -> tuple[list[int], list[MetricPair]]:
    rows = scores.rows_of("turn")
    if not rows:
        return [], []
    values = (sign[:, None, None] * scores.turn)[rows].reshape(len(rows), -1)
    return rows, correlate_metrics(
        values, np.tile(human.order.dialogue, len(human.systems)), resamples, seed
    )


def _of_dialogues(
    human: HumanSide, scores: MetricScores, sign: FloatArray, resamples: int, seed: int
) -> tuple[list[int], list[MetricPair]]:
    rows = scores.rows_of("turn") + scores.rows_of("dialogue")
    if not rows:
        return [], []
    grid = metric_grid(human, scores.select(rows))
    return rows, correlate_metrics(
        sign[rows][:, None] * grid.scores, grid.dialogue, resamples, seed
    )


def _of_systems(
    human: HumanSide, scores: MetricScores, sign: FloatArray, resamples: int, seed: int
) -> tuple[list[int], list[MetricPair]]:
    rows = list(range(len(scores.texts)))
    dialogues = len(human.order.dialogue_ids)
    if not rows or not dialogues:
        return [], []
    weights = (
        cluster_resamples(dialogues, resamples, seed, human.design.strata).astype(np.float64)
        if resamples
        else None
    )
    redrawn = [None if weights is None else _redrawn(human, scores, row, weights) for row in rows]
    signed = [
        None if one is None else sign[row] * one for row, one in zip(rows, redrawn, strict=True)
    ]
    return rows, correlate_metrics_of_systems(sign[:, None] * scores.system, signed, dialogues)


def _redrawn(
    human: HumanSide, scores: MetricScores, row: int, weights: FloatArray
) -> FloatArray | None:
    """(resamples, systems) means of one metric; None where its system scores are not means of
    anything finer."""
    finest = scores.finest(row)
    if finest == "system":
        return None
    systems, dialogues = len(human.systems), len(human.order.dialogue_ids)
    if finest == "turn":
        values, places = scores.turn[row], human.order.dialogue
    else:
        assert scores.dialogue is not None
        values, places = scores.dialogue[row], np.arange(dialogues)
    of_system = np.repeat(np.arange(systems), len(places))
    sums = system_sums(values.ravel(), of_system, np.tile(places, systems), systems, dialogues)
    return sums.resampled_means(weights)


def _of_level(rows: Sequence[int], pairs: Sequence[MetricPair]) -> CorrelatedMetrics:
    order = {}
    for name in COEFFICIENTS:
        values = {(pair.first, pair.second): getattr(pair, name).value for pair in pairs}
        order[name] = tuple(rows[place] for place in similar_order(len(rows), values))
    return CorrelatedMetrics(
        metrics=tuple(rows),
        order=order,
        pairs=tuple(
            CorrelatedPair(
                first=rows[pair.first],
                second=rows[pair.second],
                n=pair.n,
                pearson=pair.pearson,
                spearman=pair.spearman,
                kendall=pair.kendall,
            )
            for pair in pairs
        ),
    )


POINTS = 2000
"""More cannot be told apart in a drawing, and t-SNE's time grows faster than they do."""
LETTERS = 240
"""Of a text under the pointer."""


def _map_shown_first(_version: CorpusVersion) -> list[dict[str, Any]]:
    """Where this machine has the encoder: elsewhere it would fail for each corpus."""
    return [] if why_missing(PACKAGED_ENCODER) else [{}]


@registered("response-map", version=1, shown_first=_map_shown_first)
def response_map(version: CorpusVersion, *, seed: int = SEED) -> ResponseMap:
    """Where every system's responses, and the references, lie on two maps; at most 2,000 texts.

    Where there are more, turns are drawn by chance, and of a drawn turn all responses and the first
    reference are taken, so that every system is seen at the same places. Raises ``ModelError``
    where this machine has no encoder: the statistic then says so, and can be tried again.
    """
    from workers.inference.encoders.encoder import encoder_for

    systems = select_systems(version)
    gold = gold_among(version, systems)
    turns = list(
        Turn.objects.filter(dialogue__version=version)
        .select_related("dialogue")
        .order_by("dialogue", "number")
    )
    capacity = max(POINTS // (len(systems) + 1), 1)
    shown = (
        turns
        if len(turns) <= capacity
        else [
            turns[place]
            for place in sorted(random.Random(seed).sample(range(len(turns)), capacity))
        ]
    )
    answer = ResponseMap(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        seed=seed,
        turns=len(shown),
        of_turns=len(turns),
        systems=tuple(
            MappedSystem(
                system=one.name, position=one.position, kind=one.kind, is_gold=one.pk in gold
            )
            for one in systems
        ),
    )
    texts = _texts(systems, shown)
    if not texts:
        return replace(answer, reason="The corpus holds no responses.")
    encoder = encoder_for()
    vectors = np.asarray(
        encoder.sentence_vectors([text for *_, text in texts]).values, dtype=np.float64
    )
    found = plane_map(vectors, seed)
    answer = replace(answer, model=encoder.files.label)
    if isinstance(found, str):
        return replace(answer, reason=f"{found[:1].upper()}{found[1:]}.")
    reference_of = {
        turn.pk: place for place, (system, turn, _) in enumerate(texts) if system is None
    }
    partner = np.array([reference_of.get(turn.pk, -1) for _, turn, _ in texts])
    cosine = np.where(partner >= 0, cosines_to_references(vectors, vectors[partner]), np.nan)
    return replace(
        answer,
        explained=tuple(found.explained),
        perplexity=found.perplexity,
        points=tuple(
            MappedText(
                system=None if system is None else system.position,
                dialogue=turn.dialogue.position,
                turn=turn.number,
                text=text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…",
                pca=_rounded(found.pca[place], 4),
                tsne=_rounded(found.tsne[place], 3),
                cosine=None
                if system is None or np.isnan(cosine[place])
                else round(float(cosine[place]), 4),
            )
            for place, (system, turn, text) in enumerate(texts)
        ),
    )


def _rounded(point: FloatArray, digits: int) -> OnAPlane:
    across, up = (round(float(value), digits) for value in point)
    return across, up


def _texts(
    systems: Sequence[System], turns: Sequence[Turn]
) -> list[tuple[System | None, Turn, str]]:
    """(system, turn, text); a reference has no system. What is empty has no place on a map."""
    by_position = {
        (turn, system): text
        for turn, system, text in Response.objects.filter(
            system__in=systems, turn__in=turns
        ).values_list("turn_id", "system_id", "text")
    }
    texts: list[tuple[System | None, Turn, str]] = []
    for turn in turns:
        first = next((reference for reference in turn.references if reference.strip()), "")
        texts += [(None, turn, first)] if first else []
        texts += [
            (system, turn, response_text)
            for system in systems
            if (response_text := by_position.get((turn.pk, system.pk), "")).strip()
        ]
    return texts
