"""FBD: how far a system's pairs of context and response lie from people's, as a Fréchet distance
(Xiang et al., 2021).

The formula is in ``frechet``, the points in ``pair_features``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import (
    CITATION,
    ENCODER,
    ENCODER_SYSTEMS_AT_ONCE,
    HUMAN,
    LAYER,
    missing_model,
)

MEAN_TERM = Option(
    "mean_term",
    "squared",
    "the term of the means: squared as in the released code, or the norm as the paper prints it",
    ("squared", "norm"),
)

_EQUATION = (
    r"\mathrm{FBD} = \lVert \mu_R - \mu_G \rVert^2 + "
    r"\mathrm{Tr}\left(\Sigma_R + \Sigma_G - 2\,(\Sigma_R \Sigma_G)^{1/2}\right)"
)
_DESCRIPTION = """Each response, together with the context that it answers, becomes a point: the
state of the first token after the last layer of an encoder. People's responses in the dialogues
that the system answered, or those of another corpus, become points in the same way. FBD takes both
clouds as normal distributions, with means μ and covariances Σ, and is the Fréchet distance between
them: 0 where the two agree, larger the further the system's talk lies from people's.

It looks at a system as a whole: at whether it talks of the same things, as variedly, and with
answers that go with their contexts about as people's do. It has no score for a turn. With fewer
responses than dimensions the covariances are rough, and the distance grows as responses get fewer:
compare systems on the same contexts only. A shift in style counts like a shift in sense, and
responses that no person would give can hide in a cloud that lies right.

How normal the points are is tested in each dimension (Shapiro and Wilk) and stored with the score.
The published correlations have no sign; the one with human ratings should be negative.

The term of the means is squared, as in the released code, or the norm as the paper prints it
(mean_term=norm). Covariances are unbiased (ddof 1); a side of one response has none, and the score
is undefined. Computed in float64 without the root of Σ_R Σ_G, which is singular where there are
fewer points than dimensions: with C the centred points, its trace is the sum of the singular values
of C_R C_Gᵀ / √((n_R − 1)(n_G − 1)). The released code takes SciPy's `sqrtm` and drops the imaginary
part; its figures differ by about 2e-6. Scores on Persona(M) equal those of the released code to
1e-5, with either term.

Of the normality W and p (Royston's approximation, equal to SciPy's; good up to 5,000 points) are
stored as means and standard deviations over dimensions, and the share of dimensions with p ≥ 0.05.
Dimensions without any spread are left out and counted. `manage.py normality` prints it for several
corpora beside the paper's Table 4."""


def _build(options: Mapping[str, OptionValue]) -> Any:
    from workers.metrics.common.frechet import frechet_scorer

    return frechet_scorer(options)


METRIC = Metric(
    name="fbd",
    version="3",
    summary="Fréchet distance between a system's pairs of context and response and people's, as an "
    "encoder sees them.",
    citation=CITATION,
    build=_build,
    higher_is_better=False,
    levels=frozenset({"system"}),
    needs=frozenset({"context", "human_corpus"}),
    queue="gpu",
    value_range=(0.0, None),
    options=(ENCODER, LAYER, HUMAN, MEAN_TERM),
    signature_facts=(("pooling", "first-token"), ("ddof", "1"), ("trace", "singular-values")),
    missing=missing_model,
    systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
    equation=_EQUATION,
    description=_DESCRIPTION,
)
