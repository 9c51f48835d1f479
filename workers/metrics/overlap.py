"""What word-overlap metrics share: the longest common subsequence and the F-measure."""

from __future__ import annotations

from workers.metrics.texts import TokenisedText


def longest_common_subsequence(response: TokenisedText, reference: TokenisedText) -> int:
    """The length of the longest sequence of words that occurs in both, in order, gaps allowed.

    Bit-parallel (Hyyrö, 2004, "Bit-parallel LCS-length computation revisited"): one row of the
    usual table is one integer, a cleared bit marks a place where the length grows. One addition a
    word instead of a row of comparisons.
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
    """The harmonic mean of precision and recall, in [0, 1]; 0 where nothing matches."""
    if matched == 0:
        return 0.0
    precision, recall = matched / response_total, matched / reference_total
    return 2 * precision * recall / (precision + recall)
