"""BLEURT: one number for (reference, response) by a head that was trained on ratings (Sellam et al.
2020).

ŷ = W · v_[CLS] + b, v_[CLS] the state of the first token of a BERT-like encoder that reads
reference and response as a pair. With several references the score is that against the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workers.metrics.base import Account, Example, Metric, OptionValue, Progress, Score
from workers.metrics.common.against_references import NO_REFERENCE
from workers.metrics.common.options import (
    NORMALIZE_AS_IT_IS,
    SYSTEMS_AT_ONCE,
    account_of,
    each_once,
    model_option,
    number,
    preparation,
    why_no_checkpoint,
)
from workers.metrics.common.readability import read_of_pairs
from workers.metrics.common.tokenisation import UNICODE

if TYPE_CHECKING:
    from workers.inference.encoders.sequence_scorer import SequenceScorer


class Bleurt:
    """A ``TurnScorer``."""

    def __init__(self, load: Callable[[], SequenceScorer], normalize: bool, unicode: str) -> None:
        self._load = load
        self._clean = preparation(normalize, unicode)
        self._account = Account()

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """BLEURT of each response against its best reference; see ``TurnScorer.score``.

        Returns:
            One score per example, in order, on the checkpoint's own scale; higher is better.
            ``Undefined`` where the turn has no reference, an output is not finite, or the model
            cannot read or tell apart the texts.
        """
        model, remarks = self._load(), dict[int, str]()
        self._account = account_of(model, remarks, (("max_tokens", str(model.max_tokens)),))
        pairs = [
            [
                (self._clean(reference), self._clean(example.response))
                for reference in _given(example)
            ]
            for example in examples
        ]
        found = iter(
            each_once(
                [pair for of_one in pairs for pair in of_one], model.scores, progress, len(examples)
            )
        )
        scores: list[Score] = []
        for index, of_one in enumerate(pairs):
            answers = [next(found) for _ in of_one]
            if any(answer.cut for answer in answers):
                remarks[index] = f"reference and response were cut at {model.max_tokens} tokens"
            scores.append(
                best_number([answer.value for answer in answers]) if answers else NO_REFERENCE
            )
        self._account = replace(self._account, read=read_of_pairs(model, pairs, scores))
        return scores

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account


def best_number(values: Sequence[float]) -> Score:
    """Highest of a model's outputs for several references.

    Args:
        values: at least one.

    Returns:
        ``Undefined`` where one is NaN or infinite, as nobody knows whether it would have been the
        highest.
    """
    scores = [number(value) for value in values]
    defined = [score for score in scores if isinstance(score, float)]
    return (
        max(defined)
        if len(defined) == len(scores)
        else next(s for s in scores if not isinstance(s, float))
    )


def _given(example: Example) -> list[str]:
    return [reference for reference in example.references if reference.strip()]


def _build(options: Mapping[str, OptionValue]) -> Bleurt:
    from workers.inference.encoders.sequence_scorer import sequence_scorer_for

    return Bleurt(
        partial(sequence_scorer_for, str(options["model"])),
        bool(options["normalize"]),
        str(options["unicode"]),
    )


METRIC = Metric(
    name="bleurt",
    version="2",
    summary="How good a response is beside its reference, by a regression model trained on human "
    "ratings.",
    citation="Sellam, Das and Parikh (2020), BLEURT: Learning Robust Metrics for Text Generation, "
    "ACL",
    build=_build,
    needs=frozenset({"reference"}),
    queue="gpu",
    value_range=(None, None),
    options=(
        model_option("a BLEURT checkpoint"),
        NORMALIZE_AS_IT_IS,
        UNICODE,
    ),
    signature_facts=(("references", "best"),),
    missing=lambda options: why_no_checkpoint("bleurt", options),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{BLEURT}(r, h) = w \cdot v_{\text{[CLS]}}(r, h) + b",
    description=(
        "A BERT-like encoder reads the reference r and the response h as a pair, and a linear "
        "layer turns the state of its first token into one number. Encoder and layer were trained "
        "together to foresee people's ratings of translations, so the score knows paraphrase "
        "where word overlap does not. Of several references the one with the highest score "
        "counts. An empty response is scored like any other.\n\nIt needs a checkpoint, and there "
        "is no default: name a folder or a hub id. Every encoder that transformers loads with a "
        "head of one output will do; PyTorch copies of the BERT-based BLEURT checkpoints are "
        "such. BLEURT-20 and what was distilled of it (config.json: model_type bleurt) are read "
        "here, with their spm.model.\n\nThe scale is the checkpoint's own: some scores are below "
        "0 and some above 1, "
        "and those of two checkpoints are not comparable. It was trained on translations of news: "
        "that a good answer may say something else than the reference is nothing it has seen."
        "\n\nA checkpoint without that head is refused, as transformers would fill the place with "
        "random numbers. A pair that is too long loses the end of its longer text, as in the "
        "released code, and is remarked. Equal to a plain pass through the checkpoint, pair "
        "by pair; tested on small checkpoints with random weights, since no published one "
        "could be had."
    ),
)
