"""FBD: how far a system's pairs of context and response lie from people's, as a Fréchet distance (Xiang et al., 2021).

The formula is in ``frechet``, the points in ``pair_features``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers import model_files
from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.human_side import HUMAN

CITATION = "Xiang et al. (2021), Assessing Dialogue Systems with Distribution Distances, Findings of ACL"
MODEL = Option("model", model_files.PACKAGED_ENCODER, "a BERT-like encoder: the packaged one, a folder or a hub id")
LAYER = Option("layer", -1, "whose states are the points: 1 is the first layer, -1 the last")


def missing_model(options: Mapping[str, OptionValue]) -> str:
    return model_files.why_missing(str(options["model"]))


def _build(options: Mapping[str, OptionValue]) -> Any:
    from workers.metrics.frechet_scorer import frechet_scorer

    return frechet_scorer(options)


METRIC = Metric(
    name="fbd",
    version="1",
    summary="Fréchet distance between a system's pairs of context and response and people's, as an encoder sees them.",
    citation=CITATION,
    build=_build,
    higher_is_better=False,
    levels=frozenset({"system"}),
    needs=frozenset({"context", "human_corpus"}),
    queue="gpu",
    value_range=(0.0, None),
    options=(
        MODEL,
        LAYER,
        HUMAN,
        Option(
            "mean_term",
            "squared",
            "the term of the means: squared as in the released code, or the norm as the paper prints it",
            ("squared", "norm"),
        ),
    ),
    signature_facts=(("pooling", "first-token"), ("ddof", "1"), ("trace", "singular-values")),
    missing=missing_model,
)
