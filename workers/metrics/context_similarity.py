"""How close a response is to what was said before and to the speaker's persona, by sentence
vectors; no reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import ENCODER, ENCODER_SYSTEMS_AT_ONCE, missing_model

if TYPE_CHECKING:
    from workers.metrics.common.sentence_cosines import ContextCosine

UTTERANCES = Option(
    "utterances",
    0,
    "how many of the last utterances are the context; 0: all that the model takes, the oldest "
    "left out",
    least=0,
)


def _build(options: Mapping[str, OptionValue]) -> ContextCosine:
    from workers.metrics.common.sentence_cosines import ContextCosine

    return ContextCosine(str(options["model"]), int(options["utterances"]))


METRIC = Metric(
    name="context_similarity",
    version="2",
    summary="Cosine of the response with its context, plus that with the best line of the persona.",
    citation="dialeval, after the reference-free baselines of Reimers and Gurevych (2019), "
    "Sentence-BERT, EMNLP",
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(-2.0, 2.0),
    options=(ENCODER, UTTERANCES),
    signature_facts=(("pooling", "mean"),),
    missing=missing_model,
    systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
    equation=r"\mathrm{CS}(c, p, h) = \cos\left(s(h), s(c)\right) + \max_{l \in p} \cos\left(s(h), "
    r"s(l)\right)",
    description="""The utterances of the context as one text, each line of the responding speaker's
persona and the response become one sentence vector each. The score is the cosine of the response
with the context plus its cosine with the line of the persona that is most similar; where a turn has
no persona, the cosine with the context alone. The two kinds of score lie on different scales: the
signature says whether all, some or none of the responses had one.

It asks whether a response stays on the topic and speaks of who is speaking. It does not ask whether
it answers: a response that repeats the question or copies a line of the persona scores highest of
all.

A turn without context and an empty response have no score. utterances=0 takes as many of the last
as the model takes. With MiniLM it reaches .42/.45 (Pearson/Spearman) on USR and .19/.18 on
Daily(Z), where there is no persona: the reference numbers.""",
)
