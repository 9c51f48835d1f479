"""What Embedding Average, Vector Extrema and Greedy Matching share: where words' vectors come from,
and the loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.estimates import Undefined
from workers.metrics.base import Option, OptionValue
from workers.metrics.common.named_files import named_file
from workers.metrics.common.options import ENCODER, NORMALIZE_AS_IT_IS, missing_model, preparation
from workers.metrics.common.tokenisation import UNICODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workers.metrics.common.pair_scores import BestReference, Pair
    from workers.metrics.common.word_vectors import WordSimilarity

VECTORS = Option(
    "vectors", "", "a file of word vectors in GloVe's format; empty: the model's input embeddings"
)
UNKNOWN = Option(
    "unknown",
    "skip",
    "words that the file does not have: skip, or mean of all its vectors (nlg-eval)",
    ("skip", "mean"),
)
OPTIONS = (ENCODER, VECTORS, UNKNOWN, NORMALIZE_AS_IT_IS, UNICODE)


def missing_vectors(options: Mapping[str, OptionValue]) -> str:
    """Why the word vectors that the options name are not available on this machine.

    Args:
        options: with ``vectors`` (a file, or "") and ``model``.

    Returns:
        The reason; "" where they are available.
    """
    file = str(options["vectors"])
    if not file:
        return missing_model(options)
    return "" if named_file(file) else f"the file of word vectors {file} is not there"


def build(column: int, options: Mapping[str, OptionValue]) -> BestReference:
    """Build a scorer for one column of ``word_similarity``.

    Args:
        column: ``AVERAGE``, ``EXTREMA``, ``LARGEST`` or ``GREEDY``.
        options: values of ``OPTIONS``.
    """
    from workers.inference.encoders.encoder import encoder_for
    from workers.metrics.common.pair_scores import BestReference
    from workers.metrics.common.word_vectors import (
        FileVectors,
        InputEmbeddings,
        WordSimilarity,
        word_vectors_at,
    )

    def make(_: Sequence[str]) -> WordSimilarity:
        if file := str(options["vectors"]):
            return WordSimilarity(FileVectors(word_vectors_at(file), str(options["unknown"])))
        return WordSimilarity(InputEmbeddings(encoder_for(str(options["model"]))))

    return BestReference(
        make,
        column,
        preparation(bool(options["normalize"]), str(options["unicode"])),
        _no_known_word,
    )


def _no_known_word(pair: Pair) -> Undefined:
    if not pair[0]:
        return Undefined("the response is empty")
    return Undefined("no word of the response, or of its reference, has a vector")
