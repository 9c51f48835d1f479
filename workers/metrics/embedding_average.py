"""Embedding Average: the cosine between the sums of two texts' word vectors (Wieting et al.,
2016)."""

from __future__ import annotations

from functools import partial

from workers.metrics.base import Metric
from workers.metrics.common.options import ENCODER_SYSTEMS_AT_ONCE
from workers.metrics.common.word_vector_options import OPTIONS, build, missing_vectors

_COLUMN = 0

METRIC = Metric(
    name="embedding_average",
    version="3",
    summary="Cosine between the mean word vectors of response and reference.",
    citation="Wieting et al. (2016), Towards Universal Paraphrastic Sentence Embeddings, ICLR",
    build=partial(build, _COLUMN),
    needs=frozenset({"reference"}),
    queue="gpu",
    value_range=(-1.0, 1.0),
    options=OPTIONS,
    signature_facts=(("references", "best"),),
    missing=missing_vectors,
    systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
    equation=r"\mathrm{EA}(h, r) = \cos\left(\sum_{w \in h} e_w, \sum_{w \in r} e_w\right)",
    description="""A text is the mean of its words' vectors, and the score is the cosine between the
two means. Words count by their similarity, not by being the same, and their order plays no part.

The mean is ruled by frequent words: their vectors point much the same way, so that any two English
sentences are alike, the more so the longer they are. Scores are therefore high and lie close
together.""",
)
