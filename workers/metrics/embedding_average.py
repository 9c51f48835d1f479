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
together.

Without vectors the words are the model's word pieces and the vectors its input embeddings. vectors
names a file in GloVe's format, a word and its numbers on each line (word2vec's first line is passed
over): unknown words are left out, or get the mean of all the file's vectors, as in nlg-eval. A word
is looked up as it is written, else in lower case; don't is do and n't, punctuation marks are words.
A line that is short, a number that is none or not finite, or a text that is not UTF-8 is an error
with its line. Where no word of a text has a vector the score is undefined. Systems' scores on three
of the FBD paper's corpora equal the reference numbers to 1e-6. Formulas of nlg-eval, Sharma et al.
(2017), Relevance of Unsupervised Metrics in Task-Oriented Dialogue for Evaluating Natural Language
Generation.""",
)
