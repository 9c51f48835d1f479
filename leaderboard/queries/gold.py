"""Systems whose responses are the references, and metrics that compare a response with them."""

from __future__ import annotations

from collections.abc import Iterable

from annotations.models import CorpusVersion, Response, System
from common.cache import memoize
from leaderboard.queries.compared import ComparedMetric
from workers.metrics.common.configuration import Configuration

SAYS_NOTHING = "the metric would hold the gold answers against themselves"
GOLD_SHARE = 0.95
"""Of its responses to turns with a reference; the rest may differ by a correction or an
omission."""
GOLD_LEAST_TURNS = 3
"""Fewer equal responses are chance ("Yes.")."""


def compares_gold_with_itself(metric: ComparedMetric, system: System, gold: frozenset[int]) -> bool:
    """Whether the metric would compare references with themselves. ``gold``: of ``gold_among``. Of
    metrics that were handed in nobody knows what they compare with."""
    if system.pk not in gold or not isinstance(metric, Configuration):
        return False
    return bool(metric.needs & {"reference", "human_corpus"})


def gold_among(version: CorpusVersion, systems: Iterable[System]) -> frozenset[int]:
    """``gold_systems`` of these."""
    return gold_systems(version, {system.pk: system.kind for system in systems})


def gold_systems(version: CorpusVersion, kinds: dict[int, str]) -> frozenset[int]:
    """Keys of the systems whose responses are the references.

    Args:
        kinds: the systems to look at: their kinds by key.

    Returns:
        Those of the kind gold, and those whose responses equal a reference, up to blanks at either
        end, on at least 95 % of the turns that have one (and on at least 3 turns).
    """
    return frozenset(
        pk
        for pk, kind in kinds.items()
        if kind == System.Kind.GOLD
        or memoize(("gold", version.pk, version.digest, pk), lambda pk=pk: _repeats_references(pk))
    )


def _repeats_references(system: int) -> bool:
    """Responses of a stored system never change, so the answer is kept."""
    with_reference = Response.objects.filter(system=system).exclude(turn__references=[])
    turns = with_reference.count()
    if turns < GOLD_LEAST_TURNS:
        return False
    allowed = int(turns * (1 - GOLD_SHARE) + 1e-9)
    rows: Iterable[tuple[str, list[str]]] = (
        with_reference.order_by("pk")
        .values_list("text", "turn__references")
        .iterator(chunk_size=200)
    )
    for text, references in rows:
        allowed -= text.strip() not in {one.strip() for one in references}
        if allowed < 0:  # most systems differ at once, so a large corpus is not read to its end
            return False
    return True
