"""What Xiang et al. (2021) print of their metrics on six corpora: correlations at system level, and
normality.

"Assessing Dialogue Systems with Distribution Distances", Findings of ACL 2021. The two versions of
the paper that we know print the same figures: of correlations in Table 1 of one and Table 3 of the
other, of normality in Tables 2 and 4. They are absolute values, rounded to three digits.
"""

from __future__ import annotations

from dataclasses import dataclass

CITATION = (
    "Xiang, Liu, Cai, Li, Lian & Liu (2021), Assessing Dialogue Systems with Distribution "
    "Distances, Findings of ACL-IJCNLP"
)

Pair = tuple[float, float]
"""|Spearman's ρ|, |Pearson's r|."""


@dataclass(frozen=True, slots=True)
class PublishedCorpus:
    slug: str
    """What we call it where nobody says otherwise: the name of its file."""
    title: str
    """As the table's head has it."""
    short: str
    """As the table of normality has it."""
    contexts: int


CORPORA = (
    PublishedCorpus("personam", "Persona(M)", "P(M)", 60),
    PublishedCorpus("dailyh", "Daily(H)", "D(H)", 150),
    PublishedCorpus("convai2", "Convai2", "C2", 150),
    PublishedCorpus("empathetic", "Empathetic", "EM", 150),
    PublishedCorpus("dailyz", "Daily(Z)", "D(Z)", 100),
    PublishedCorpus("personaz", "Persona(Z)", "P(Z)", 150),
)
"""In the order of the table's columns."""

BERT, ROBERTA = "BERT (base)", "RoBERTa (base)"


@dataclass(frozen=True, slots=True)
class PublishedMetric:
    metric: str
    group: str
    by_encoder: dict[str, tuple[Pair, ...]]
    """By encoder, "" for a metric that has none or whose table names none: a pair for each of
    ``CORPORA``."""


_LABELS, _EMBEDDINGS, _DISTRIBUTIONS = "Word overlap", "Embeddings", "Distributions"

CORRELATIONS = (
    PublishedMetric(
        "BLEU",
        _LABELS,
        {
            "": (
                (0.400, 0.672),
                (0.445, 0.444),
                (0.800, 0.801),
                (0.136, 0.331),
                (0.595, 0.421),
                (0.400, 0.390),
            )
        },
    ),
    PublishedMetric(
        "METEOR",
        _LABELS,
        {
            "": (
                (0.800, 0.860),
                (0.018, 0.050),
                (0.800, 0.767),
                (0.382, 0.133),
                (0.643, 0.689),
                (0.700, 0.936),
            )
        },
    ),
    PublishedMetric(
        "ROUGE-L",
        _LABELS,
        {
            "": (
                (0.600, 0.289),
                (0.545, 0.417),
                (0.200, 0.061),
                (0.391, 0.472),
                (0.738, 0.725),
                (0.400, 0.915),
            )
        },
    ),
    PublishedMetric(
        "Greedy",
        _EMBEDDINGS,
        {
            "": (
                (0.600, 0.260),
                (0.855, 0.764),
                (0.600, 0.794),
                (0.736, 0.864),
                (0.690, 0.726),
                (0.100, 0.835),
            )
        },
    ),
    PublishedMetric(
        "Average",
        _EMBEDDINGS,
        {
            "": (
                (0.800, 0.863),
                (0.209, 0.209),
                (0.600, 0.879),
                (0.664, 0.725),
                (0.548, 0.769),
                (0.300, 0.861),
            )
        },
    ),
    PublishedMetric(
        "Extrema",
        _EMBEDDINGS,
        {
            "": (
                (0.600, 0.435),
                (0.745, 0.761),
                (0.800, 0.766),
                (0.618, 0.722),
                (0.595, 0.746),
                (0.500, 0.834),
            )
        },
    ),
    PublishedMetric(
        "BERTScore",
        _EMBEDDINGS,
        {
            BERT: (
                (0.800, 0.590),
                (0.137, 0.082),
                (0.800, 0.817),
                (0.300, 0.077),
                (0.857, 0.883),
                (0.900, 0.961),
            ),
            ROBERTA: (
                (0.800, 0.517),
                (0.855, 0.857),
                (0.800, 0.939),
                (0.600, 0.697),
                (0.714, 0.860),
                (0.700, 0.918),
            ),
        },
    ),
    PublishedMetric(
        "FBD",
        _DISTRIBUTIONS,
        {
            BERT: (
                (1.000, 0.853),
                (0.564, 0.717),
                (0.800, 0.854),
                (0.427, 0.623),
                (0.786, 0.763),
                (0.400, 0.923),
            ),
            ROBERTA: (
                (1.000, 0.802),
                (0.891, 0.926),
                (0.800, 0.747),
                (0.864, 0.951),
                (0.929, 0.963),
                (1.000, 0.860),
            ),
        },
    ),
    PublishedMetric(
        "PRD",
        _DISTRIBUTIONS,
        {
            BERT: (
                (0.800, 0.637),
                (0.221, 0.409),
                (1.000, 0.972),
                (0.227, 0.399),
                (0.690, 0.914),
                (0.900, 0.984),
            ),
            ROBERTA: (
                (0.800, 0.660),
                (0.591, 0.578),
                (1.000, 0.913),
                (0.545, 0.583),
                (0.762, 0.906),
                (0.900, 0.932),
            ),
        },
    ),
)
"""In the order of the table's rows."""

NORMALITY = {
    BERT: ((0.57, 0.44), (0.65, 0.39), (0.60, 0.42), (0.65, 0.39), (0.67, 0.38), (0.65, 0.38)),
    ROBERTA: ((0.71, 0.38), (0.68, 0.37), (0.73, 0.34), (0.68, 0.37), (0.68, 0.37), (0.71, 0.33)),
}
"""By encoder, for each of ``CORPORA``: mean and standard deviation over dimensions of the
Shapiro–Wilk value."""
