"""Vector Extrema: the cosine between the most extreme values of two texts' word vectors (Forgues et
al., 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import ENCODER_SYSTEMS_AT_ONCE
from workers.metrics.common.word_vector_options import OPTIONS, build, missing_vectors

if TYPE_CHECKING:
    from workers.metrics.common.pair_scores import BestReference

_COLUMNS = {"absolute": 1, "largest": 2}
EXTREME = Option(
    "extreme",
    "absolute",
    "in each dimension: absolute, the value farthest from 0; largest, the largest one (as the "
    "code of the FBD paper)",
    tuple(_COLUMNS),
)


def _build(options: Mapping[str, OptionValue]) -> BestReference:
    return build(_COLUMNS[str(options["extreme"])], options)


METRIC = Metric(
    name="vector_extrema",
    version="3",
    summary="Cosine between the vectors of response and reference that hold their words' most "
    "extreme values.",
    citation="Forgues et al. (2014), Bootstrapping Dialog Systems with Word Embeddings, NeurIPS "
    "workshop",
    build=_build,
    needs=frozenset({"reference"}),
    queue="gpu",
    value_range=(-1.0, 1.0),
    options=(*OPTIONS, EXTREME),
    signature_facts=(("references", "best"),),
    missing=missing_vectors,
    systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
    equation=(
        r"\mathrm{VE}(h, r) = \cos(x(h), x(r))"
        "\n\n"
        r"x_d(s) = e_{w^{*} d}, \quad w^{*} = \arg\max_{w \in s} \left| e_{w d} \right|"
    ),
    description="""A text is, in each dimension, the value of its words' vectors that is farthest
from zero; the score is the cosine between two such vectors. Common words lie near the origin, so
that the rare and telling ones are heard, whereas they vanish in a mean.

Every dimension may come from another word: what is compared is the vector of no word and no
sentence. Longer texts have more extreme values, which makes long texts alike.

Of two values equally far from zero the negative one counts, as in nlg-eval. extreme=largest takes
the largest value, as the released code of the FBD paper does. Vectors are those of
embedding_average. Systems' scores on three of the FBD paper's corpora equal the reference numbers
to 1e-6, with either value.""",
)
