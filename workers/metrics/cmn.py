"""CMN: mutual information in a latent space, weighed by next-sentence prediction (Zhao et al.,
2023)."""

from __future__ import annotations

from workers.metrics.base import Metric
from workers.metrics.common.cmn_options import (
    CITATION,
    FORM,
    RECIPE,
    SAMPLES,
    SEED,
    TRAINED,
    building,
)
from workers.metrics.common.options import SYSTEMS_AT_ONCE, missing_trained

METRIC = Metric(
    name="cmn",
    version="2",
    summary="Information that the response shares with context and reference in a trained model's "
    "latent space.",
    citation=CITATION,
    build=building("full"),
    needs=frozenset({"context", "reference"}),
    queue="gpu",
    value_range=(None, None),
    options=(TRAINED, FORM, SAMPLES, SEED),
    signature_facts=(("references", "best"),),
    missing=missing_trained("cmn", RECIPE),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{score}(c, x, r) = g \cdot I(c, x) + I(x, r)",
    description="""A conditional variational autoencoder gives context, response and reference a
latent vector's distribution each. I is how much more alike, by dot products of draws, the
response's is to the context's or the reference's than to those of ten training pairs (InfoNCE); g,
the probability that the response follows, weighs the part with the context. Of several references
the best counts.

`form` says whose estimate: `paper` follows equation 4 as printed. That is no lower bound of the
information: it adds log(N − 1) where the bound has it already, a constant within one I that g makes
weigh more for responses with a high g. `released` takes the log of the sum outside the mean, a
constant log 10, the prior through the posterior's encoder, and negatives with replacement; `bound`
is InfoNCE's own.

Every score is drawn: the seed is part of the configuration, and each response's remark tells the
Monte-Carlo error and I(c, x), I(x, r) and g. Both informations may be below 0 where the model
learned little; then g punishes good responses, which cmn_no_nsp and cmn_no_mi next to it show.

What is drawn hangs on the seed and on the pair alone, so a score does not hang on what else is
scored. 100 × 100 draws are the released code's; the paper names none.""",
)
