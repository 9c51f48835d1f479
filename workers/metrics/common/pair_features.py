"""What distribution metrics share: pairs (context, response) of the system and of the human
references as points, and a comparison of the two.

A pair's point is the first token's state of context and response encoded together (Xiang et al.,
2021, section 4.1). The references' pairs are contexts with what people answered there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.estimates import Undefined
from workers.inference.encoders.encoder import TextEncoder, encoder_for
from workers.metrics.base import Account, Example, Progress, Score
from workers.metrics.common.readability import (
    UNREADABLE_PEOPLE,
    UNREADABLE_RESPONSES,
    read_of_responses,
    sum_of,
)

Points = NDArray[np.float32]
"""Pairs × dimensions."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Score of a system against people."""

    score: Score
    details: Mapping[str, Any] = field(default_factory=dict)
    """More than the score, as JSON."""


Compare = Callable[[Points, Points], Comparison]
"""Compares a system's points with the human references'."""

PRECISION = "float32"
"""Points in bfloat16 fall into other clusters: PRD's order of the demo's systems changed, by more
than its seeds change it (docs/metrics.md)."""
NO_RESPONSE = Undefined("the system gave no response")
NO_HUMAN_REFERENCE = Undefined("there are no human references")


class AgainstPeople:
    """A ``SystemScorer``: encodes the system's pairs and the human references', then compares the
    two sets of points."""

    def __init__(self, model: str, layer: int, compare: Compare) -> None:
        self._model = model
        self._layer = layer
        self._compare = compare
        self._account = Account()
        self._turns = 0

    def see_corpus(self, turns: Sequence[Example]) -> None:
        """Note how many turns the corpus has: a system that answered fewer gets a warning.

        Args:
            turns: all turns of the corpus that the next calls' examples are of.
        """
        self._turns = len(turns)

    def score_system(
        self,
        examples: Sequence[Example],
        human: Sequence[Example],
        progress: Progress | None = None,
    ) -> Score:
        """Compare a system with people; see ``SystemScorer.score_system``.

        Returns:
            One score; ``Undefined`` where either side is empty, too small for the comparison, or
            nothing to the model.
        """
        # At each call: a kept scorer holds no model, and weights may be replaced
        encoder = encoder_for(self._model, PRECISION)
        self._account = _run_info_of(encoder, frozenset(), 0, {})
        if not examples:
            return NO_RESPONSE
        if not human:
            return NO_HUMAN_REFERENCE
        read = read_of_responses(encoder, [pair_of(one)[1:] for one in examples])
        self._account = replace(self._account, read=read)
        if sum_of(read).is_unreadable:
            return UNREADABLE_RESPONSES
        # One by one: the first that can be read ends it.
        if all(read_of_responses(encoder, [pair_of(one)[1:]])[0].is_unreadable for one in human):
            return UNREADABLE_PEOPLE
        both = pair_points(
            encoder, [*examples, *human], self._layer, _as_share_of(progress, examples, human)
        )
        result = self._compare(both.values[: len(examples)], both.values[len(examples) :])
        details = dict(result.details)
        if len(examples) < self._turns:
            details["warning"] = (
                f"scored on {len(examples)} of {self._turns} turns, as {both.values.shape[1]} "
                "numbers each: fewer responses lie further from people's by that alone, so "
                "compare it only with systems that answered the same turns, or as many of their "
                "own"
            )
        self._account = replace(_run_info_of(encoder, both.cut, len(examples), details), read=read)
        return result.score

    def prepare(self, examples: Sequence[Example], progress: Progress | None = None) -> None:
        """Encode the pairs of several systems, which the encoder caches.

        Together they fill its batches with pairs of similar length, and people's are among them
        once.

        Args:
            examples: of all systems and of people.
            progress: called with the number of examples finished so far; None to report nothing.
        """
        encoder = encoder_for(self._model, PRECISION)
        self._account = _run_info_of(encoder, frozenset(), 0, {})
        pair_points(encoder, examples, self._layer, progress)

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account


@dataclass(frozen=True, slots=True)
class PairPoints:
    """Points of several pairs, and which pairs were cut."""

    values: Points
    cut: frozenset[int]
    """Places of the pairs that were longer than the model takes."""


def pair_points(
    encoder: TextEncoder, examples: Sequence[Example], layer: int, progress: Progress | None = None
) -> PairPoints:
    """Encode each example's context and response as one point.

    Args:
        layer: whose states are the points: 1 is the first, −1 the last.
        progress: called with the number of pairs encoded so far; None to report nothing.

    Returns:
        (examples, dimensions) points in order, and the indices of the pairs that were cut.

    Raises:
        ValueError: the model gives anything but finite numbers.
        ModelError: the model has no class token.
    """
    vectors = encoder.pair_states([pair_of(example) for example in examples], layer, progress)
    wrong = int((~np.isfinite(vectors.values)).any(axis=1).sum())
    if wrong:
        raise ValueError(
            f"{encoder.files.label} gave no finite state for {wrong} of {len(examples)} pairs"
        )
    return PairPoints(vectors.values, vectors.cut)


def pair_of(example: Example) -> tuple[str, str]:
    """Context and response of an example as two texts.

    Returns:
        The context's utterances joined by spaces, as in the paper's corpora, and the response. An
        empty response stays: a system that says nothing differs from people by that.
    """
    return " ".join(
        utterance.text.strip() for utterance in example.context
    ), example.response.strip()


def _as_share_of(
    progress: Progress | None, examples: Sequence[Example], human: Sequence[Example]
) -> Progress | None:
    """People's pairs are encoded too, but a run counts the system's responses."""
    if progress is None:
        return None
    total = len(examples) + len(human)
    return lambda done: progress(done * len(examples) // total)


def _run_info_of(
    encoder: TextEncoder, cut: frozenset[int], systems: int, details: Mapping[str, Any]
) -> Account:
    cut_people = sum(index >= systems for index in cut)
    noted = {
        "pairs_cut": {
            "system": len(cut) - cut_people,
            "human": cut_people,
            "why": f"with the response the context is longer than {encoder.max_tokens} tokens: "
            "its beginning was left out",
        }
    }
    return Account(
        model=encoder.files.label,
        device=encoder.device_label,
        facts=(("dtype", encoder.dtype_name),),
        details={**details, **(noted if cut else {})},
    )
