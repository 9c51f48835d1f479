"""Which metrics are not significantly different, read from the stored comparisons of all pairs.

One test decides everything that a board says of equality: letters, "tied with the best" and the
sentence above the table (``leaderboard.statistics.significance.compact_letters``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from common.tables.numerals import letter
from leaderboard.answers.metrics import MetricComparisons

LEVEL_OF_TESTS = 0.05
SHARED_LETTER = "Two metrics that share a letter are not significantly different."
MOST_LETTERS = 9
"""With more groups letters are no longer read: "tied with the best" says what matters."""


@dataclass(frozen=True)
class Letters:
    """Of one level and coefficient."""

    groups: Mapping[str, Sequence[int]]
    """A metric without one was not compared."""
    ahead: Collection[tuple[str, str]]
    """Pairs of which the first is significantly ahead of the second, on what both scored."""
    description: str

    def of(self, metric: str) -> str:
        """ "ab"; "" for a metric that was not compared, or where there are too many groups."""
        if max((max(groups) for groups in self.groups.values()), default=0) >= MOST_LETTERS:
            return ""
        return "".join(letter(group) for group in self.groups.get(metric, ()))

    def tied_with(self, metric: str, among: Sequence[str]) -> list[str] | None:
        """Those that are not significantly different from this metric; None where none was compared
        with it."""
        own = set(self.groups.get(metric, ()))
        compared = [other for other in among if own and other in self.groups]
        return [other for other in compared if own & set(self.groups[other])] if compared else None

    def ahead_of(self, metric: str, among: Sequence[str]) -> list[str]:
        """Those that are significantly ahead of this metric, though its coefficient on all it
        scored be the higher."""
        return [other for other in among if (other, metric) in self.ahead]


def letters_by_metric(comparisons: MetricComparisons | None, coefficient: str) -> Letters | None:
    """None where nothing is stored yet, or no pair was tested of this coefficient."""
    found = comparisons.coefficients.get(coefficient) if comparisons else None
    if comparisons is None or found is None:
        return None
    names = comparisons.metrics
    tested = [pair for pair in found.pairs if pair.p_holm is not None]
    if not tested:
        return None
    ahead = {
        (names[one.first], names[one.second])
        if one.difference > 0
        else (names[one.second], names[one.first])
        for one in tested
        if one.difference and one.p_holm is not None and one.p_holm < LEVEL_OF_TESTS
    }
    pairs = "one pair" if len(tested) == 1 else f"all {len(tested)} pairs"
    return Letters(
        groups={metric: groups for metric, groups in found.groups.items() if groups},
        ahead=ahead,
        description=f"{SHARED_LETTER} Tested by {comparisons.method}, which speaks of "
        f"{comparisons.population}; Holm's correction for {pairs}, 5 %.",
    )


def why_no_letters(comparisons: MetricComparisons | None, coefficient: str) -> str:
    """ "" where there are some, or nothing is stored yet."""
    return comparisons.not_compared.get(coefficient, "") if comparisons else ""
