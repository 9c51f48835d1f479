"""Greedy Matching: each word with the most similar word of the other text, both ways (Rus and
Lintean, 2012)."""

from __future__ import annotations

from functools import partial

from workers.metrics.base import Metric
from workers.metrics.common.options import ENCODER_SYSTEMS_AT_ONCE
from workers.metrics.common.word_vector_options import OPTIONS, build, missing_vectors

_COLUMN = 3

METRIC = Metric(
    name="greedy_matching",
    version="3",
    summary="Mean cosine of each word with the most similar word of the other text, averaged over "
    "both directions.",
    citation="Rus and Lintean (2012), An Optimal Assessment of Natural Language Student Input "
    "Using Word-to-Word Similarity Metrics, ITS",
    build=partial(build, _COLUMN),
    needs=frozenset({"reference"}),
    queue="gpu",
    value_range=(-1.0, 1.0),
    options=OPTIONS,
    signature_facts=(("references", "best"), ("directions", "both")),
    missing=missing_vectors,
    systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
    equation=(
        r"\mathrm{GM}(h, r) = \frac{G(h, r) + G(r, h)}{2}"
        "\n\n"
        r"G(s, t) = \frac{1}{|s|} \sum_{w \in s} \max_{v \in t} \cos(e_w, e_v)"
    ),
    description="""Each word of one text is paired with the word of the other whose vector is most
similar; the cosines are averaged over the words, and the two directions over each other. It is what
BERTScore's F1 would be with one fixed vector a word and an arithmetic mean.

A word has one vector whatever its context, and one word may be matched by many. Function words
match almost everywhere and lift the scores of all pairs.

Both directions, as in nlg-eval and the released code of the FBD paper. Vectors are those of
embedding_average. Systems' scores on three of the FBD paper's corpora equal the reference numbers
to 1e-6.""",
)
