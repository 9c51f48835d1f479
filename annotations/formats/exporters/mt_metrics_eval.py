"""The folder layout of mt-metrics-eval (version 2), so that its tools can read a dialogue corpus.

A turn is a segment, a dialogue a document, the context the source. The layout is that of the README
of google-research/mt-metrics-eval, section "File organization and naming convention".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from annotations.formats.exporters.base import Exporter, MetricScoresRecord, SafeNames
from annotations.formats.exporters.score_rows import SubmittedRow, submitted_row
from annotations.formats.records import (
    DialogueRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    Utterance,
)
from common.tables.csv_text import guarded

PAIR = "context-response"
"""What stands where mt-metrics-eval has a language pair."""
DOMAIN = "dialogue"
MISSING = "None"

Segment = tuple[str, int]
Key = TypeVar("Key")


@dataclass
class _Mean:
    total: float = 0.0
    count: int = 0

    def add(self, score: float) -> None:
        self.total += score
        self.count += 1

    @property
    def value(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass
class _HumanScores:
    """Means over raters of one aspect: by (system, segment) and by (system, dialogue id)."""

    segments: dict[tuple[str, Segment], _Mean] = field(default_factory=dict)
    documents: dict[tuple[str, str], _Mean] = field(default_factory=dict)

    def add(self, rating: RatingRecord) -> None:
        if rating.turn is None:
            mean = self.documents.setdefault((rating.system, rating.dialogue_id), _Mean())
        else:
            mean = self.segments.setdefault(
                (rating.system, (rating.dialogue_id, rating.turn)), _Mean()
            )
        mean.add(rating.score)


class _Layout:
    """What has been written so far and what the score files need: names, order, means. No text is
    held."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.systems: list[str] = []
        # A system with a reference's name would be taken for that reference.
        self.system_names = SafeNames(reserved=[f"ref{number}" for number in range(1, 100)])
        self.dialogue_names = SafeNames()
        self.aspect_names = SafeNames(unsafe=".")
        self.segments: list[Segment] = []
        self.dialogues: list[str] = []
        self.human: dict[str, _HumanScores] = {}
        self.references = 0
        for name in ("documents", "sources", "references", "human-scores"):
            (folder / name).mkdir()
        for name in ("system-outputs", "metric-scores"):
            (folder / name / PAIR).mkdir(parents=True)

    def add_dialogue(
        self, dialogue: DialogueRecord, responses: Mapping[tuple[str, int], str]
    ) -> None:
        """Appends the dialogue's turns to every file of text; a turn that a system did not answer
        is a blank line."""
        document = self.dialogue_names.of(dialogue.id)
        self._append(f"documents/{PAIR}.docs", [f"{DOMAIN} {document}" for _ in dialogue.turns])
        self._append(
            f"sources/{PAIR}.txt", [_source(dialogue.context_of(turn)) for turn in dialogue.turns]
        )
        most = max((len(turn.references) for turn in dialogue.turns), default=0)
        for number in range(self.references, most):
            # The dialogues before this one had fewer references: their lines in the new file are
            # blank.
            self._append(self._reference_file(number), [""] * len(self.segments))
        self.references = max(self.references, most)
        for number in range(self.references):
            lines = [
                one_line(turn.references[number]) if number < len(turn.references) else ""
                for turn in dialogue.turns
            ]
            self._append(self._reference_file(number), lines)
        for system in self.systems:
            lines = [one_line(responses.get((system, turn.number), "")) for turn in dialogue.turns]
            self._append(f"system-outputs/{PAIR}/{self.system_names.of(system)}.txt", lines)
        self.segments += [(dialogue.id, turn.number) for turn in dialogue.turns]
        self.dialogues.append(dialogue.id)

    def _reference_file(self, number: int) -> str:
        return f"references/{PAIR}.ref{number + 1}.txt"

    def _append(self, name: str, lines: Sequence[str]) -> None:
        # One file is open at a time: a challenge has more systems than a process may hold files
        # open.
        with (self.folder / name).open("a", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)

    def write_scores(self, name: str, scores: Mapping[str, Sequence[float | None]]) -> None:
        """A block of lines a system: its name and a score, ``None`` where there is none."""
        lines = [
            f"{self.system_names.of(system)}\t{MISSING if score is None else repr(float(score))}"
            for system in self.systems
            for score in scores[system]
        ]
        self._append(name, lines)


def write(records: Iterable[Record], scores: Iterable[MetricScoresRecord], folder: Path) -> None:
    """Write the folder layout of mt-metrics-eval, version 2.

    It has documents, sources, references, system-outputs, human-scores (means over raters),
    metric-scores and names.tsv; and, where there are submitted metrics, submitted_metrics.tsv.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.
        scores: metric scores, metric by metric.
        folder: existing, empty folder.
    """
    layout = _Layout(folder)
    _write_texts(records, layout)
    _write_human_scores(layout)
    _write_metric_scores(scores, layout)
    _write_names(layout)


def _write_texts(records: Iterable[Record], layout: _Layout) -> None:
    dialogue: DialogueRecord | None = None
    responses: dict[tuple[str, int], str] = {}
    for record in records:
        if isinstance(record, SystemRecord):
            layout.systems.append(record.name)
            layout.system_names.of(record.name)
        elif isinstance(record, DialogueRecord):
            if dialogue:
                layout.add_dialogue(dialogue, responses)
            dialogue, responses = record, {}
        elif isinstance(record, ResponseRecord) and not record.sample:
            responses[record.system, record.turn] = record.text
        elif isinstance(record, RatingRecord):
            layout.human.setdefault(record.aspect, _HumanScores()).add(record)
    if dialogue:
        layout.add_dialogue(dialogue, responses)


def _write_human_scores(layout: _Layout) -> None:
    for aspect, human in layout.human.items():
        stem = f"human-scores/{PAIR}.{layout.aspect_names.of(aspect)}"
        segments = {
            system: _means(human.segments, system, layout.segments) for system in layout.systems
        }
        documents = {
            system: _means(human.documents, system, layout.dialogues) for system in layout.systems
        }
        if human.segments:
            layout.write_scores(f"{stem}.seg.score", segments)
        if human.documents:
            layout.write_scores(f"{stem}.doc.score", documents)
        items = segments if human.segments else documents
        layout.write_scores(
            f"{stem}.sys.score", {system: [_mean_of(items[system])] for system in layout.systems}
        )


def _means(
    means: Mapping[tuple[str, Key], _Mean], system: str, keys: Iterable[Key]
) -> list[float | None]:
    return [means[system, key].value if (system, key) in means else None for key in keys]


def _mean_of(scores: Iterable[float | None]) -> float | None:
    mean = _Mean()
    for score in scores:
        if score is not None:
            mean.add(score)
    return mean.value


def _write_metric_scores(scores: Iterable[MetricScoresRecord], layout: _Layout) -> None:
    """Only one metric's scores are held at a time."""
    names = SafeNames()
    labels: set[str] = set()
    submitted: dict[SubmittedRow, str] = {}
    for metric, records in groupby(scores, attrgetter("metric")):
        by_signature: dict[str, dict[str, MetricScoresRecord]] = {}
        for record in records:
            by_signature.setdefault(record.signature, {})[record.system] = record
        # Two configurations may share a label, and so may a metric that is built in no longer and
        # one that was handed in; their signatures never do.
        is_only_one = len(by_signature) == 1 and metric not in labels
        labels.add(metric)
        for signature, by_system in by_signature.items():
            uses_references = layout.references > 0 and any(
                record.uses_references for record in by_system.values()
            )
            name = names.of(metric if is_only_one else f"{metric}_{signature}")
            name = f"{name}-{'all' if uses_references else 'src'}"
            for level, values in _levels(by_system, layout):
                layout.write_scores(f"metric-scores/{PAIR}/{name}.{level}.score", values)
            if row := submitted_row(next(iter(by_system.values()))):
                submitted[row] = name
    if submitted:
        lines = ["\t".join((*SubmittedRow._fields, "name in the files"))]
        for row, name in submitted.items():
            lines.append("\t".join(guarded(one_line(str(cell))) for cell in (*row.cells, name)))
        file = layout.folder / "submitted_metrics.tsv"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _levels(
    by_system: Mapping[str, MetricScoresRecord], layout: _Layout
) -> Iterator[tuple[str, dict[str, list[float | None]]]]:
    nothing = MetricScoresRecord("", "", "")
    records = {system: by_system.get(system, nothing) for system in layout.systems}
    if any(record.turn_scores for record in records.values()):
        yield (
            "seg",
            {
                s: [record.turn_scores.get(key) for key in layout.segments]
                for s, record in records.items()
            },
        )
    if any(record.dialogue_scores for record in records.values()):
        yield (
            "doc",
            {
                s: [record.dialogue_scores.get(key) for key in layout.dialogues]
                for s, record in records.items()
            },
        )
    yield "sys", {s: [record.system_score] for s, record in records.items()}


def _write_names(layout: _Layout) -> None:
    """The names as they were, for those that had to be changed as for the others."""
    lines = ["kind\tname\tname in the files"]
    kinds = (
        ("system", layout.system_names),
        ("dialogue", layout.dialogue_names),
        ("aspect", layout.aspect_names),
    )
    for kind, names in kinds:
        lines += [f"{kind}\t{guarded(one_line(name))}\t{safe}" for name, safe in names.pairs]
    (layout.folder / "names.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _source(context: tuple[Utterance, ...]) -> str:
    return " ".join(f"{one.speaker}: {one_line(one.text)}" for one in context)


def one_line(text: str) -> str:
    """Replace every line end and tab by a space: in these files a line is a segment.

    Args:
        text: any text.

    Returns:
        The text on one line.
    """
    return " ".join(text.replace("\t", " ").splitlines())


EXPORTER = Exporter(
    name="mt-metrics-eval", summary="the folder layout of mt-metrics-eval, version 2", write=write
)
