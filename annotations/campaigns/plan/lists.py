"""In which order raters see the responses of a list. Pure: no Django here."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

MOST_SYSTEMS = 10
"""More cannot be ranked on one page."""


def shown_order(responses: Sequence[int], item: int, place: int, seed: int) -> list[int]:
    """The order in which the rater at one of an item's k places sees the responses.

    A random order of the item, turned by one place for each rater: with as many raters as
    responses, each response stands once at every place.

    Args:
        responses: keys of the responses.
        item: key of the item.
        place: 1 to k.
        seed: of the draw.

    Returns:
        The same keys.
    """
    order = sorted(responses)
    Random(f"{seed} {item} list").shuffle(order)
    turned = (place - 1) % max(1, len(order))
    return order[turned:] + order[:turned]
