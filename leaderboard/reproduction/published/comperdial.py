"""What Wakaki et al. (2024) print of metrics on ComperDial and the USR corpora: Tables 3 to 6 and
appendix C.3.

"ComperDial: Commonsense Persona-grounded Dialogue Dataset and Benchmark", arXiv:2406.11228. Signed
values rounded to three digits; a star marks p ≥ .05. Table 3 shows GPT-4 alone, with Spearman and
Kendall; appendix C.3 prints the same rows with Pearson and GPT-3.5, and so does its second table
with Table 6: those are what stands here. (The text beside Table 3 speaks of .821 and .642 for the
original prompts; both tables have .820 and .674.)

The judges are gpt-3.5-turbo-0125 and gpt-4-turbo-2024-04-09; a score is the mean of three calls but
in Table 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CITATION = (
    "Wakaki et al. (2024), ComperDial: Commonsense Persona-grounded Dialogue Dataset and "
    "Benchmark, arXiv:2406.11228"
)
NOT_SIGNIFICANT = "*"

Level = Literal["turn", "dialogue", "system"]
Coefficient = Literal["pearson", "spearman", "kendall"]


@dataclass(frozen=True, slots=True)
class PublishedCorpus:
    key: str
    title: str
    slugs: tuple[str, ...]
    """What it may be called here where nobody says otherwise."""
    how: str
    """What follows ``manage.py import_corpus`` where it is not there."""


COMPERDIAL = PublishedCorpus("comperdial", "ComperDial", ("comperdial",), "jsonl comperdial.jsonl")
USR_TOPICAL = PublishedCorpus(
    "usr-topical", "USR-Topical", ("usr-topical", "usr-topicalchat"), "usr tc_usr_data.json"
)
USR_PERSONA = PublishedCorpus(
    "usr-persona", "USR-Persona", ("usr-persona", "usr"), "usr pc_usr_data.json"
)
CORPORA = (COMPERDIAL, USR_TOPICAL, USR_PERSONA)


@dataclass(frozen=True, slots=True)
class Figure:
    value: float
    significant: bool = True
    """False where the paper stars it: p ≥ .05."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    metric: str
    group: str
    model: str
    figures: tuple[Figure, ...]
    """In the order of the table's columns: place by place, coefficient by coefficient."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    number: str
    title: str
    places: tuple[tuple[PublishedCorpus, Level], ...]
    coefficients: tuple[Coefficient, ...]
    """A column for each of these at each of the places."""
    rated: Literal["turn", "dialogue"]
    """What people rated, that its scores are held against."""
    rows: tuple[PublishedRow, ...]


def _group(name: str, lines: str) -> tuple[PublishedRow, ...]:
    """A line each: ``metric | model | figures``."""
    rows = []
    for line in lines.strip().splitlines():
        metric, model, figures = (part.strip() for part in line.split("|"))
        rows.append(PublishedRow(metric, name, model, tuple(map(_figure, figures.split()))))
    return tuple(rows)


def _figure(written: str) -> Figure:
    return Figure(float(written.rstrip(NOT_SIGNIFICANT)), not written.endswith(NOT_SIGNIFICANT))


_ALL: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
_TURNS = "Turn-level scores"
_DIALOGUES = "Dialogue-level scores"
_ORIGINAL = "The original prompts, one call"
_ONCE = "CPDScore, one call"
_OTHERS = "Other metrics (figures of Shi et al., 2023)"
_CPDSCORE = "CPDScore"

TABLE_3 = PublishedTable(
    "3",
    "ComperDial, one call: turn-level scores (with appendix C.3)",
    ((COMPERDIAL, "turn"), (COMPERDIAL, "system")),
    _ALL,
    "turn",
    _group(
        _ORIGINAL,
        """
        Original simple  | GPT-3.5 | 0.449 0.408 0.342 0.791 0.791 0.636
        Original simple  | GPT-4   | 0.604 0.547 0.454 0.907 0.820 0.652
        Original detail  | GPT-3.5 | 0.124 0.097 0.079 0.652 0.461 0.327
        Original detail  | GPT-4   | 0.256 0.237 0.191 0.806 0.674 0.535
        """,
    )
    + _group(
        _ONCE,
        """
        CPDS-S w/ ref    | GPT-3.5 | 0.450 0.413 0.346 0.765 0.861 0.694
        CPDS-S w/ ref    | GPT-4   | 0.640 0.597 0.490 0.943 0.884 0.724
        CPDS-S w/o ref   | GPT-3.5 | 0.427 0.377 0.318 0.712 0.811 0.647
        CPDS-S w/o ref   | GPT-4   | 0.659 0.615 0.517 0.922 0.896 0.746
        CPDS-D w/ ref    | GPT-3.5 | 0.545 0.518 0.423 0.889 0.894 0.751
        CPDS-D w/ ref    | GPT-4   | 0.667 0.629 0.523 0.936 0.873 0.710
        CPDS-D w/o ref   | GPT-3.5 | 0.543 0.511 0.417 0.885 0.874 0.722
        CPDS-D w/o ref   | GPT-4   | 0.697 0.681 0.576 0.941 0.923 0.790
        """,
    ),
)

TABLE_4 = PublishedTable(
    "4",
    "ComperDial: turn-level scores",
    TABLE_3.places,
    _ALL,
    "turn",
    _group(
        _TURNS,
        """
        BLEU             |         | 0.104 0.159 0.113 0.392 0.206 0.136
        F1               |         | 0.196 0.185 0.132 0.584 0.120* 0.078*
        METEOR           |         | 0.197 0.201 0.143 0.766 0.556 0.410
        ROUGE            |         | 0.187 0.178 0.127 0.526 0.057* 0.028*
        BERTScore        |         | 0.269 0.227 0.159 0.369 0.075* 0.044*
        BLEURT           |         | 0.347 0.331 0.236 0.810 0.873 0.699
        FED engaging     |         | -0.009* 0.043 0.030 0.569 0.585 0.470
        FED relevant     |         | -0.025 -0.025 -0.017 0.399 0.378 0.247
        UniEval          |         | 0.397 0.404 0.287 0.637 0.584 0.432
        CPDS-S w/ ref    | GPT-3.5 | 0.507 0.489 0.389 0.773 0.879 0.717
        CPDS-S w/ ref    | GPT-4   | 0.678 0.629 0.493 0.946 0.900 0.742
        CPDS-S w/o ref   | GPT-3.5 | 0.491 0.468 0.371 0.715 0.861 0.684
        CPDS-S w/o ref   | GPT-4   | 0.688 0.662 0.532 0.924 0.899 0.753
        CPDS-D w/ ref    | GPT-3.5 | 0.596 0.575 0.445 0.890 0.890 0.740
        CPDS-D w/ ref    | GPT-4   | 0.689 0.656 0.524 0.939 0.886 0.727
        CPDS-D w/o ref   | GPT-3.5 | 0.592 0.564 0.435 0.886 0.876 0.717
        CPDS-D w/o ref   | GPT-4   | 0.714 0.712 0.583 0.943 0.928 0.799
        """,
    ),
)

TABLE_5 = PublishedTable(
    "5",
    "ComperDial: dialogue-level scores",
    ((COMPERDIAL, "dialogue"), (COMPERDIAL, "system")),
    _ALL,
    "dialogue",
    _group(
        _TURNS,
        """
        BLEU             |         | 0.122 0.181 0.127 0.363 0.191* 0.120*
        F1               |         | 0.194 0.114 0.079 0.476 0.138* 0.093*
        METEOR           |         | 0.293 0.231 0.163 0.674 0.535 0.397
        ROUGE            |         | 0.165 0.090 0.061 0.414 0.071* 0.039*
        BERTScore        |         | 0.219 0.113 0.077 0.278 0.092* 0.059*
        BLEURT           |         | 0.448 0.354 0.253 0.697 0.826 0.647
        FED engaging     |         | 0.086 0.049* 0.035* 0.484 0.550 0.434
        FED relevant     |         | 0.108 0.125 0.088 0.444 0.359 0.232
        UniEval          |         | 0.418 0.402 0.290 0.503 0.548 0.388
        CPDS-S w/ ref    | GPT-3.5 | 0.592 0.636 0.486 0.693 0.861 0.685
        CPDS-S w/ ref    | GPT-4   | 0.782 0.751 0.589 0.902 0.894 0.728
        CPDS-S w/o ref   | GPT-3.5 | 0.513 0.525 0.391 0.617 0.850 0.666
        CPDS-S w/o ref   | GPT-4   | 0.743 0.718 0.561 0.871 0.902 0.750
        CPDS-D w/ ref    | GPT-3.5 | 0.671 0.670 0.513 0.783 0.867 0.705
        CPDS-D w/ ref    | GPT-4   | 0.792 0.761 0.601 0.905 0.889 0.727
        CPDS-D w/o ref   | GPT-3.5 | 0.657 0.646 0.490 0.781 0.856 0.689
        CPDS-D w/o ref   | GPT-4   | 0.776 0.768 0.610 0.899 0.926 0.784
        Human            |         | 0.855 0.827 0.676 0.963 0.968 0.869
        """,
    )
    + _group(
        _DIALOGUES,
        """
        CPDS-Dial        | GPT-3.5 | 0.675 0.656 0.501 0.818 0.873 0.715
        CPDS-Dial, intermediate score | GPT-3.5 | 0.664 0.658 0.506 0.779 0.868 0.710
        CPDS-Dial        | GPT-4   | 0.791 0.742 0.587 0.926 0.924 0.783
        CPDS-Dial, intermediate score | GPT-4 | 0.777 0.763 0.607 0.903 0.925 0.781
        """,
    ),
)

TABLE_6 = PublishedTable(
    "6",
    "USR: turn-level scores (with appendix C.3)",
    ((USR_TOPICAL, "turn"), (USR_PERSONA, "turn")),
    _ALL[:2],
    "turn",
    _group(
        _OTHERS,
        """
        METEOR           |         | 0.336 0.391 0.253 0.271
        BERTScore        |         | 0.298 0.325 0.152 0.122
        BLEURT           |         | 0.216 0.261 0.065 0.054
        RADE             |         | 0.480 0.466 0.451 0.465
        GRADE            |         | 0.200 0.217 0.358 0.352
        USR              |         | 0.412 0.423 0.440 0.418
        USL-H            |         | 0.322 0.340 0.495 0.523
        """,
    )
    + _group(
        _CPDSCORE,
        """
        CPDS-S w/ ref    | GPT-3.5 | 0.410 0.416 0.442 0.423
        CPDS-S w/ ref    | GPT-4   | 0.668 0.652 0.631 0.628
        CPDS-S w/o ref   | GPT-3.5 | 0.420 0.438 0.421 0.378
        CPDS-S w/o ref   | GPT-4   | 0.663 0.661 0.693 0.681
        CPDS-D w/ ref    | GPT-3.5 | 0.553 0.548 0.487 0.460
        CPDS-D w/ ref    | GPT-4   | 0.664 0.649 0.634 0.638
        CPDS-D w/o ref   | GPT-3.5 | 0.557 0.555 0.550 0.508
        CPDS-D w/o ref   | GPT-4   | 0.681 0.667 0.646 0.645
        """,
    ),
)

TABLES = (TABLE_4, TABLE_5, TABLE_6, TABLE_3)
"""The paper's main ones first."""
