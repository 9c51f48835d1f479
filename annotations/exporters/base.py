"""What an exporter is, and how its folder appears: whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from annotations.records import Record
from annotations.temporary import put_in_place, temporary_folder


class ExportFailed(Exception):
    """The folder could not be written; the message says why, and the target is as it was."""


@dataclass(frozen=True, slots=True)
class SubmittedRecord:
    """What is known of a metric whose scores somebody handed in. ``level`` (turn, dialogue, system)
    is what the file scored; scores of coarser levels are means of these."""

    level: str
    higher_is_better: bool
    submitted_by: str
    link: str
    file_sha256: str


@dataclass(frozen=True, slots=True)
class MetricScoresRecord:
    """One metric's scores of one system. None is an undefined score.

    ``metric`` is the label with its configuration (``bleu_4`` or ``bertscore_f1[encoder=…]``);
    ``turn_scores`` are keyed by (dialogue id, turn number), ``dialogue_scores`` by dialogue id.
    ``uses_references`` is False for a metric that never looks at the gold answer. ``submitted`` is
    None for a metric that was computed here.
    """

    metric: str
    system: str
    signature: str
    turn_scores: Mapping[tuple[str, int], float | None] = field(default_factory=dict)
    dialogue_scores: Mapping[str, float | None] = field(default_factory=dict)
    system_score: float | None = None
    uses_references: bool = True
    submitted: SubmittedRecord | None = None


Writer = Callable[[Iterable[Record], Iterable[MetricScoresRecord], Path], None]


@dataclass(frozen=True)
class Exporter:
    """Writes one format. ``write`` fills an empty folder from a checked stream of records and any
    metric scores, which come metric by metric."""

    name: str
    summary: str
    write: Writer

    def export(
        self,
        records: Iterable[Record],
        folder: Path,
        scores: Iterable[MetricScoresRecord] = (),
        replace: bool = False,
    ) -> None:
        """Writes ``folder``; it appears only when it is complete.

        Raises ExportFailed where ``folder`` is a file, or holds something and ``replace`` is False.
        Where reading the records raises, nothing is left behind.
        """
        with whole_folder(folder, replace) as unfinished:
            self.write(records, scores, unfinished)


@contextmanager
def whole_folder(folder: Path, replace: bool = False) -> Iterator[Path]:
    """A temporary folder beside ``folder`` that takes its place when the block ends well, and
    vanishes otherwise."""
    target = folder.resolve()
    _refuse_target(target, replace)
    target.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(beside=target) as temporary:
        unfinished = temporary / target.name
        unfinished.mkdir()
        yield unfinished
        _refuse_target(target, replace)
        put_in_place(unfinished, target)


def _refuse_target(target: Path, replace: bool) -> None:
    if target.exists() and not target.is_dir():
        raise ExportFailed(f"{target.name} is a file, not a folder")
    if target.is_dir() and any(target.iterdir()) and not replace:
        raise ExportFailed(f"{target.name} is not empty")
