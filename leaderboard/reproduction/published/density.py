"""What Park et al. (2023) print of DEnsity: Tables 1, 2 and 4 (correlations) and Table 5 (selection
models).

"DEnsity: Open-domain Dialogue Evaluation Metric using Density Estimation", Findings of ACL 2023;
Table 1 is in section 5.1, Table 2 in 5.3, Table 4 in 5.5, Table 5 in appendix C.1. (Table 3 shows
single responses, figures 3 and 5 have no numbers.) Correlations are printed in hundredths; a star
marks p > .01. METEOR and BERTScore have the same two figures on ConvAI2-GRADE, 22.48 and 22.50: so
it is printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.reproduction.published.correlations import (
    BOTH,
    NOT_SIGNIFICANT,
    EvaluationSet,
    Figure,
    PublishedRow,
    PublishedTable,
)

CITATION = (
    "Park, Lee, Rim & Choo (2023), DEnsity: Open-domain Dialogue Evaluation Metric using Density "
    "Estimation, Findings of ACL"
)
SETUP = (
    "bert-base-uncased (12 layers), the training split of DailyDialog (13,118 dialogues in all "
    "splits) or ConvAI2 (17,878), 10 epochs, 16 contexts a batch with 15 negatives each (ConvAI2: "
    "19), rate 5e-5, 256 tokens"
)
ALPHA = 0.01

DAILY_ZHAO = EvaluationSet(
    "dailydialog-zhao", "DailyDialog-Zhao", ("dailyz",), "fbd dailyz_annotation.json",
    '"overall", 900 responses of six systems',
)  # fmt: skip
CONVAI2_USR = EvaluationSet(
    "convai2-usr", "ConvAI2-USR", ("usr-persona", "usr"), "usr pc_usr_data.json",
    '"Overall Quality", 240 responses of three systems',
)  # fmt: skip
DAILY_GRADE = EvaluationSet(
    "dailydialog-grade", "DailyDialog-GRADE", ("grade-dailydialog",), "grade human_judgement.json",
    "300 responses of two systems",
)  # fmt: skip
CONVAI2_GRADE = EvaluationSet(
    "convai2-grade",
    "ConvAI2-GRADE",
    ("grade-convai2",),
    "grade human_judgement.json",
    "600 responses of four systems",
)
FED_DIALOGUES = EvaluationSet(
    "fed", "FED, whole dialogues", ("fed",), "fed fed_data.json", '"Overall" of dialogues'
)
SETS = (DAILY_ZHAO, DAILY_GRADE, CONVAI2_USR, CONVAI2_GRADE, FED_DIALOGUES)

WITH, WITHOUT = "with L_CL", "without L_CL"


def _rows(group: str, lines: str) -> tuple[PublishedRow, ...]:
    """A line each: ``metric | figures``, in hundredths."""
    split = (line.split("|") for line in lines.strip().splitlines())
    return tuple(
        PublishedRow(metric.strip(), group, tuple(map(_figure, figures.split())))
        for metric, figures in split
    )


def _figure(written: str) -> Figure:
    hundredths = float(written.rstrip(NOT_SIGNIFICANT))
    return Figure(round(hundredths / 100, 4), not written.endswith(NOT_SIGNIFICANT))


TABLE_1 = PublishedTable(
    "1",
    "metrics against people, turn level",
    (DAILY_ZHAO.key, CONVAI2_USR.key, DAILY_GRADE.key, CONVAI2_GRADE.key),
    BOTH,
    _rows(
        "Reference-based",
        """
        BLEU          |  8.02*  2.77* 11.22* 12.43* 14.15* 10.70* 10.69* 12.36
        ROUGE         | 14.96   9.79* 10.96*  9.64* 10.98*  3.12* 11.82  11.56
        METEOR        |  8.99*  5.36* 17.99* 18.80  11.94*  7.54* 22.48  22.50
        EmbAvg.       |  7.32*  7.93* 11.82* 14.51*  2.44*  4.08* 19.52  21.47
        EmbExt.       | 18.83  17.81  15.70* 14.27* 13.56*  9.77* 15.94  16.82
        EmbGrd.       | 15.47  15.35   9.16*  6.51* 11.06*  8.29* 21.54  22.14
        BERTScore     | 15.32  15.36  15.16* 12.27* 12.88*  9.94* 22.48  22.50
        SimCSE        | 24.07  22.00  28.83  29.31  21.68  18.22  23.69  24.28
        BLEURT        | 14.42  12.88  16.09* 15.25* 17.45  12.24* 10.16* 10.68*
        """,
    )
    + _rows(
        "Perplexity-based",
        """
        USR-MLM       | 38.39  39.84   7.01* 13.32* 18.32  20.60  14.38   9.48
        GPT2-Coh.     | 44.19  45.46  20.52  19.77  23.40  25.83  43.34  43.99
        FED           | -7.30* -6.58* -2.03*  0.58*  2.56*  0.13* -14.29 -14.55
        """,
    )
    + _rows(
        "Classifier-based",
        """
        BERT-RUBER    | 36.07  35.52  14.61* 17.05* 28.29  25.99   5.73*  2.65*
        USR-Retrieval | 48.77  51.61  49.96  59.65  27.47  23.84  40.30  39.98
        USL-H         | 37.19  38.62  52.36  53.36  10.90*  9.72* 44.89  45.47
        FlowScore     | 11.97  12.64  -9.06* -7.49* 13.00* 14.78*  5.92*  6.81*
        DynaEval      | 27.21  27.16  10.08* 10.67* 14.96* 15.89* 23.89  22.83
        """,
    )
    + _rows("Density estimation", "DEnsity | 56.81 57.03 57.03 62.97 30.33 29.45 48.01 48.62"),
)

TABLE_2 = PublishedTable(
    "2",
    "three scores of one model, with and without the contrastive loss",
    (DAILY_ZHAO.key, DAILY_GRADE.key),
    BOTH,
    _rows(
        WITH,
        """
        Mahalanobis   | 56.81  57.03  30.33  29.45
        Euclidean     | 54.57  56.84  28.97  31.92
        Classifier    | 53.36  55.14  28.25  29.10
        """,
    )
    + _rows(
        WITHOUT,
        """
        Mahalanobis   | 46.79  51.97  24.52  27.40
        Euclidean     | 52.88  52.15  30.22  32.04
        Classifier    | 53.17  53.66  22.58  22.12
        """,
    ),
)
"""It has no stars."""

TABLE_4 = PublishedTable(
    "4",
    "metrics against people, dialogue level",
    (FED_DIALOGUES.key,),
    ("spearman",),
    _rows(
        "Turn-level metrics, averaged",
        """
        USR-Retrieval  | 39.4
        GPT2-Coherency | 30.4
        DEnsity        | 43.3
        """,
    )
    + _rows(
        "Dialogue-level metrics (their papers' figures)",
        """
        FED            | 40.1
        DynaEval       | 49.2
        """,
    )
    + _rows("People (Zhang et al., 2021)", "Human | 83.0"),
    "dialogue",
)
"""Its crosses mark figures from other papers."""

TABLES = (TABLE_1, TABLE_2, TABLE_4)


@dataclass(frozen=True, slots=True)
class PublishedSelection:
    """Percent, on the test split: the answer among 16 candidates (DailyDialog) or 20 (ConvAI2)."""

    loss: str
    group: str
    dailydialog: tuple[float, float]
    """R@1, MRR."""
    convai2: tuple[float, float]


TABLE_5 = (
    PublishedSelection("L_RS", WITHOUT, (88.8, 93.38), (85.16, 90.97)),
    PublishedSelection("L_RS + L_CL", WITH, (90.62, 93.96), (85.99, 91.48)),
)
