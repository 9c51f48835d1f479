"""What Xiang et al. (2021) print of their metrics on six corpora: correlations at system level, of
Daily(Z) aspect by aspect, and normality.

"Assessing Dialogue Systems with Distribution Distances", Findings of ACL 2021. The two versions of
the paper that we know print the same figures: of correlations in Table 1 of one and Table 3 of the
other, by aspect in Tables 3 and 5, of normality in Tables 2 and 4. They are absolute values,
rounded to three digits.
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
    systems: tuple[str, ...]
    """The models that the table of corpora names, in no order of the files'."""
    decoding: tuple[str, ...] = ("default",)


_OF_GRADE = ("Transformer-Ranker", "Transformer-Generator")
_OF_ZHAO = ("Seq2Seq", "Attentional Seq2Seq", "HRED", "VHRED", "GPT2-sm", "GPT2-md")
_DECODINGS = ("greedy decoding", "ancestral sampling", "nucleus sampling")
CORPORA = (
    PublishedCorpus(
        "personam",
        "Persona(M)",
        "P(M)",
        60,
        (
            "Seq2Seq",
            "LSTM language model",
            "Key-Value Profile Memory Network",
            "generated, human-written",
        ),
    ),
    PublishedCorpus("dailyh", "Daily(H)", "D(H)", 150, _OF_GRADE),
    PublishedCorpus("convai2", "Convai2", "C2", 150, _OF_GRADE),
    PublishedCorpus("empathetic", "Empathetic", "EM", 150, _OF_GRADE),
    PublishedCorpus("dailyz", "Daily(Z)", "D(Z)", 100, _OF_ZHAO, _DECODINGS),
    PublishedCorpus("personaz", "Persona(Z)", "P(Z)", 150, _OF_ZHAO, _DECODINGS),
)
"""In the order of the table's columns."""

BERT, ROBERTA = "BERT (base)", "RoBERTa (base)"


@dataclass(frozen=True, slots=True)
class PublishedMetric:
    metric: str
    group: str
    by_encoder: dict[str, tuple[Pair, ...]]
    """By encoder, "" for a metric that has none or whose table names none: a pair for each column,
    of ``CORPORA`` or ``ASPECTS``."""


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

ASPECTS_OF, ASPECTS = "dailyz", ("relevance", "grammar", "content", "overall")
"""The corpus of the fine-grained table, and its columns."""


def _aspect_by_aspect(
    metric: str, group: str, by_encoder: dict[str, tuple[Pair, ...]]
) -> PublishedMetric:
    """The overall figures are those of ``CORRELATIONS``."""
    place = [corpus.slug for corpus in CORPORA].index(ASPECTS_OF)
    (of_corpora,) = [one for one in CORRELATIONS if one.metric == metric]
    return PublishedMetric(
        metric,
        group,
        {
            encoder: (*pairs, of_corpora.by_encoder[encoder][place])
            for encoder, pairs in by_encoder.items()
        },
    )


FINE_GRAINED = (
    _aspect_by_aspect("BLEU", _LABELS, {"": ((0.857, 0.454), (0.167, 0.213), (0.143, 0.270))}),
    _aspect_by_aspect("METEOR", _LABELS, {"": ((0.810, 0.736), (0.119, 0.044), (0.024, 0.349))}),
    _aspect_by_aspect("ROUGE-L", _LABELS, {"": ((0.857, 0.758), (0.238, 0.075), (0.190, 0.375))}),
    _aspect_by_aspect(
        "Greedy", _EMBEDDINGS, {"": ((0.881, 0.769), (0.214, 0.133), (0.119, 0.350))}
    ),
    _aspect_by_aspect(
        "Average", _EMBEDDINGS, {"": ((0.762, 0.808), (0.071, 0.197), (0.238, 0.399))}
    ),
    _aspect_by_aspect(
        "Extrema", _EMBEDDINGS, {"": ((0.714, 0.776), (0.143, 0.009), (0.476, 0.539))}
    ),
    _aspect_by_aspect(
        "BERTScore",
        _EMBEDDINGS,
        {
            BERT: ((0.976, 0.908), (0.333, 0.111), (0.524, 0.593)),
            ROBERTA: ((0.857, 0.889), (0.119, 0.115), (0.310, 0.604)),
        },
    ),
    _aspect_by_aspect(
        "FBD",
        _DISTRIBUTIONS,
        {
            BERT: ((0.762, 0.790), (0.190, 0.203), (0.667, 0.404)),
            ROBERTA: ((0.976, 0.965), (0.429, 0.472), (0.524, 0.839)),
        },
    ),
    _aspect_by_aspect(
        "PRD",
        _DISTRIBUTIONS,
        {
            BERT: ((0.833, 0.932), (0.238, 0.156), (0.571, 0.708)),
            ROBERTA: ((0.881, 0.925), (0.238, 0.235), (0.452, 0.729)),
        },
    ),
)
"""Rows as in ``CORRELATIONS``, a column for each of ``ASPECTS``."""

USR: Pair = (1.000, 0.820)
"""What section 4.2 quotes of the trained metric USR on Persona(M)."""

NORMALITY = {
    BERT: ((0.57, 0.44), (0.65, 0.39), (0.60, 0.42), (0.65, 0.39), (0.67, 0.38), (0.65, 0.38)),
    ROBERTA: ((0.71, 0.38), (0.68, 0.37), (0.73, 0.34), (0.68, 0.37), (0.68, 0.37), (0.71, 0.33)),
}
"""By encoder, for each of ``CORPORA``: mean and standard deviation over dimensions of the
Shapiro–Wilk value."""
