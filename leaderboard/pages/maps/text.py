"""What one sees on a map, in a sentence made from its data: of metrics that say the same, of
metrics that follow people better than others, of responses beside references."""

from __future__ import annotations

from statistics import fmean

from common.tables.numerals import written
from leaderboard.answers.maps import ResponseMap
from leaderboard.estimate_cells import COEFFICIENTS
from leaderboard.pages.maps.tables import SIGNIFICANT, Comparisons, Correlations

NEARLY_THE_SAME, MUCH_THE_SAME = 0.9, 0.7
SYMBOLS = dict(COEFFICIENTS)
Finding = tuple[str, str]
"""What stands out, and the rest."""


def tied_text(found: Correlations) -> Finding:
    """The two that are most alike, how many pairs are, and the one that is least like the
    others."""
    values = {
        pair: estimate.value
        for pair, (estimate, _) in found.pairs.items()
        if estimate.value is not None
    }
    if not values:
        return "", "Between no two of these metrics there is a correlation."
    symbol = SYMBOLS[found.coefficient]
    (first, second), highest = max(values.items(), key=lambda one: one[1])
    phrase = "correlate most"
    if highest >= MUCH_THE_SAME:
        is_near = highest >= NEARLY_THE_SAME
        phrase = "correlate very strongly" if is_near else "correlate strongly"
    finding = (
        f"{found.names[first]} and {found.names[second]} {phrase} ({symbol} {written(highest, 2)})."
    )
    if len(values) == 1:
        return finding, ""
    same = sum(value >= NEARLY_THE_SAME for value in values.values())
    own: dict[int, list[float]] = {number: [] for number in found.names}
    for pair, value in values.items():
        for number in pair:
            own[number].append(value)
    means = {number: fmean(with_others) for number, with_others in own.items() if with_others}
    alone = min(means, key=lambda number: means[number])
    return finding, (
        f"{written(same, 0) if same else 'None'} of {written(len(values), 0)} pairs "
        f"{'reach' if same > 1 else 'reaches'} {NEARLY_THE_SAME}. {found.names[alone]} correlates "
        f"least with the others ({symbol} {written(means[alone], 2)} on average)."
    )


def ahead_text(found: Comparisons) -> Finding:
    """How many pairs differ beyond chance, and the metric that is better than most others."""
    tests = len(found.pairs)
    if not tests:
        return "", "No two of these metrics could be tested against each other."
    better: dict[int, int] = dict.fromkeys(range(len(found.names)), 0)
    for (first, second), (difference, p) in found.pairs.items():
        if p < SIGNIFICANT and difference:
            better[first if difference > 0 else second] += 1
    differ = sum(better.values())
    if not differ:
        pairs = "The two metrics do not" if tests == 1 else f"No two of {len(found.names)} metrics"
        return (
            f"{pairs} differ significantly:",
            "which of them correlates better with human ratings may be chance.",
        )
    best = max(better, key=lambda number: (better[number], found.lead(number)))
    others = sum(best in pair for pair in found.pairs)
    rest = (
        f"{written(differ, 0)} of {written(tests, 0)} pairs differ by more than chance (Holm's "
        "correction)."
    )
    behind = f"all {others}" if better[best] == others else f"{better[best]} of {others}"
    return f"{found.names[best]} correlates better with human ratings than {behind} others.", rest


def similarity_text(document: ResponseMap) -> Finding:
    """Whose responses lie nearest to the references and whose farthest, and how much of it all a
    plane shows."""
    names = {one.position: one.system for one in document.systems if not one.repeats_references}
    near: dict[int, list[float]] = {}
    for point in document.points:
        if point.cosine is not None and point.system is not None and point.system in names:
            near.setdefault(point.system, []).append(point.cosine)
    means = {position: fmean(cosines) for position, cosines in near.items()}
    shown = sum(document.explained)
    plane = (
        f"Two principal components hold {written(100 * shown, 0)} % of the variance between the "
        "texts."
    )
    if not means:
        return "", plane
    nearest, farthest = (
        max(means, key=lambda one: means[one]),
        min(means, key=lambda one: means[one]),
    )
    finding = (
        f"{names[nearest]}’s responses lie nearest to the references (mean cosine "
        f"{written(means[nearest], 2)})"
    )
    if nearest == farthest:
        return f"{finding}.", plane
    return f"{finding}, {names[farthest]}’s farthest ({written(means[farthest], 2)}).", plane
