"""GPT2-Coherency: the length-normalised log-likelihood of a response after its context (Pang et
al., 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import (
    LANGUAGE_MODEL,
    LANGUAGE_MODEL_SYSTEMS_AT_ONCE,
    format_option,
    missing_model,
)

if TYPE_CHECKING:
    from workers.metrics.common.likelihood_scorers import Coherency

PERSONA = Option("persona", False, "write the speaker's persona before the dialogue")


def _build(options: Mapping[str, OptionValue]) -> Coherency:
    from workers.metrics.common.likelihood_scorers import Coherency

    return Coherency(str(options["model"]), str(options["format"]), bool(options["persona"]))


METRIC = Metric(
    name="gpt2_coherency",
    version="1",
    summary="How likely a causal language model finds the response after its context, per token.",
    citation="Pang et al. (2020), Towards Holistic and Automatic Evaluation of Open-Domain "
    "Dialogue Generation, ACL",
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(None, 0.0),
    options=(LANGUAGE_MODEL, format_option("tags"), PERSONA),
    signature_facts=(("length", "mean_per_token"), ("logarithm", "natural")),
    missing=missing_model,
    systems_at_once=LANGUAGE_MODEL_SYSTEMS_AT_ONCE,
    equation=r"\mathrm{Coherency}(r \mid c) = \frac{1}{|r|} \sum_{t=1}^{|r|} \log p\left(r_t \mid "
    r"c, r_{<t}\right)",
    description="""A language model that was trained to continue texts reads the dialogue so far and
says of each token of the response how likely it was. The score is the mean of the logarithms of
these probabilities: 0 would be certainty, and the further below 0, the less the model expected the
response. Pang and others used GPT-2; any causal model can be named here.

What is likely is not what is good. Dull answers are likely after almost everything, and a human
answer with a name or a number in it is not: on persona chats people and this score disagree, and
the correlation is negative. On corpora whose systems make broken sentences it is positive. PMI
takes out how likely a response is anyway.

With SmolLM2 the correlations (Pearson/Spearman) are −.25/−.28 on USR and .30/.30 on Daily(Z). The
paper maps the value to [0, 1] by a percentile of the test set; here it is unchanged, so that a
score does not depend on the others.""",
)
