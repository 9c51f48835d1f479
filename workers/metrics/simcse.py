"""SimCSE-style similarity: the cosine between the sentence vectors of response and reference (Gao
et al., 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import ENCODER, ENCODER_SYSTEMS_AT_ONCE, missing_model
from workers.metrics.common.tokenisation import UNICODE

if TYPE_CHECKING:
    from workers.inference.encoders.encoder import Pooling
    from workers.metrics.common.sentence_cosines import ReferenceCosine

POOLING = Option(
    "pooling",
    "mean",
    "a sentence's vector: mean, of its tokens' last states; cls, the first token's, and pooler, "
    "what the checkpoint's own layer makes of that (SimCSE's unsupervised and supervised models)",
    ("mean", "cls", "pooler"),
)


def _build(options: Mapping[str, OptionValue]) -> ReferenceCosine:
    from workers.metrics.common.sentence_cosines import ReferenceCosine

    pooling = cast("Pooling", options["pooling"])
    return ReferenceCosine(str(options["model"]), pooling, str(options["unicode"]))


METRIC = Metric(
    name="simcse",
    version="2",
    summary="Cosine between the sentence vectors of response and reference.",
    citation="Gao et al. (2021), SimCSE: Simple Contrastive Learning of Sentence Embeddings, EMNLP",
    build=_build,
    needs=frozenset({"reference"}),
    queue="gpu",
    value_range=(-1.0, 1.0),
    options=(ENCODER, POOLING, UNICODE),
    signature_facts=(("references", "best"),),
    missing=missing_model,
    systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
    equation=r"\mathrm{Sim}(h, r) = \cos\left(s(h), s(r)\right)",
    description="""An encoder that was trained so that sentences of like meaning have like vectors
turns response and reference into one vector each; the score is their cosine. The packaged MiniLM is
such an encoder; a SimCSE checkpoint is another, with its first token's state as the vector.

Response and reference are compared as wholes: topic weighs most, and a detail that turns the
meaning around (a not, a number, a name) moves the vector little. Like every comparison with a
reference it sees one good answer of many.

SimCSE's unsupervised checkpoints are used with pooling=cls, its supervised ones with
pooling=pooler. An empty response has no score. With MiniLM the correlations
on USR are .45/.45 (Pearson/Spearman), the reference numbers.""",
)
