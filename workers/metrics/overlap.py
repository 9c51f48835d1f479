"""What word-overlap metrics share: the longest common subsequence and the F-measure."""

from __future__ import annotations

from workers.metrics.texts import TokenisedText


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
