"""One small corpus with every kind of record, and scores for it."""

from __future__ import annotations

from annotations.formats.exporters.base import MetricScoresRecord, SubmittedRecord
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)


def small_corpus() -> list[Record]:
    """Two dialogues, three turns; ``echo`` answers all, ``=dull/one`` only the first dialogue's."""
    first = TurnRecord(0, (Utterance("A", "hi\nthere"),), ("hello", "hey"))
    second = TurnRecord(
        1, (Utterance("A", "hi"), Utterance("B", "hello"), Utterance("A", "bye")), ("see you",)
    )
    other = TurnRecord(0, (Utterance("A", "who ?"),), ("me",))
    return [
        CorpusRecord(
            name="small", simulated=True, aspects=("overall", "Uses Knowledge"), scale=(0.0, 5.0)
        ),
        SystemRecord("echo", "baseline", "says it again"),
        SystemRecord("=dull/one"),
        RaterRecord("r1"),
        RaterRecord("r2", "anonymous"),
        DialogueRecord("d 1", ("i sing",), (), (first, second)),
        ResponseRecord("d 1", 0, "echo", "hi\r\nthere"),
        ResponseRecord("d 1", 1, "echo", "+bye"),
        ResponseRecord("d 1", 0, "=dull/one", "ok"),
        ResponseRecord("d 1", 1, "=dull/one", ""),
        RatingRecord("d 1", 0, "echo", "r1", "overall", 4.0, "@home"),
        RatingRecord("d 1", 0, "echo", "r2", "overall", 1.0),
        RatingRecord("d 1", 1, "echo", "r1", "overall", 2.0),
        RatingRecord("d 1", None, "=dull/one", "r1", "Uses Knowledge", 0.0),
        DialogueRecord("d2", (), ("i listen",), (other,)),
        ResponseRecord("d2", 0, "echo", "who ? é"),
    ]


def small_scores() -> list[MetricScoresRecord]:
    return [
        MetricScoresRecord(
            "bleu_4",
            "echo",
            "bleu_4|v1",
            {("d 1", 0): 0.5, ("d 1", 1): None},
            {"d 1": 0.5, "d2": None},
            -0.25,
        ),
        MetricScoresRecord("pmi", "=dull/one", "pmi|v1", {}, {}, None, uses_references=False),
    ]


def submitted_scores() -> list[MetricScoresRecord]:
    """Of two systems, by somebody whose name begins like a formula."""
    about = SubmittedRecord("dialogue", False, "+ann", "https://example.org/theirs", "ab" * 32)
    return [
        MetricScoresRecord(
            "theirs",
            system,
            "theirs|by:+ann",
            {},
            {"d 1": score, "d2": None},
            score,
            submitted=about,
        )
        for system, score in (("echo", 2.0), ("=dull/one", 3.0))
    ]
