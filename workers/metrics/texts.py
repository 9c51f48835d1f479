"""A text as lexical metrics see it: its tokens, its n-gram counts, and a memory of those already
counted.

All systems of a corpus answer the same turns, so the same references come back with every system,
and the same response comes back with every metric. Counting each once is most of what makes the
lexical metrics fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MAX_REMEMBERED_TOKENS = 100_000
"""Per kind of analysis. Twice as many can be held at a time; a token with its n-grams takes about
half a kilobyte."""


class TokenisedText:
    """The tokens of one text in order; everything derived from them is made on first use and
    kept."""

    __slots__ = ("_counts", "_last_compared", "_positions", "tokens")

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self.tokens = tokens
        self._counts: dict[int, Counter[Any]] = {}
        self._positions: dict[str, int] | None = None
        self._last_compared: tuple[TokenisedText | None, dict[int, int]] = (None, {})

    def __len__(self) -> int:
        return len(self.tokens)

    def ngrams(self, order: int) -> Iterable[Any]:
        """N-grams in the order of the text.

        Args:
            order: words per n-gram, from 1.

        Returns:
            Words for order 1, tuples of words above; repeated ones come again.
        """
        tokens = self.tokens
        return tokens if order == 1 else zip(*(tokens[k:] for k in range(order)), strict=False)

    def ngram_counts(self, order: int) -> Counter[Any]:
        """How often each n-gram occurs.

        Args:
            order: words per n-gram, from 1.

        Returns:
            Counts by n-gram, as ``ngrams`` yields them. Cached: do not change it.
        """
        counts = self._counts.get(order)
        if counts is None:
            counts = self._counts[order] = Counter(self.ngrams(order))
        return counts

    def ngram_total(self, order: int) -> int:
        """Number of n-grams, repeated ones counted again.

        Args:
            order: words per n-gram, from 1.

        Returns:
            0 where the text is shorter than ``order``.
        """
        return max(0, len(self.tokens) - order + 1)

    def matched_ngrams(self, reference: TokenisedText, order: int) -> int:
        """Size of the bag intersection of two texts' n-grams.

        Cached for the last reference only: metric after metric asks for the same pair, and a
        response that is kept for long must not gather all references that it ever met.

        Args:
            order: words per n-gram, from 1.

        Returns:
            The number of n-grams that the two have in common, each counted as often as it occurs in
            both.
        """
        # Read and replaced whole, so that threads cannot mix two references' counts
        last = self._last_compared
        if last[0] is not reference:
            last = self._last_compared = (reference, {})
        matched = last[1].get(order)
        if matched is None:
            matched = last[1][order] = self._count_matches(reference.ngram_counts(order), order)
        return matched

    def _count_matches(self, in_reference: Counter[Any], order: int) -> int:
        matched = 0
        for ngram in in_reference.keys() & self.ngrams(order):
            count = in_reference[ngram]
            # What the reference holds once matches once: only what it repeats has to be counted in
            # the response.
            matched += 1 if count == 1 else min(count, self.ngram_counts(order)[ngram])
        return matched

    @property
    def positions(self) -> Mapping[str, int]:
        """Bit masks of where each word stands, for the bit-parallel LCS.

        Returns:
            For each word a number whose k-th bit is set where the k-th token is that word.
        """
        if self._positions is None:
            self._positions = {}
            for index, token in enumerate(self.tokens):
                self._positions[token] = self._positions.get(token, 0) | (1 << index)
        return self._positions


Analysis = Callable[[str], TokenisedText]


class RememberedAnalysis:
    """An analysis with a bounded memory, shared by everything in the process that asks for the same
    analysis.

    Two generations instead of a strict least-recently-used order: when the younger one is full it
    becomes the older one, and the older one is forgotten. A text that is used again moves to the
    younger. No lock is needed: the worst that two threads can do to each other is to analyse a text
    twice.
    """

    def __init__(self, analyse: Analysis, max_tokens: int = MAX_REMEMBERED_TOKENS) -> None:
        self._analyse = analyse
        self._max_tokens = max_tokens
        self.forget()

    def __call__(self, text: str) -> TokenisedText:
        known = self._younger.get(text)
        if known is None:
            known = self._older.get(text)
            if known is None:
                known = self._analyse(text)
            self._remember(text, known)
        return known

    def __len__(self) -> int:
        """The number of texts remembered (a text in both generations counts twice)."""
        return len(self._younger) + len(self._older)

    def forget(self) -> None:
        """Empty the cache."""
        self._younger: dict[str, TokenisedText] = {}
        self._older: dict[str, TokenisedText] = {}
        self._younger_tokens = 0

    def _remember(self, text: str, analysed: TokenisedText) -> None:
        self._younger[text] = analysed
        self._younger_tokens += len(analysed) + 1
        if self._younger_tokens > self._max_tokens:
            self._older, self._younger, self._younger_tokens = self._younger, {}, 0
