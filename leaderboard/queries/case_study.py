"""Single responses with what people and metrics give them, on one scale: the case studies of
papers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from annotations.corpora.queries import NotFound, select_systems
from annotations.corpora.rating_queries import TurnOrder, rated_items, turn_order
from annotations.corpora.record_stream import dialogues_in
from annotations.models import CorpusVersion, Response, System
from leaderboard.answers.cases import Case, CaseMetric, CaseScore, CaseStudy
from leaderboard.queries.compared import chosen_metrics
from leaderboard.queries.submitted import compared_scores
from leaderboard.reproduction.evaluation_sets import FloatArray, Scaled, scaled

ALL_EQUAL = "all scores are equal"
NO_SCORE = "no score of this response"
DRAWN = 4
Place = tuple[int, int]
"""Indices of a system and of a turn."""


def case_study(
    version: CorpusVersion,
    aspect: str,
    metrics: Sequence[str] | None = None,
    *,
    dialogue: int | None = None,
    most: int = DRAWN,
    seed: int = 0,
    utterances: int | None = None,
) -> CaseStudy:
    """Responses that people rated: ``most`` drawn by ``seed``, or of one dialogue (by its position)
    the first ones; each with its rank among all of the corpus.

    ``metrics``: their names, all where None is given. ``utterances``: so many last ones of a
    context, all where it is None. Raises NotFound for a metric without scores of responses.
    """
    systems = select_systems(version)
    order = turn_order(version)
    items = rated_items(version, aspect, "turn", systems, order)
    means = items.human_means()
    rated = np.flatnonzero(np.isfinite(means))
    scores = compared_scores(version, systems, order, metrics)
    if metrics != []:
        scores = chosen_metrics(scores, metrics)
    of_responses = scores.select(scores.rows_of("turn"))
    if others := [name for name in metrics or () if name not in of_responses.texts]:
        raise NotFound(f"{others[0]} has no scores of responses of {version.corpus.slug}")
    human = np.full(of_responses.turn.shape[1:], np.nan)
    human[items.system[rated], items.turn[rated]] = means[rated]
    of_all = [(human, scaled(human))] + [
        (given, scaled(given, higher_is_better=metric.higher_is_better))
        for metric, given in zip(of_responses.configurations, of_responses.turn, strict=True)
    ]
    if dialogue is None:
        chosen = Random(seed).sample(list(rated), min(most, len(rated)))
    else:
        chosen = list(rated[items.dialogue[rated] == dialogue][:most])
    places = [(int(items.system[one]), int(items.turn[one])) for one in chosen]
    texts = _texts(systems, order, places, utterances)
    facts = {"corpus": version.corpus.slug, "corpus_version": version.label}
    return CaseStudy(
        **facts,
        aspect=aspect,
        seed=seed,
        of=len(rated),
        metrics=tuple(
            CaseMetric(metric=one.text, signature=one.signature(**facts))
            for one in of_responses.configurations
        ),
        cases=tuple(
            Case(**text, scores=tuple(_score(given, found, at) for given, found in of_all))
            for at, text in zip(places, texts, strict=True)
        ),
        reason="" if len(rated) else f"nobody rated turns of {version.corpus.slug}",
    )


def _score(given: FloatArray, found: Scaled, at: Place) -> CaseScore:
    score, share, rank_share = (
        None if np.isnan(value := array[at]) else float(value)
        for array in (given, found.shares, found.rank_shares)
    )
    reason = NO_SCORE if score is None else ALL_EQUAL if share is None else ""
    return CaseScore(score=score, share=share, rank_share=rank_share, reason=reason)


def _texts(
    systems: Sequence[System], order: TurnOrder, places: Sequence[Place], utterances: int | None
) -> list[dict[str, Any]]:
    """What was said at each place, as fields of ``Case``."""
    of_dialogues = {int(order.dialogue_pks[order.dialogue[turn]]) for _, turn in places}
    dialogues = dict(dialogues_in(list(of_dialogues)))
    responses = {
        (system, turn): text
        for system, turn, text in Response.objects.filter(
            turn__in={int(order.turn_pks[turn]) for _, turn in places}
        ).values_list("system_id", "turn_id", "text")
    }
    texts = []
    for system, turn in places:
        position = int(order.dialogue[turn])
        dialogue = dialogues[int(order.dialogue_pks[position])]
        (record,) = [one for one in dialogue.turns if one.number == order.numbers[turn]]
        context = dialogue.context_of(record)
        earlier = 0 if utterances is None else max(0, len(context) - utterances)
        texts.append(
            {
                "dialogue": dialogue.id,
                "position": position,
                "turn": record.number,
                "system": systems[system].name,
                "context": tuple((one.speaker, one.text) for one in context[earlier:]),
                "earlier": earlier,
                "references": record.references,
                "response": responses[systems[system].pk, int(order.turn_pks[turn])],
            }
        )
    return texts
