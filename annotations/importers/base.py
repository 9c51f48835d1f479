"""What an importer is, and the survey that reads a whole file before anything of it is stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from annotations.importers.canonical import Digest
from annotations.importers.checks import Checker, Counts
from annotations.importers.problems import MAX_PROBLEMS, ImportFailed, Problem, Problems, Where
from annotations.records import CorpusRecord, Record

Placed = tuple[Record, Where, str]
"""A record and where it stands: the element or line, and the field below it, for problems found
later."""


def one_corpus(_path: Path, _problems: Problems) -> tuple[str, ...]:
    """The parts of a file that holds a single corpus."""
    return ("",)


@dataclass(frozen=True)
class Importer:
    """Reads one file format. ``stream`` yields records in the order of ``annotations.records``,
    each with its place, notes in ``Problems`` what it cannot read, and goes on; ``parts_of`` names
    the corpora that the file holds. ``sign`` is found in the beginning of a file of this format and
    of no other (``likely_format``)."""

    name: str
    summary: str
    stream: Callable[[Path, str, Problems], Iterator[Placed]]
    sign: re.Pattern[str]
    parts_of: Callable[[Path, Problems], tuple[str, ...]] = one_corpus

    def in_language(self, language: str) -> Importer:
        """This importer, whose corpora are in ``language`` whatever the file says."""

        def stream(path: Path, part: str, problems: Problems) -> Iterator[Placed]:
            for record, where, field in self.stream(path, part, problems):
                yield (
                    (
                        replace(record, language=language)
                        if isinstance(record, CorpusRecord)
                        else record
                    ),
                    where,
                    field,
                )

        return replace(self, stream=stream)

    def parts(self, path: Path) -> tuple[str, ...]:
        """The corpora in the file: ``("",)`` where there is one. Raises ImportFailed where the file
        is unreadable."""
        return self.parts_of(path, Problems(path.name))

    def read(self, path: Path, part: str = "") -> Iterator[Record]:
        """The records of one corpus, checked.

        After a problem it goes on, to collect up to 100, and raises ImportFailed at the end. So
        nothing that came out of it may be kept before it is exhausted.
        """
        return self.read_with(path, part, Problems(path.name), None)

    def read_with(
        self, path: Path, part: str, problems: Problems, checker: Checker | None
    ) -> Iterator[Record]:
        """As ``read``, with the caller's collector and checker (whose counts grow as records
        pass)."""
        checker = checker or Checker(problems)
        if part and self.parts_of is one_corpus:
            problems.stop(
                "", "", f"holds no corpus {part!r}: this format has one corpus a file, with no name"
            )
        for record, where, field in self.stream(path, part, problems):
            if checker.accepts(record, where, field):
                yield record
        checker.finish()
        problems.raise_if_any()


@dataclass(frozen=True, slots=True)
class PartSurvey:
    """What one corpus of a file is and holds. Two files with the same digest hold the same corpus
    version."""

    part: str
    corpus: CorpusRecord
    digest: str
    counts: Counts


def survey(importer: Importer, path: Path) -> tuple[PartSurvey, ...]:
    """Reads the whole file, stores nothing. Raises ImportFailed with the problems of all its
    corpora."""
    surveys: list[PartSurvey] = []
    problems: dict[Problem, None] = {}
    stopped = False
    for part in importer.parts(path):
        try:
            surveys.append(_survey_part(importer, path, part))
        except ImportFailed as failure:
            problems.update(dict.fromkeys(failure.problems))
            stopped = stopped or failure.stopped
    if problems:
        raise ImportFailed(list(problems)[:MAX_PROBLEMS], stopped or len(problems) > MAX_PROBLEMS)
    return tuple(surveys)


def _survey_part(importer: Importer, path: Path, part: str) -> PartSurvey:
    problems = Problems(path.name)
    checker = Checker(problems)
    digest = Digest()
    for record in importer.read_with(path, part, problems, checker):
        digest.add(record)
    # read_with raises where there was no corpus record.
    assert checker.corpus is not None
    return PartSurvey(part, checker.corpus, digest.hexdigest(), checker.counts)
