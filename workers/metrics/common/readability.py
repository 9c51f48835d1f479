"""What a model could read of two texts: how many tokens, and how many of them it has no entry for.

All that a vocabulary does not hold becomes one token, so that a smile and a frown are the same to
the model. A score that hangs on such tokens alone says nothing of the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from common.estimates import Undefined
from workers.metrics.base import Read, Score

MOST_UNKNOWN = 0.2
"""A larger share of unknown tokens is remarked upon."""
NEARLY_ONE = 1 - 1e-6

UNREADABLE_RESPONSE = Undefined("the model knows no token of the response")
UNREADABLE_REFERENCE = Undefined("the model knows no token of the reference")
UNREADABLE_CONTEXT = Undefined("the model knows no token of the context")
UNREADABLE_RESPONSES = Undefined("the model knows no token of any response")
UNREADABLE_PEOPLE = Undefined("the model knows no token of any human reference")
ANOTHER_ORDER = (
    "1 though the texts differ: they hold the same words, whose order or number this metric does "
    "not see"
)
SAME_TO_THE_MODEL = Undefined(
    "to the model both texts are the same: where they differ it does not know the tokens"
)


@dataclass(frozen=True, slots=True)
class ReadPair:
    """What a model read of a response and of what it is compared with."""

    response: Read
    reference: Read
    same_tokens: bool

    @classmethod
    def of(cls, response: Sequence[int], reference: Sequence[int], unknown: int | None) -> ReadPair:
        """Count what a model read of two texts.

        Args:
            response: token ids, without special tokens.
            reference: token ids of what the response is compared with, without special tokens.
            unknown: id of the unknown token; None where the vocabulary has none.
        """
        return cls(
            read_of(response, unknown),
            read_of(reference, unknown),
            list(response) == list(reference),
        )

    @property
    def whole(self) -> Read:
        """Tokens of both texts together."""
        return Read(
            self.response.tokens + self.reference.tokens,
            self.response.unknown + self.reference.unknown,
        )

    def fault(self, texts_are_equal: bool, similarity: float) -> Undefined | None:
        """Why a similarity of the two texts is no score.

        Args:
            texts_are_equal: whether the texts are equal, not only their tokens.
            similarity: at most 1.

        Returns:
            The reason where the model knows no token of one text, or where the two look the same to
            it (equal tokens, or a similarity of 1 up to 1e-6) though they differ and some tokens
            are unknown. None where the similarity is a score.
        """
        for read, reason in (
            (self.response, UNREADABLE_RESPONSE),
            (self.reference, UNREADABLE_REFERENCE),
        ):
            if read.is_unreadable:
                return reason
        if texts_are_equal or not self.whole.unknown:
            return None
        return SAME_TO_THE_MODEL if self.same_tokens or similarity >= NEARLY_ONE else None


class Vocabulary(Protocol):
    """A model's tokeniser: what it makes of texts, and what it does not know."""

    @property
    def unknown_id(self) -> int | None:
        """Id of the unknown token; None where the vocabulary has none."""
        ...

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, in order, without special tokens."""
        ...


def read_of_pairs(
    vocabulary: Vocabulary, pairs: Sequence[Sequence[tuple[str, str]]], scores: list[Score]
) -> list[Read]:
    """Count the tokens of pairs, and make scores undefined that say nothing of the texts.

    Args:
        pairs: for each example its pairs (reference or context, response); none where the model was
            shown nothing.
        scores: one per example. Changed in place: a number whose example's pairs all have a fault
            (``ReadPair.fault``) is replaced by the first reason.

    Returns:
        For each example what was read of its pairs together; a response counts once for each pair.
    """
    texts = list(dict.fromkeys(text for of_one in pairs for pair in of_one for text in pair))
    ids = dict(zip(texts, vocabulary.token_ids(texts), strict=True))
    read: list[Read] = []
    for place, of_one in enumerate(pairs):
        found = [
            ReadPair.of(ids[response], ids[other], vocabulary.unknown_id)
            for other, response in of_one
        ]
        faults = [
            pair.fault(response == other, 0.0)
            for pair, (other, response) in zip(found, of_one, strict=True)
        ]
        if faults and all(faults) and isinstance(scores[place], float):
            scores[place] = faults[0] or scores[place]
        read.append(
            Read(sum(one.whole.tokens for one in found), sum(one.whole.unknown for one in found))
        )
    return read


def read_of_responses(
    vocabulary: Vocabulary,
    shown: Sequence[Sequence[str]],
    scores: list[Any] | None = None,
    unreadable_others: Undefined = UNREADABLE_CONTEXT,
) -> list[Read]:
    """Count the tokens of responses that are scored without a reference.

    Args:
        shown: for each example the response, then the texts it is judged by, such as the context;
            empty where the model is shown nothing.
        scores: of the same examples. Changed in place: where the model knows no token of the
            response, or none of the other texts, the score is replaced by the reason. None: tokens
            are only counted.
        unreadable_others: the reason where it knows none of the other texts.

    Returns:
        For each example what was read of the response.
    """
    texts = list(dict.fromkeys(text for of_one in shown for text in of_one))
    ids = vocabulary.token_ids(texts) if texts else []
    read = {
        text: read_of(of_text, vocabulary.unknown_id)
        for text, of_text in zip(texts, ids, strict=True)
    }
    found: list[Read] = []
    for place, of_one in enumerate(shown):
        response, *others = [read[text] for text in of_one] or [Read(0)]
        found.append(response)
        if scores is None or isinstance(scores[place], Undefined):
            continue
        if response.is_unreadable:
            scores[place] = UNREADABLE_RESPONSE
        elif sum_of(others).is_unreadable:
            scores[place] = unreadable_others
    return found


def sum_of(read: Iterable[Read]) -> Read:
    """Add up what was read of several texts.

    Returns:
        Tokens and unknown tokens, each summed; 0 of both for no text.
    """
    every = list(read)
    return Read(sum(one.tokens for one in every), sum(one.unknown for one in every))


def read_of(ids: Sequence[int], unknown: int | None) -> Read:
    """Count the tokens of one text.

    Args:
        ids: token ids, without special tokens.
        unknown: id of the unknown token; None where the vocabulary has none.

    Returns:
        How many ids there are, and how many of them are ``unknown``.
    """
    return Read(len(ids), 0 if unknown is None else sum(one == unknown for one in ids))


def unknown_remark(read: Read) -> str:
    """Remark on a text of which the model does not know too many tokens.

    Returns:
        ``35 % of the tokens are unknown to the model``; "" up to a share of ``MOST_UNKNOWN`` (0.2).
    """
    if read.unknown <= MOST_UNKNOWN * read.tokens:
        return ""
    return f"{read.unknown / read.tokens:.0%} of the tokens are unknown to the model".replace(
        "%", " %"
    )
