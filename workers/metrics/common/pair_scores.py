"""The loop of metrics that compare a response with each reference by a model's vectors, and take
the best one.

Each distinct pair is compared once, however many systems gave it; what a comparison yields (several
numbers at once) is remembered, so that precision, recall and F1 in three processes cost one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from common.estimates import Undefined
from workers.inference.encoders.feature_store import FeatureStore
from workers.metrics.base import Account, Example, Progress, Read, Score
from workers.metrics.common.against_references import NO_REFERENCE
from workers.metrics.common.readability import ANOTHER_ORDER, NEARLY_ONE, ReadPair

Pair = tuple[str, str]
"""(response, reference)"""
Values = NDArray[np.float64]
CHARACTERS_AT_ONCE = 131_072
"""Of the responses of one block: about 30,000 tokens, 50 MB of states at 384 dimensions."""
_REMEMBERED_AT_ONCE = 10_000
READ_COLUMNS = 5


def read_columns(pair: ReadPair) -> tuple[int, int, int, int, int]:
    """What was read of a pair, as the last ``READ_COLUMNS`` columns of a comparison's values.

    Returns:
        Tokens of the response and how many of them are unknown, both of the reference, and 1 where
        the two texts are the same tokens, else 0.
    """
    return (*pair.response, *pair.reference, int(pair.same_tokens))


def _read_pair(values: Values) -> ReadPair:
    response, of_it, reference, of_that, same = values[-READ_COLUMNS:].tolist()
    return ReadPair(Read(int(response), int(of_it)), Read(int(reference), int(of_that)), bool(same))


class PairComparison(Protocol):
    """Compares texts with a model. One is made for each call of a scorer."""

    store: FeatureStore
    namespace: str
    """What makes the values of a pair of texts what they are; "" where more than the two texts
    does."""
    width: int
    """How many numbers one comparison yields. The last five say what was read: tokens of the
    response and how many of them are unknown, both of the reference, and 1 where the two texts are
    the same tokens (``read_columns``)."""

    def compare(self, pairs: Sequence[Pair]) -> Values:
        """Compare each pair once.

        Args:
            pairs: distinct (response, reference) texts, already prepared.

        Returns:
            (pairs, ``width``): a row for each pair. NaN where a value does not exist.
        """
        ...

    def finish(self, column: int, value: float) -> float:
        """Score that the best value of a column stands for.

        Args:
            column: in which the value stands.
            value: not NaN.
        """
        ...

    def account(self) -> Account:
        """Run metadata: which model compares, and how."""
        ...


class BestReference:
    """A ``TurnScorer``: of the values that a comparison yields for each reference, the best of one
    column.

    ``make`` gets the references of all turns of the corpus, in their order: what a corpus-wide
    weight (idf) is made of. A caller who does not ``see_corpus`` gives those of the distinct turns
    of the call. A reference that is empty or white space is none; a turn without one has no score.
    """

    def __init__(
        self,
        make: Callable[[Sequence[str]], PairComparison],
        column: int,
        prepare: Callable[[str], str],
        undefined: Callable[[Pair], Undefined],
        remark: Callable[[Values], str] = lambda _: "",
    ) -> None:
        self._make = make
        self._column = column
        self._prepare = prepare
        self._undefined = undefined
        self._remark = remark
        self._corpus: Sequence[Example] = ()
        self._account = Account()

    def see_corpus(self, turns: Sequence[Example]) -> None:
        """Take corpus-wide weights (idf) from these turns in the next calls.

        A weight that is made of all turns is the same whatever a system has answered, and whoever
        is computed beside it.

        Args:
            turns: all turns of the corpus that the next calls' examples are of, answered or not.
        """
        self._corpus = turns

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Score each response against its best reference; see ``TurnScorer.score``.

        Returns:
            One score per example, in order: the best value of the column, as ``finish`` turns it
            into a score. ``Undefined`` where the turn has no reference, where no value of the pairs
            exists, or where the model cannot read or tell apart the texts.
        """
        pairs, pairs_of = self._distinct_pairs(examples)
        turns = {
            (example.dialogue_id, example.turn): example.references
            for example in self._corpus or examples
        }
        comparison = self._make(
            [self._prepare(reference) for references in turns.values() for reference in references]
        )
        self._account = comparison.account()  # now, too: a run shows with what it is computed
        values = _all_values(comparison, pairs, _share_of(progress, len(examples), len(pairs)))
        remarks: dict[int, str] = {}
        read: list[Read] = []
        scores: list[Score] = []
        for index, mine in enumerate(pairs_of):
            score, of_example = self._best(comparison, values, mine, pairs)
            scores.append(score)
            read.append(of_example)
            for pair in mine:
                if remark := self._remark(values[pair]):
                    remarks[index] = remark
            if isinstance(score, float) and self._is_of_another_order(values, mine, pairs):
                remarks[index] = "; ".join(filter(None, [remarks.get(index, ""), ANOTHER_ORDER]))
        if progress is not None and examples:
            progress(len(examples))
        self._account = replace(comparison.account(), remarks=remarks, read=read)
        return scores

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def _distinct_pairs(self, examples: Sequence[Example]) -> tuple[list[Pair], list[list[int]]]:
        """Every pair once, and for each example the places of its pairs."""
        index_of: dict[Pair, int] = {}
        prepared: dict[str, str] = {}

        def ready(text: str) -> str:
            known = prepared.get(text)
            if known is None:
                known = prepared[text] = self._prepare(text)
            return known

        pairs_of = []
        for example in examples:
            response = ready(example.response)
            inputs = [
                (response, ready(reference))
                for reference in example.references
                if reference.strip()
            ]
            pairs_of.append([index_of.setdefault(pair, len(index_of)) for pair in inputs])
        return list(index_of), pairs_of

    def _is_of_another_order(self, values: Values, mine: list[int], pairs: list[Pair]) -> bool:
        """Whether the best value is that of equal texts, and no text is equal. Upper and lower case
        may be one."""
        best = max(
            mine, key=lambda index: float(np.nan_to_num(values[index, self._column], nan=-np.inf))
        )
        if not values[best, self._column] >= NEARLY_ONE:
            return False
        return all(
            pairs[index][0] != pairs[index][1] and not _read_pair(values[index]).same_tokens
            for index in mine
        )

    def _best(
        self, comparison: PairComparison, values: Values, mine: list[int], pairs: list[Pair]
    ) -> tuple[Score, Read]:
        """The score, and what was read of the response and all its references."""
        if not mine:
            return NO_REFERENCE, Read(0)
        read = [_read_pair(values[index]) for index in mine]
        whole = Read(
            read[0].response.tokens + sum(one.reference.tokens for one in read),
            read[0].response.unknown + sum(one.reference.unknown for one in read),
        )
        defined: list[float] = []
        faults: list[Undefined] = []
        for index, of_pair in zip(mine, read, strict=True):
            value = float(values[index, self._column])
            if value != value:
                continue
            if fault := of_pair.fault(pairs[index][0] == pairs[index][1], value):
                faults.append(fault)
            else:
                defined.append(value)
        if defined:
            return comparison.finish(self._column, max(defined)), whole
        return faults[0] if faults else self._undefined(pairs[mine[0]]), whole


def _share_of(progress: Progress | None, examples: int, pairs: int) -> Callable[[int], None]:
    """Progress in examples, told in pairs: the whole is told at the end, when all have their
    score."""

    def tell(done: int) -> None:
        if progress is not None and done < pairs:
            progress(examples * done // pairs)

    return tell


def _all_values(
    comparison: PairComparison, pairs: list[Pair], tell: Callable[[int], None]
) -> Values:
    """pairs × width: those that the store knows, and the rest block after block."""
    values = np.full((len(pairs), comparison.width), np.nan)
    unknown = _fill_remembered(comparison, pairs, values)
    done = len(pairs) - len(unknown)
    tell(done)
    for block in _blocks([pairs[index] for index in unknown]):
        indices = [unknown[one] for one in block]
        inputs = [pairs[index] for index in indices]
        # As they are remembered: two systems that say the same are equal to the last digit, in
        # whatever calls.
        values[indices] = comparison.compare(inputs).astype(np.float32)
        if comparison.namespace:
            comparison.store.put_many(
                comparison.namespace,
                {_key(pairs[index]): values[index].astype(np.float32) for index in indices},
            )
        done += len(indices)
        tell(done)
    return values


def _fill_remembered(comparison: PairComparison, pairs: list[Pair], values: Values) -> list[int]:
    """Puts what the store knows into ``values``; returns the places of the rest."""
    if not comparison.namespace:
        return list(range(len(pairs)))
    unknown: list[int] = []
    for start in range(0, len(pairs), _REMEMBERED_AT_ONCE):
        keys = [_key(pair) for pair in pairs[start : start + _REMEMBERED_AT_ONCE]]
        known: Mapping[str, NDArray[np.float32]] = comparison.store.get_many(
            comparison.namespace, keys
        )
        for index, key in enumerate(keys, start):
            row = known.get(key)
            if row is not None and row.shape == (comparison.width,):
                values[index] = row
            else:
                unknown.append(index)
    return unknown


def _key(pair: Pair) -> str:
    """The length keeps ("a", "bc") and ("ab", "c") apart."""
    return f"{len(pair[0])}:{pair[0]}{pair[1]}"


def _blocks(pairs: list[Pair]) -> Iterator[list[int]]:
    """Places of pairs, a block at a time. All pairs of a response are in one block, so that it is
    encoded once; the responses to one reference stand together as far as that allows, so that few
    references are needed at a time."""
    first_reference: dict[str, int] = {}
    of_response: dict[str, list[int]] = {}
    for index, (response, reference) in enumerate(pairs):
        first_reference.setdefault(reference, index)
        of_response.setdefault(response, []).append(index)
    in_order = sorted(of_response.items(), key=lambda item: first_reference[pairs[item[1][0]][1]])
    block: list[int] = []
    characters = 0
    for response, indices in in_order:
        if block and characters + len(response) > CHARACTERS_AT_ONCE:
            yield block
            block, characters = [], 0
        block += indices
        characters += len(response) + 20  # the array around an empty text takes space, too
    if block:
        yield block
