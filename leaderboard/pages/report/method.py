"""The method section of a report, said of the documents that are in it and of nothing else, and
what its statistics are from. Metrics bring their own citations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotations.agreement.report import AgreementReport
from common.tables.numerals import written
from common.text import enumeration
from leaderboard.answers.metrics import MetricComparisons, MetricCorrelations
from leaderboard.answers.raters import RaterEffects
from leaderboard.board_text import design_text

WHAT_A_PAIR_IS = {
    "turn": "at turn level a pair is one response",
    "dialogue": (
        "at dialogue level one system in one dialogue, the metric's score being the mean over its "
        "turns unless it scores dialogues"
    ),
    "system": (
        "at system level one system, the metric's score being the mean over all its responses "
        "unless it scores systems"
    ),
}


@dataclass(frozen=True, slots=True)
class Method:
    """Paragraphs with their headings, and keys of ``references.STATISTICS``."""

    paragraphs: list[tuple[str, str]]
    cited: list[str]


def method_of(
    correlations: MetricCorrelations,
    comparisons: Mapping[str, MetricComparisons],
    agreement: Mapping[str, AgreementReport],
    rater_effects: RaterEffects | None,
) -> Method:
    """``comparisons`` and ``agreement`` by level; ``rater_effects`` None where nothing could be
    corrected."""
    paragraphs: list[tuple[str, str]] = []
    cited: list[str] = []
    if agreement:
        paragraphs.append(("Human ratings", _ratings(agreement)))
        cited.append("krippendorff")
    if correlations.rows:
        paragraphs.append(("Metrics and human ratings", _correlations(correlations)))
        paragraphs.append(("Intervals", _intervals(correlations)))
        paragraphs.append(("Ceiling", CEILING))
        cited += ["kendall", "jackknife", "attenuation", "spearman-brown"]
        cited += _accuracies(correlations)
    tested = {level: found for level, found in comparisons.items() if _tested(found)}
    if tested:
        paragraphs.append(("Differences of metrics", _differences(tested)))
        cited += ["permutation", "phipson", "holm"]
    design = design_text(correlations.design)
    paragraphs.append(("Systems", f"{SYSTEMS} {design}." if design else SYSTEMS))
    if rater_effects is not None:
        paragraphs.append(
            ("Raters", f"{_sentence(rater_effects.method)} Raters appear under pseudonyms.")
        )
        cited.append("mixed-model")
    paragraphs.append(("Missing and undefined", MISSING))
    return Method(paragraphs, cited)


SYSTEMS = (
    "A system's rank is 1 + the number of systems whose interval lies wholly above its own; the "
    "worst rank is the last place that the intervals allow. Systems whose intervals overlap "
    "through a chain of others share a band."
)
CEILING = (
    "The ceiling is the highest correlation that a perfect metric could reach with the mean of "
    "these ratings: the root of their reliability. The reliability correlates the means of two "
    "random halves of the raters of each item, at the level where metrics are, raised to the full "
    "number of raters by the Spearman–Brown formula; for Spearman's ρ that is an approximation, "
    "for Kendall's τ there is none. Leave-one-out agreement is each rater's scores against the "
    "mean of the other raters' on the same items, averaged over raters: it needs identified "
    "raters, and a metric may exceed it."
)
MISSING = (
    "What a metric has no score for is left out of its own numbers, pair by pair, and never "
    "filled in; coverage is the share of rated responses that have a score. A number that does "
    "not exist is a dash with its reason: it is never 0 and never ranked."
)


def _ratings(agreement: Mapping[str, AgreementReport]) -> str:
    sentences = [
        (
            f"{written(one.ratings, 0)} ratings by {written(one.raters, 0)} raters of "
            f"{written(one.items, 0)} {'responses' if level == 'turn' else 'dialogues'}"
        )
        for level, one in agreement.items()
    ]
    return (
        f"{'; '.join(sentences)}. Agreement is Krippendorff's α with partial overlap of raters, "
        "Cohen's κ of pairs of raters aligned by item, Fleiss' κ and the intraclass correlations "
        "ICC(2,1) and ICC(2,k); intervals leave out one dialogue at a time (jackknife, Student's "
        "t)."
    )


def _correlations(document: MetricCorrelations) -> str:
    levels = list(dict.fromkeys(row.level for row in document.rows))
    pairs = "; ".join(WHAT_A_PAIR_IS[level] for level in levels)
    return (
        "Pearson's r, Spearman's ρ and Kendall's τ-b between a metric's scores and the human "
        f"score “{document.aspect}”, with their signs: {pairs}. Human scores are means over "
        f"the raters of an item. {written(len(document.systems), 0)} systems were compared."
    )


def _intervals(document: MetricCorrelations) -> str:
    """In the words that came with the numbers; they say of what population an interval speaks."""
    methods: dict[str, list[str]] = {}
    for level, words in document.interval.items():
        methods.setdefault(words, []).append(level)
    sentences = " ".join(
        _sentence(f"{enumeration(levels)} level: {words}") for words, levels in methods.items()
    )
    return f"All intervals are of 95 %. {sentences} Seed {document.seed}.".replace("  ", " ")


def _accuracies(document: MetricCorrelations) -> list[str]:
    keys = {
        "pairwise_accuracy": "pairwise",
        "soft_pairwise_accuracy": "soft-pairwise",
        "tie_calibrated_accuracy": "ties",
    }
    return [cited for key, cited in keys.items() if any(row.accuracy(key) for row in document.rows)]


def _tested(document: MetricComparisons) -> bool:
    return any(found.pairs for found in document.coefficients.values())


def _differences(tested: Mapping[str, MetricComparisons]) -> str:
    one = next(iter(tested.values()))
    pairs = {
        level: next(len(found.pairs) for found in document.coefficients.values() if found.pairs)
        for level, document in tested.items()
    }
    counted = ", ".join(
        f"{written(count, 0)} pairs at {level} level" for level, count in pairs.items()
    )
    return (
        f"{_sentence(one.method)} {written(one.permutations, 0)} permutations, seed "
        f"{one.seed}; {counted}. p counts the observed order among the permutations, so that "
        "it is never 0, and is adjusted by Holm's method over all pairs of a level. Metrics that "
        "share a letter are not significantly different."
    )


def _sentence(words: str) -> str:
    text = words.strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


STATISTICS: Mapping[str, str] = {
    "krippendorff": (
        "Krippendorff (2004), Content Analysis: An Introduction to Its Methodology, 2nd edition."
    ),
    "kendall": "Kendall (1945), The Treatment of Ties in Ranking Problems, Biometrika 33(3).",
    "jackknife": (
        "Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapters 8, 11 and 13."
    ),
    "fisher": "Fisher (1921), On the “probable error” of a coefficient of correlation, Metron 1.",
    "permutation": (
        "Deutsch, Dror & Roth (2021), A Statistical Analysis of Summarization Evaluation Metrics "
        "Using Resampling Methods, TACL 9."
    ),
    "phipson": (
        "Phipson & Smyth (2010), Permutation P-values Should Never Be Zero, Statistical "
        "Applications in Genetics and Molecular Biology 9(1)."
    ),
    "holm": (
        "Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian "
        "Journal of Statistics 6(2)."
    ),
    "attenuation": (
        "Spearman (1904), The Proof and Measurement of Association between Two Things, American "
        "Journal of Psychology 15(1)."
    ),
    "spearman-brown": (
        "Spearman (1910), Correlation Calculated from Faulty Data; Brown (1910), Some "
        "Experimental Results in the Correlation of Mental Abilities, British Journal of "
        "Psychology 3."
    ),
    "pairwise": (
        "Kocmi et al. (2021), To Ship or Not to Ship: An Extensive Evaluation of Automatic "
        "Metrics for Machine Translation, WMT."
    ),
    "soft-pairwise": (
        "Thompson et al. (2024), Improving Statistical Significance in Human Evaluation of "
        "Automatic Metrics via Soft Pairwise Accuracy, WMT."
    ),
    "ties": (
        "Deutsch, Foster & Freitag (2023), Ties Matter: Meta-Evaluating Modern Metrics with "
        "Pairwise Accuracy and Tie Calibration, EMNLP."
    ),
    "mixed-model": (
        "Patterson & Thompson (1971), Recovery of Inter-Block Information when Block Sizes are "
        "Unequal, Biometrika 58(3)."
    ),
}


def reference_list(statistics: Iterable[str], metrics: Iterable[str]) -> list[str]:
    """Each once, in the order of the alphabet. ``statistics``: keys of ``STATISTICS``; ``metrics``:
    citations."""
    found = {STATISTICS[key] for key in statistics} | {
        citation.strip() for citation in metrics if citation.strip()
    }
    return sorted(found, key=str.casefold)
