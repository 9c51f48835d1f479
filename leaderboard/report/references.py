"""What the statistics of a report are from. Metrics bring their own citations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
