"""The cosine of a response with the utterance that it answers, by an encoder's sentence vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from common.estimates import Undefined
from workers.metrics.base import Account, Example, Metric, OptionValue, Progress, Score
from workers.metrics.common.options import (
    ENCODER,
    ENCODER_SYSTEMS_AT_ONCE,
    account_of,
    missing_model,
)

NOTHING_TO_COMPARE = Undefined("the response or the utterance before it is empty")


class Nearness:
    def __init__(self, model: str) -> None:
        self._model = model
        self._account = Account()

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        from workers.inference.encoders.encoder import encoder_for

        encoder = encoder_for(self._model)
        self._account = account_of(encoder, remarks={})
        pairs = [pair_of(example) for example in examples]
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = encoder.sentence_vectors(texts).values
        place = {text: row for row, text in enumerate(texts)}
        if progress is not None:
            progress(len(examples))
        return [
            float(vectors[place[pair[0]]] @ vectors[place[pair[1]]]) if pair else NOTHING_TO_COMPARE
            for pair in pairs
        ]

    def account(self) -> Account:
        return self._account


def pair_of(example: Example) -> tuple[str, ...]:
    said = example.context[-1].text.strip() if example.context else ""
    response = example.response.strip()
    return (said, response) if said and response else ()


def _build(options: Mapping[str, OptionValue]) -> Nearness:
    return Nearness(str(options["model"]))


METRIC = Metric(
    name="nearness",
    version="1",
    summary="Cosine of the response with the last utterance, by sentence vectors.",
    citation="Reimers and Gurevych (2019), Sentence-BERT, EMNLP",
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(-1.0, 1.0),
    options=(ENCODER,),
    signature_facts=(("pooling", "mean"),),
    missing=missing_model,
    systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
)
