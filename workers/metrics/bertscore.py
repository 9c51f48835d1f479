"""BERTScore: precision, recall and F1 of greedily matched token states (Zhang et al., 2020, ICLR).

Equal to the package bert-score 0.3.13 on the same weights, but for the longest texts of one of its
batches: see ``token_matching``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from common.estimates import Undefined
from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.named_files import named_file
from workers.metrics.common.options import (
    ENCODER,
    ENCODER_SYSTEMS_AT_ONCE,
    NORMALIZE_AS_IT_IS,
    missing_model,
    preparation,
)
from workers.metrics.common.tokenisation import UNICODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workers.metrics.common.pair_scores import BestReference, Values

LAYER = Option(
    "layer",
    0,
    "the layer whose states are compared; 0: the one bert-score recommends for the model, else "
    "the last",
    least=0,
)
IDF = Option("idf", False, "weigh tokens by how few of the corpus's references hold them")
BASELINE = Option(
    "baseline",
    "",
    "a file of baselines to rescale by, laid out as bert-score's (LAYER,P,R,F); empty: none",
)

_EQUATION = (
    r"P = \frac{\sum_{x_i \in h} w(x_i) \max_{y_j \in r} x_i^{\top} y_j}{\sum_{x_i \in h} w(x_i)}"
    "\n\n"
    r"R = \frac{\sum_{y_j \in r} w(y_j) \max_{x_i \in h} x_i^{\top} y_j}{\sum_{y_j \in r} w(y_j)}"
    "\n\n"
    r"F_1 = \frac{2 P R}{P + R}"
)
_DESCRIPTION = """Every token of the response and of the reference becomes a vector that depends on
its sentence: its state in a layer of an encoder, of length one. Each token is then paired with the
most similar token of the other text. Precision is the mean of these cosines over the tokens of the
response, recall over those of the reference, and F1 their harmonic mean.

So a paraphrase is rewarded where n-grams see nothing in common. It remains a comparison with one
answer of many: a good answer that says something else scores low, and one that denies what the
reference says scores high, for most of their tokens are the same. Scores lie close together, and
where they lie depends on the model and the layer: compare them only under one signature. Rescaling
by a baseline spreads them and changes no rank.

layer=0 is the one that bert-score recommends for the model, else the last. With idf a token that c
of n references hold weighs log((n + 1) / (c + 1)), else 1; the n references are those of all turns
of the corpus, answered or not, so that a score does not depend on which others are given; where all
tokens of a text weigh 0, the score is undefined. baseline names a CSV file LAYER,P,R,F as
bert-score's: scores become (x − b) / (1 − b), also below 0. The special tokens around a text can be
matched but weigh nothing. An empty response scores 0, rescaled like any other.

It equals bert-score 0.3.13 on the same weights to 1e-5, with several references, idf, other layers
and baselines, but for one thing. The package takes each token's maximum over the padding of its
batch, too, which counts 0; so it clips negative maxima, except in the longest text of a batch (two
of USR's 300 scores, by 8e-4 and 2e-4). Here they are clipped always, so that no score depends on
what else is in the batch. RoBERTa's first word is taken as it is, as the package does with
transformers 5."""


def _missing(options: Mapping[str, OptionValue]) -> str:
    baseline = str(options["baseline"])
    if baseline and named_file(baseline) is None:
        return f"the file of baselines {baseline} is not there"
    return missing_model(options)


def _build(column: int, options: Mapping[str, OptionValue]) -> BestReference:
    from workers.inference.encoders.encoder import encoder_for
    from workers.inference.model_files import ModelError
    from workers.metrics.common.bertscore import own_layer, read_baseline
    from workers.metrics.common.pair_scores import BestReference
    from workers.metrics.common.token_matching import TokenMatching

    model, inputs, baseline = str(options["model"]), int(options["layer"]), str(options["baseline"])

    def make(references: Sequence[str]) -> TokenMatching:
        encoder = encoder_for(model)
        if not 0 <= inputs <= encoder.layers:
            raise ModelError(
                f"the model {model} has layers 1 to {encoder.layers}, and no layer {inputs}"
            )
        layer = inputs or own_layer(model, encoder.layers)
        documents = references if options["idf"] else None
        return TokenMatching(
            encoder, layer, documents, read_baseline(baseline, layer) if baseline else None
        )

    return BestReference(
        make,
        column,
        preparation(bool(options["normalize"]), str(options["unicode"])),
        undefined=lambda _: Undefined(
            "every token of the response or the reference is in all references and has an idf of 0"
        ),
        remark=_cut,
    )


def _cut(values: Values) -> str:
    from workers.metrics.common.token_matching import CUT

    texts = {0: "", 1: "the response", 2: "a reference", 3: "the response and a reference"}[
        int(values[CUT])
    ]
    return texts and f"{texts} was cut: the model takes no more tokens"


def _declare(letter: str, column: int, what: str) -> Metric:
    return Metric(
        name=f"bertscore_{letter}",
        version="2",
        summary=f"{what} of the best matches between the encoder's states of response and "
        "reference.",
        citation="Zhang et al. (2020), BERTScore: Evaluating Text Generation with BERT, ICLR",
        build=partial(_build, column),
        needs=frozenset({"reference"}),
        queue="gpu",
        value_range=(0.0, 1.0),
        options=(ENCODER, LAYER, IDF, BASELINE, NORMALIZE_AS_IT_IS, UNICODE),
        signature_facts=(("references", "best"),),
        missing=_missing,
        systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
        equation=_EQUATION,
        description=_DESCRIPTION,
    )


METRICS = (
    _declare("p", 0, "Precision"),
    _declare("r", 1, "Recall"),
    _declare("f1", 2, "F1"),
)
