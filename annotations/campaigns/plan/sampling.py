"""Which dialogues of a corpus a campaign asks about. Pure: no Django here."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Name = TypeVar("Name")


def draw_dialogues(dialogues: Sequence[Name], wanted: int | None, seed: int) -> list[Name]:
    """``wanted`` of the dialogues, drawn without replacement, in the order in which they were
    given.

    The draw depends on the places in the sequence and the seed only, so the same corpus gives the
    same sample wherever it is stored. One draw serves all systems: they are compared under the same
    conditions. None, or more than there are, takes all. Raises ``ValueError`` where ``wanted`` is
    below 1.
    """
    if wanted is not None and wanted < 1:
        raise ValueError("at least one dialogue must be drawn")
    if wanted is None or wanted >= len(dialogues):
        return list(dialogues)
    places = sorted(random.Random(seed).sample(range(len(dialogues)), wanted))
    return [dialogues[place] for place in places]
