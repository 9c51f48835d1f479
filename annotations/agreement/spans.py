"""Agreement of spans marked in texts: F1 between raters, and Krippendorff's α over characters.

F1 = 2 · shared / (marked by one + marked by the other), pooled over items and pairs of raters: it
is what κ tends to where the number of unmarked places is large and unknown (Hripcsak and Rothschild
2005, JAMIA 12). *Exact* shares spans of the same ends and label, *by characters* each character
with its label.

α is Krippendorff's for unitizing (Krippendorff, Mathet, Bouvry and Widlöcher 2016, On the
reliability of unitizing textual continua, Quality & Quantity 50), with each character as a unit:
``marked`` asks whether a character is marked at all, ``label`` how it is labelled where two or more
raters mark it. γ (Mathet et al. 2015) is left out: it needs the best alignment of all raters' spans
and its expectation under random shifts, both by search, so that a value depends on the solver and
the seed; these coefficients are exact and have intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from scipy import sparse

from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import alpha_with_distance
from annotations.agreement.means import ratio
from annotations.agreement.tabulation import IntArray
from common.estimates import Estimate

Labels = frozenset[str]


@dataclass(frozen=True, slots=True)
class Span:
    """``start`` and ``end``: positions of characters, from 0; ``end`` is the first after it."""

    utterance: int
    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class MarkedItem:
    """``spans``: of each rater who judged the item, maybe none. ``lengths``: characters of each
    utterance that could be marked."""

    spans: tuple[tuple[Span, ...], ...]
    lengths: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    f1_exact: Estimate
    f1_characters: Estimate
    alpha_marked: Estimate
    alpha_label: Estimate


def span_agreement(
    items: Sequence[MarkedItem], dialogue: IntArray, jackknife: Jackknife
) -> SpanAgreement:
    """All coefficients of spans, each with its 95 % interval.

    Args:
        items: what was marked.
        dialogue: (items,) the dialogue of each, from 0.
        jackknife: which dialogues are left out, for the intervals.

    Returns:
        F1 from 0 to 1, undefined where no two raters judged an item or nobody marked anything; α in
        (−∞, 1], undefined where no two raters judged an item, where every character is marked or
        none is, and, of labels, where no character was marked by two raters or all have one label.
    """
    counts = np.array([_shared(item) for item in items], dtype=np.float64).reshape(-1, 4)
    nothing = "two raters judged no item in which one of them marked something"
    marked, label = _coincidences(items, dialogue, jackknife.group.size)
    return SpanAgreement(
        ratio(2 * counts[:, 0], counts[:, 1], dialogue, jackknife, nothing),
        ratio(2 * counts[:, 2], counts[:, 3], dialogue, jackknife, nothing),
        _alpha(marked, jackknife, "no or all characters are marked in items with two raters"),
        _alpha(label, jackknife, "no character is marked by two raters with more than one label"),
    )


def _shared(item: MarkedItem) -> list[int]:
    """Over pairs of raters: spans shared, spans of both; characters shared, characters of both."""
    exact = [{(s.utterance, s.label, s.start, s.end) for s in spans} for spans in item.spans]
    characters = [
        {(s.utterance, s.label, at, at + 1) for s in spans for at in range(s.start, s.end)}
        for spans in item.spans
    ]
    found = []
    for marked in (exact, characters):
        both = list(combinations(marked, 2))
        found += [sum(len(one & other) for one, other in both)]
        found += [sum(len(one) + len(other) for one, other in both)]
    return found


@dataclass
class _Cells:
    """Coincidences of categories: rows of (dialogue, category, category, weight)."""

    rows: list[tuple[int, Labels, Labels, float]]

    def add(self, dialogue: int, given: Sequence[Labels], characters: int) -> None:
        """Characters to which these raters gave these categories: each ordered pair of raters
        weighs 1 / (m − 1) a character."""
        if len(given) < 2:
            return
        weight = characters / (len(given) - 1)
        for one, other in combinations(given, 2):
            self.rows += [(dialogue, one, other, weight), (dialogue, other, one, weight)]


def _coincidences(
    items: Sequence[MarkedItem], dialogue: IntArray, dialogues: int
) -> tuple[tuple[sparse.csr_array, int], tuple[sparse.csr_array, int]]:
    marked, label = _Cells([]), _Cells([])
    for item, number in zip(items, dialogue.tolist(), strict=True):
        for utterance, length in item.lengths.items():
            spans = [[s for s in own if s.utterance == utterance] for own in item.spans]
            ends = {0, length} | {at for own in spans for s in own for at in (s.start, s.end)}
            for start, end in pairwise(sorted(ends)):
                given = [
                    frozenset(s.label for s in own if s.start <= start and s.end >= end)
                    for own in spans
                ]
                marked.add(number, [_MARKED if one else _UNMARKED for one in given], end - start)
                label.add(number, [one for one in given if one], end - start)
    return _matrix(marked, dialogues), _matrix(label, dialogues)


_MARKED, _UNMARKED = frozenset({"marked"}), frozenset[str]()


def _matrix(cells: _Cells, dialogues: int) -> tuple[sparse.csr_array, int]:
    """(dialogues, V²) coincidences, and V."""
    categories = sorted({one for row in cells.rows for one in row[1:3]}, key=sorted)
    index = {category: number for number, category in enumerate(categories)}
    size = len(categories)
    weights = [row[3] for row in cells.rows]
    columns = [index[one] * size + index[other] for _, one, other, _ in cells.rows]
    where = ([row[0] for row in cells.rows], columns)
    return sparse.csr_array((weights, where), shape=(dialogues, max(1, size * size))), size


def _alpha(
    coincidences: tuple[sparse.csr_array, int], jackknife: Jackknife, if_undefined: str
) -> Estimate:
    by_dialogue, size = coincidences
    if size < 2:
        return Estimate.undefined(if_undefined)
    counted = np.flatnonzero(np.diff(by_dialogue.indptr))
    distances = 1.0 - np.eye(size)
    return alpha_with_distance(
        by_dialogue, distances, jackknife, jackknife.group[counted], if_undefined
    )
