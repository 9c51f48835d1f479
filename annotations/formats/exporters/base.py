"""What an exporter is, how its folder appears (whole or not at all), and names that can be names of
files and single words in a file that is split at white space."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from annotations.formats.records import Record
from common.temporary import put_in_place, temporary_folder


class ExportFailed(Exception):
    """The folder could not be written; the message says why, and the target is as it was."""


@dataclass(frozen=True, slots=True)
class SubmittedRecord:
    """Origin of a submitted metric, whose scores were uploaded rather than computed here.

    Attributes:
        level: what the file scored: turn, dialogue or system. Scores of coarser levels are means of
            these.
        higher_is_better: direction of the metric.
        submitted_by: who submitted it.
        link: address that describes the metric.
        file_sha256: SHA-256 of the uploaded file, in hexadecimal digits.
    """

    level: str
    higher_is_better: bool
    submitted_by: str
    link: str
    file_sha256: str


@dataclass(frozen=True, slots=True)
class MetricScoresRecord:
    """One metric's scores of one system. None is an undefined score.

    Attributes:
        metric: the label with its configuration (``bleu_4`` or ``bertscore_f1[encoder=…]``).
        system: name of the system.
        signature: how the scores were computed.
        turn_scores: by (dialogue id, turn number).
        dialogue_scores: by dialogue id.
        system_score: score of the system.
        uses_references: False for a metric that never reads the gold answer.
        submitted: None for a metric that was computed here.
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
    """Writer of one file format.

    Attributes:
        name: of the format, as commands and pages take it.
        summary: one line for help texts.
        write: fills an empty folder from a checked stream of records and any metric scores, which
            come metric by metric.
    """

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
        """Write a corpus into ``folder``, which appears only when it is complete.

        Where reading the records raises, nothing is left behind.

        Args:
            records: checked stream, in the order of ``annotations.formats.records``.
            folder: to be made; its parents are, too.
            scores: metric scores, metric by metric.
            replace: replace a folder that holds something.

        Raises:
            ExportFailed: ``folder`` is a file, or holds something and ``replace`` is False.
        """
        with whole_folder(folder, replace) as unfinished:
            self.write(records, scores, unfinished)


@contextmanager
def whole_folder(folder: Path, replace: bool = False) -> Iterator[Path]:
    """Context manager for writing a folder that appears whole or not at all.

    Args:
        folder: the folder to be made; its parents are, too.
        replace: replace a folder that holds something.

    Returns:
        A context manager that gives an empty temporary folder beside ``folder``. It takes that name
        when the block ends well, and is removed otherwise.

    Raises:
        ExportFailed: before the block or at its end: ``folder`` is a file, or holds something and
            ``replace`` is False.
    """
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


_UNSAFE = re.compile(r"[^A-Za-z0-9_+.-]+")
_MAX_LENGTH = 100


class SafeNames:
    """Gives every name a safe one, always the same and never the same for two names.

    Safe names differ in more than case, for file systems that ignore it.

    Args:
        unsafe: further characters that may not occur.
        reserved: names that mean something else and are never given.
    """

    def __init__(self, unsafe: str = "", reserved: Iterable[str] = ()) -> None:
        self._unsafe = unsafe
        self._safe: dict[str, str] = {}
        self._taken = {name.casefold() for name in reserved}

    def of(self, name: str) -> str:
        """The safe name of a name.

        Args:
            name: any name.

        Returns:
            ASCII letters, digits and ``_+.-``, at least one, with ``_`` for each run of other
            characters; at most 100 of them and, where another name has the same, ``_`` with 8
            hexadecimal digits. It does not begin with ``-`` or ``+``, and has no point at either
            end.
        """
        if name not in self._safe:
            candidate = _UNSAFE.sub("_", name)
            for character in self._unsafe:
                candidate = candidate.replace(character, "_")
            candidate = candidate[:_MAX_LENGTH].strip(".")
            # No option of a command, and no formula in the tool's tables, which have no way to
            # quote.
            if candidate.startswith(("-", "+")):
                candidate = f"_{candidate[1:]}"
            safe = candidate = candidate or "_"
            digest = name
            while safe.casefold() in self._taken:
                digest = hashlib.sha256(digest.encode("utf-8")).hexdigest()
                safe = f"{candidate}_{digest[:8]}"
            self._taken.add(safe.casefold())
            self._safe[name] = safe
        return self._safe[name]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(name, safe name) in the order of first use."""
        return tuple(self._safe.items())
