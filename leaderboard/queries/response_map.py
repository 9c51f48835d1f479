"""Responses and references as an encoder sees them, on a plane."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion, Response, System, Turn
from leaderboard.analyses.kinds import registered
from leaderboard.queries.defaults import SEED
from leaderboard.queries.gold import gold_among
from leaderboard.statistics.embedding_map import cosines_to_references, plane_map

POINTS = 2000
"""More cannot be told apart in a drawing, and t-SNE's time grows faster than they do."""
LETTERS = 240
"""Of a text under the pointer."""


@registered("response-map", version=1)
def response_map(version: CorpusVersion, *, seed: int = SEED) -> dict[str, Any]:
    """Where every system's responses, and the references, lie on two maps, as JSON; at most 2,000
    texts.

    Where there are more, turns are drawn by chance, and of a drawn turn all responses and the first
    reference are taken, so that every system is seen at the same places. ``points``: ``{"system"
    (position, or None: a reference), "dialogue", "turn", "text", "pca": [across, up], "tsne": […],
    "cosine" (to the reference of its turn)}``. Raises ``ModelError`` where this machine has no
    encoder: the statistic then says so, and can be tried again.
    """
    from workers.encoders.encoder import encoder_for

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
    document = {
        "corpus": version.corpus.slug,
        "corpus_version": version.label,
        "seed": seed,
        "turns": len(shown),
        "of_turns": len(turns),
        "systems": [
            {
                "system": one.name,
                "position": one.position,
                "kind": one.kind,
                "is_gold": one.pk in gold,
            }
            for one in systems
        ],
    }
    texts = _texts(systems, shown)
    if not texts:
        return {**document, "points": [], "reason": "The corpus holds no responses."}
    encoder = encoder_for()
    vectors = np.asarray(
        encoder.sentence_vectors([text for *_, text in texts]).values, dtype=np.float64
    )
    found = plane_map(vectors, seed)
    document |= {"model": encoder.files.label}
    if isinstance(found, str):
        return {**document, "points": [], "reason": f"{found[:1].upper()}{found[1:]}."}
    reference_of = {
        turn.pk: place for place, (system, turn, _) in enumerate(texts) if system is None
    }
    partner = np.array([reference_of.get(turn.pk, -1) for _, turn, _ in texts])
    cosine = np.where(partner >= 0, cosines_to_references(vectors, vectors[partner]), np.nan)
    return {
        **document,
        "explained": list(found.explained),
        "perplexity": found.perplexity,
        "points": [
            {
                "system": None if system is None else system.position,
                "dialogue": turn.dialogue.position,
                "turn": turn.number,
                "text": text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…",
                "pca": [round(float(value), 4) for value in found.pca[place]],
                "tsne": [round(float(value), 3) for value in found.tsne[place]],
                "cosine": None
                if system is None or np.isnan(cosine[place])
                else round(float(cosine[place]), 4),
            }
            for place, (system, turn, text) in enumerate(texts)
        ],
    }


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
