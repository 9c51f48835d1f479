"""BERT-RUBER: an unreferenced and a referenced score, blended (Ghazarian et al. 2019, after Tao et
al. 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import ENCODER, SYSTEMS_AT_ONCE, missing_model, trained_option
from workers.training.core.trained_models import why_no_model

if TYPE_CHECKING:
    from workers.metrics.common.ruber_scorer import BlendedScores

BLEND = Option(
    "blend",
    "mean",
    "how the two scores become one: mean, min, max or geometric",
    ("mean", "min", "max", "geometric"),
)


def _build(options: Mapping[str, OptionValue]) -> BlendedScores:
    from workers.metrics.common.ruber_scorer import BlendedScores

    return BlendedScores(str(options["trained"]), str(options["model"]), str(options["blend"]))


def _missing(options: Mapping[str, OptionValue]) -> str:
    return why_no_model("bert_ruber", str(options["trained"]), "density") or missing_model(options)


METRIC = Metric(
    name="bert_ruber",
    version="2",
    summary="Blend of how well the response follows its context and how like the reference it is.",
    citation="Ghazarian et al. (2019), Better Automatic Evaluation of Open-Domain Dialogue Systems "
    "with Contextualized Embeddings, NeuralGen",
    build=_build,
    needs=frozenset({"context", "reference"}),
    queue="gpu",
    options=(trained_option("density"), ENCODER, BLEND),
    signature_facts=(("references", "best"), ("pooling", "mean")),
    missing=_missing,
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"s_R = \frac{1 + \cos(v(x), v(r))}{2}, \qquad s_U = \sigma\left(f(c, x)\right)"
    "\n\n"
    r"\text{BERT-RUBER}(c, x, r) = \frac{s_R + s_U}{2}",
    description="""Two judges that err in different places: the unreferenced one, a trained
response-selection model, says whether the response follows the context; the referenced one, the
cosine of both texts' pooled contextual word vectors, whether it says what a person said. `blend`
puts them together: their mean, the smaller (`min`), the larger (`max`) or the root of their product
(`geometric`), the strategies of RUBER (Tao et al. 2018).

RUBER brings both onto one scale by the least and the greatest score of the set that is scored; here
the cosine is moved from [−1, 1] to [0, 1] once and for all, so that a score does not hang on what
else is scored. The paper trains an unreferenced scorer on frozen BERT vectors; here it is the
selection model of density's training, fine-tuned as a whole. Of several references the best
counts.""",
)
