"""What Zhao et al. (2023) print of CMN: Table 1 (standard set) and Table 2 (diverse set), with
their ablations.

"Evaluating Open-Domain Dialogues in Latent Space with Next Sentence Prediction and Mutual
Information", ACL 2023; Table 1 is in section 5.2, Table 2 in 5.3. Pearson's and Spearman's
coefficients, which their heads call ρ and τ, with p in parentheses. Both sets are the paper's own,
of responses to DailyDialog and PersonaChat by Seq2Seq, HRED and GPT-2: responses near their
reference (highest BLEU-1), and far from it (BLEU-1 below 0.2); the human score is the mean of
appropriateness and coherence by three raters.

The text counts 200 standard and 600 diverse samples, evenly split between the two. The printed p
belong to 82 and 56 standard ones and to about 467 and 187 diverse ones (p of r by Student's t). One
does not: CMN without NSP, diverse, PersonaChat, 0.2947 (0.0025).
"""

from __future__ import annotations

from leaderboard.reproduction.published.correlations import (
    BOTH,
    EvaluationSet,
    Figure,
    PublishedRow,
    PublishedTable,
)

CITATION = (
    "Zhao, Yang, Lin, Rong, Villavicencio & Cui (2023), Evaluating Open-Domain Dialogues in "
    "Latent Space with Next Sentence Prediction and Mutual Information, ACL"
)
SETUP = (
    "BERT as both encoders, GPT-2 as decoder, latent dimension 32, the training split of "
    "DailyDialog (11,118 dialogues) or PersonaChat (10,907)"
)
ALPHA = 0.05
DAILYDIALOG, PERSONACHAT = "dailydialog", "personachat"
FULL, NO_NSP, NO_MI = "CMN", "w/o NSP", "w/o MI"

DAILY_ZHAO = EvaluationSet(
    "dailydialog-zhao", "DailyDialog-Zhao", ("dailyz",), "fbd dailyz_annotation.json", ""
)
DAILY_GRADE = EvaluationSet(
    "dailydialog-grade",
    "DailyDialog-GRADE",
    ("grade-dailydialog",),
    "grade human_judgement.json",
    "",
)
PERSONA_USR = EvaluationSet(
    "personachat-usr", "PersonaChat-USR", ("usr-persona", "usr"), "usr pc_usr_data.json", ""
)
CONVAI2_GRADE = EvaluationSet(
    "convai2-grade", "ConvAI2-GRADE", ("grade-convai2",), "grade human_judgement.json", ""
)
BESIDE = {DAILYDIALOG: (DAILY_ZHAO, DAILY_GRADE), PERSONACHAT: (PERSONA_USR, CONVAI2_GRADE)}
"""What is evaluated here in the place of the paper's sets, by the conversations' source."""


def _rows(group: str, lines: str) -> tuple[PublishedRow, ...]:
    """A line each: ``metric | value (p) …``."""
    found = []
    for line in lines.strip().splitlines():
        metric, figures = (part.strip() for part in line.split("|"))
        words = figures.replace("(", "").replace(")", "").replace("<", "").split()
        pairs = zip(map(float, words[::2]), map(float, words[1::2]), strict=True)
        found.append(
            PublishedRow(metric, group, tuple(Figure(value, p < ALPHA, p) for value, p in pairs))
        )
    return tuple(found)


_LABELS, _EMBEDDINGS, _LEARNT, _OURS = "Word overlap", "Embeddings", "Learnt", "CMN"
_SETS = (DAILYDIALOG, PERSONACHAT)

TABLE_1 = PublishedTable(
    "1",
    "standard set",
    _SETS,
    BOTH,
    _rows(
        _LABELS,
        """
        BLEU-1     |  0.0465 (0.6782)   0.0049 (0.9652)  -0.0314 (0.8183)  -0.0372 (0.7856)
        BLEU-2     |  0.0497 (0.6577)   0.0116 (0.9175)  -0.0601 (0.6597)  -0.0621 (0.6495)
        BLEU-3     |  0.0462 (0.6803)   0.0399 (0.7219)  -0.0431 (0.7525)  -0.0213 (0.8760)
        BLEU-4     |  0.0796 (0.4770)   0.0646 (0.5641)  -0.0149 (0.9134)  -0.064  (0.6395)
        ROUGE-1    |  0.0718 (0.5213)   0.0304 (0.7861)  -0.0267 (0.8449)   0.0678 (0.6193)
        ROUGE-2    |  0.0841 (0.4525)   0.0645 (0.5651)   0.0305 (0.8235)   0.0291 (0.8315)
        ROUGE-L    |  0.0490 (0.6617)   0.0285 (0.7992)  -0.0013 (0.9924)   0.0834 (0.5413)
        METEOR     |  0.0696 (0.5345)   0.0946 (0.3977)  -0.102  (0.4543)  -0.1066 (0.4344)
        """,
    )
    + _rows(
        _EMBEDDINGS,
        """
        Extrema    |  0.1211 (0.2784)  -0.0021 (0.9853)   0.0017 (0.9903)   0.0814 (0.5510)
        Greedy     |  0.1117 (0.3176)   0.0940 (0.4008)   0.0949 (0.4866)   0.0891 (0.5136)
        Average    |  0.1527 (0.1709)   0.1199 (0.2835)   0.1018 (0.4554)   0.1124 (0.4096)
        BERTScore  |  0.0824 (0.4620)  -0.0076 (0.9457)   0.1097 (0.4211)   0.1724 (0.2038)
        """,
    )
    + _rows(
        _LEARNT,
        """
        BLEURT     |  0.1163 (0.2983)   0.0940 (0.4008)  -0.1194 (0.3808)  -0.1143 (0.4016)
        RUBER      |  0.0820 (0.4642)   0.1560 (0.1616)   0.0019 (0.9887)  -0.0329 (0.8095)
        MAUDE      | -0.1623 (0.1453)  -0.0145 (0.8974)   0.1353 (0.3201)   0.1104 (0.4178)
        MDD-Eval   |  0.1029 (0.3574)  -0.0667 (0.5516)   0.1239 (0.3630)   0.2502 (0.0629)
        """,
    )
    + _rows(
        _OURS,
        """
        w/o NSP         |  0.2292 (0.0383)   0.2025 (0.0681)   0.2585 (0.0544)   0.3816 (0.0037)
        w/o MI          |  0.0833 (0.4568)  -0.0537 (0.6316)   0.1030 (0.4498)   0.1530 (0.2601)
        CMN             |  0.2446 (0.0268)   0.2211 (0.0459)   0.2656 (0.0479)   0.3971 (0.0024)
        """,
    ),
)

TABLE_2 = PublishedTable(
    "2",
    "diverse set",
    _SETS,
    BOTH,
    _rows(
        _LABELS,
        """
        BLEU-1     |  0.2953 (<0.0001)  0.2635 (<0.0001) -0.1533 (0.0361)  -0.1702 (0.0199)
        BLEU-2     |  0.2733 (<0.0001)  0.2638 (<0.0001) -0.1657 (0.0235)  -0.1810 (0.0132)
        BLEU-3     |  0.2496 (<0.0001)  0.2691 (<0.0001) -0.1654 (0.0237)  -0.1846 (0.0114)
        BLEU-4     |  0.2319 (<0.0001)  0.2737 (<0.0001) -0.1642 (0.0247)  -0.1790 (0.0142)
        ROUGE-1    |  0.3275 (<0.0001)  0.2865 (<0.0001) -0.0057 (0.9382)   0.0489 (0.5062)
        ROUGE-2    |  0.2698 (<0.0001)  0.2761 (<0.0001) -0.0340 (0.6441)   0.0937 (0.2023)
        ROUGE-L    |  0.3362 (<0.0001)  0.2945 (<0.0001) -0.0072 (0.9222)   0.0476 (0.5178)
        METEOR     |  0.2948 (<0.0001)  0.2858 (<0.0001) -0.0293 (0.6908)  -0.0507 (0.4904)
        """,
    )
    + _rows(
        _EMBEDDINGS,
        """
        Extrema    | -0.3589 (<0.0001) -0.3524 (<0.0001) -0.1010 (0.1690)  -0.0390 (0.5966)
        Greedy     | -0.1580 (0.0006)  -0.1408 (0.0023)  -0.0380 (0.6052)   0.0113 (0.8776)
        Average    | -0.1350 (0.0034)  -0.1006 (0.0296)  -0.1093 (0.1364)  -0.0355 (0.6294)
        BERTScore  |  0.2591 (<0.0001)  0.2251 (<0.0001)  0.0345 (0.6391)   0.0853 (0.2455)
        """,
    )
    + _rows(
        _LEARNT,
        """
        BLEURT     |  0.2711 (<0.0001)  0.2063 (<0.0001)  0.1267 (0.0840)   0.1858 (0.0109)
        RUBER      |  0.1027 (0.0263)   0.1714 (0.0002)  -0.0579 (0.4312)  -0.0592 (0.4206)
        MAUDE      |  0.0551 (0.2344)   0.1782 (<0.0001)  0.2640 (0.0003)   0.3267 (<0.0001)
        MDD-Eval   |  0.5567 (<0.0001)  0.6160 (<0.0001)  0.1264 (0.0848)   0.2582 (0.0004)
        """,
    )
    + _rows(
        _OURS,
        """
        w/o NSP         |  0.5453 (<0.0001)  0.5555 (<0.0001)  0.2947 (0.0025)   0.2224 (0.0022)
        w/o MI          |  0.6183 (<0.0001)  0.5946 (<0.0001)  0.2769 (0.0001)   0.1390 (0.0578)
        CMN             |  0.6325 (<0.0001)  0.6234 (<0.0001)  0.4000 (<0.0001)  0.2746 (0.0001)
        """,
    ),
)
TABLES = (TABLE_1, TABLE_2)
