"""What lexical metrics share: a text's tokens and n-gram counts, the normalisation, the longest
common subsequence and the F-measure.

Normalisation is the rule of ParlAI's F1 metric, which the CPD challenge kit uses: lower case; each
ASCII punctuation mark becomes a space; the articles *a*, *an* and *the* become a space; white space
is collapsed. Marks outside ASCII (a curly apostrophe, an ellipsis sign) stay: the rule names ASCII
only.

All systems of a corpus answer the same turns, so the same references come back with every system,
and the same response comes back with every metric. Counting each once is most of what makes the
lexical metrics fast.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_PUNCTUATION_TO_SPACE = str.maketrans(dict.fromkeys(string.punctuation, " "))
_ARTICLES = frozenset({"a", "an", "the"})
# A word boundary, not white space, ends an article: in "a’la" the "a" goes, because ’ is neither a
# letter nor ASCII.
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalise(text: str) -> str:
    """Normalise a text by the rule of ParlAI's F1 metric.

    Returns:
        The text in lower case, without ASCII punctuation and articles, words separated by single
        spaces; "" where nothing is left.
    """
    return " ".join(normalised_tokens(text))


def normalised_tokens(text: str) -> list[str]:
    """Words of the normalised text.

    Returns:
        In order; see ``normalise``.
    """
    without_punctuation = text.lower().translate(_PUNCTUATION_TO_SPACE)
    words = without_punctuation.split()
    if is_plain(words):
        # Every word boundary is white space here, so an article is a word: the same rule, four
        # times as fast.
        return [word for word in words if word not in _ARTICLES]
    return _ARTICLE.sub(" ", without_punctuation).split()


def is_plain(words: Sequence[str]) -> bool:
    """Whether the words hold nothing but ASCII letters and digits; true where there are none."""
    joined = "".join(words)
    return joined.isascii() and (joined.isalnum() or not joined)


def longest_common_subsequence(response: TokenisedText, reference: TokenisedText) -> int:
    """Length of the longest common subsequence of words: in order in both texts, gaps allowed.

    Bit-parallel (Hyyrö, 2004, "Bit-parallel LCS-length computation revisited"): one row of the
    usual table is one integer, and a cleared bit marks a position where the length grows. One
    addition per word instead of a row of comparisons.

    Returns:
        Words, from 0 to the length of the shorter text.
    """
    everywhere = (1 << len(reference.tokens)) - 1
    row = everywhere
    positions = reference.positions
    for word in response.tokens:
        indices = positions.get(word)
        if indices is not None:
            matches = row & indices
            row = ((row + matches) | (row - matches)) & everywhere
    return len(reference.tokens) - row.bit_count()


def f_measure(matched: int, response_total: int, reference_total: int) -> float:
    """Harmonic mean of precision and recall.

    Args:
        matched: words or n-grams in common, at most the smaller total.
        response_total: all of the response.
        reference_total: all of the reference.

    Returns:
        In [0, 1]; 0 where nothing matches, whatever the totals.

    F1 = 2PR / (P + R), P = matched / response_total, R = matched / reference_total.
    """
    if matched == 0:
        return 0.0
    precision, recall = matched / response_total, matched / reference_total
    return 2 * precision * recall / (precision + recall)


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
