"""The order in which a campaign's slots stand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def interleave(
    dialogue_of_item: Sequence[int] | NDArray[np.int64], k: int, seed: int
) -> NDArray[np.int64]:
    """The item (an index into ``dialogue_of_item``) at each ordinal 0 … k × items − 1.

    Dialogues take turns: a dialogue of m items has one in every m-th part of the order, at a random
    place within that part. With dialogues of one size these are rounds of one item a dialogue, in a
    random order each.

    The order of items is drawn once and repeated k times, so that an item has its places as far
    apart as can be, and whoever walks on from any ordinal meets every item once before meeting one
    again. Raters who begin at random ordinals therefore hardly ever come by places of items that
    they have judged.

    Raises ``ValueError`` for k below 1.
    """
    if k < 1:
        raise ValueError(f"an item has at least one place, not {k}")
    dialogues = np.unique(np.asarray(dialogue_of_item), return_inverse=True)[1].reshape(-1)
    if not dialogues.size:
        return np.empty(0, dtype=np.int64)
    random = np.random.default_rng(seed)
    shuffled = random.permutation(dialogues.size)
    by_dialogue = shuffled[np.argsort(dialogues[shuffled], kind="stable")]
    sizes = np.bincount(dialogues)
    begins = np.cumsum(sizes) - sizes
    dialogue = dialogues[by_dialogue]
    rank_in_dialogue = np.arange(dialogues.size) - begins[dialogue]
    place = (rank_in_dialogue + random.random(dialogues.size)) / sizes[dialogue]
    return np.tile(by_dialogue[np.argsort(place, kind="stable")], k).astype(np.int64)
