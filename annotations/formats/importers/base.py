"""What an importer is, and the survey that reads a whole file before anything of it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from annotations.formats.importers.canonical import Digest
from annotations.formats.importers.checks import Checker, Counts
from annotations.formats.importers.problems import (
    MAX_PROBLEMS,
    ImportFailed,
    Problem,
    Problems,
    Where,
)
from annotations.formats.importers.sample import Detector
from annotations.formats.importers.unpacking import MAX_MEMBERS, unpacked
from annotations.formats.records import CorpusRecord, Record

Placed = tuple[Record, Where, str]
"""A record and where it stands: the element or line, and the field below it, for problems found
later."""

WATCHED = 10_000
"""Records between two calls of who watches an import."""


def one_corpus(_path: Path, _problems: Problems) -> tuple[str, ...]:
    """Names of the corpora in a file that always holds a single one.

    Args:
        _path: not read.
        _problems: not used.

    Returns:
        ``("",)``: one corpus, without a name.
    """
    return ("",)


@dataclass(frozen=True)
class Importer:
    """Reader of one file format.

    Attributes:
        name: of the format, as commands and forms take it.
        summary: one line for help texts.
        description: what a file holds and what becomes of it, in Markdown; an example follows it.
        example: a small file of this format.
        stream: yields records in the order of ``formats.records``, each with its position,
            notes in ``Problems`` what it cannot read, and goes on.
        detect: how certainly a file is of this format, from its beginning or a folder's listing
            (``registry.possible_formats``).
        parts_of: names the corpora that the file holds.
        takes_pieces: a folder of such files is read as one, file after file.
    """

    name: str
    summary: str
    stream: Callable[[Path, str, Problems], Iterator[Placed]]
    detect: Detector
    parts_of: Callable[[Path, Problems], tuple[str, ...]] = one_corpus
    description: str = ""
    example: str = ""
    takes_pieces: bool = False

    def in_language(self, language: str) -> Importer:
        """Copy of this importer whose corpora are in ``language``, whatever the file says.

        Args:
            language: BCP 47 code, checked when the records are read; "" for unknown.

        Returns:
            A new importer; this one is unchanged.
        """

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

    def watched(self, passed: Callable[[int], object]) -> Importer:
        """Copy of this importer that says how far it is.

        Args:
            passed: called with the number of records so far, every ``WATCHED`` of them.

        Returns:
            A new importer; this one is unchanged.
        """

        def stream(path: Path, part: str, problems: Problems) -> Iterator[Placed]:
            for count, placed in enumerate(self.stream(path, part, problems)):
                if count % WATCHED == 0:
                    passed(count)
                yield placed

        return replace(self, stream=stream)

    def parts(self, path: Path) -> tuple[str, ...]:
        """Names of the corpora in the file.

        Args:
            path: file in this importer's format.

        Returns:
            One name per corpus, to be passed to ``read``; ``("",)`` where the file holds one
            corpus.

        Raises:
            ImportFailed: the file is unreadable. For formats with one corpus per file it is not
                opened here, and this comes from ``read``.
        """
        problems = Problems(path.name)
        with unpacked(path, problems) as plain:
            return self.parts_of(plain, problems)

    def read(self, path: Path, part: str = "", *, good_only: bool = False) -> Iterator[Record]:
        """Read and check the records of one corpus.

        After a problem it goes on, to collect up to 100, and raises at the end. So nothing that
        came out of it may be stored before it is exhausted.

        Args:
            path: file in this importer's format.
            part: name of the corpus, one of ``parts``; "" where the file holds one corpus.
            good_only: leave out bad records, and what refers to them, instead of raising.

        Returns:
            Iterator over records, in the order of ``formats.records``. The file is read as it
            advances.

        Raises:
            ImportFailed: while iterating: the file has problems, or holds no corpus ``part``.
        """
        problems = Problems(path.name, is_lenient=good_only)
        return self.read_with(path, part, problems, None)

    def read_again(self, path: Path, part: str = "") -> Iterator[Record]:
        """Read the records of one corpus that were checked before, of a file that has not changed
        since (``file_state``).

        Args:
            path: file that ``read`` found sound.
            part: name of the corpus, as in ``read``.

        Returns:
            Iterator over records, as in ``read``.

        Raises:
            ImportFailed: while iterating: the file has problems after all.
        """
        problems = Problems(path.name)
        with unpacked(path, problems) as plain:
            for record, _, _ in self.stream(plain, part, problems):
                yield record
        problems.raise_if_any()

    def read_with(
        self, path: Path, part: str, problems: Problems, checker: Checker | None
    ) -> Iterator[Record]:
        """Read and check the records of one corpus, with the caller's collector and checker.

        Args:
            path: file in this importer's format.
            part: name of the corpus, one of ``parts``; "" where the file holds one corpus.
            problems: collects the problems found, at most 100.
            checker: checks each record, and its counts grow as records pass; None for a new one.

        Returns:
            Iterator over records, as in ``read``.

        Raises:
            ImportFailed: while iterating, as in ``read``.
        """
        checker = checker or Checker(problems)
        if part and self.parts_of is one_corpus:
            problems.stop(
                "", "", f"holds no corpus {part!r}: this format has one corpus a file, with no name"
            )
        with unpacked(path, problems) as plain:
            for record, where, field in self.stream(plain, part, problems):
                if checker.accepts(record, where, field):
                    yield record
        checker.finish()
        problems.raise_if_any()


FileState = tuple[int, ...]


def file_state(path: Path) -> FileState | None:
    """What tells whether a file was written to since.

    Args:
        path: anything.

    Returns:
        Its place on the disk, size and times of change, to be compared; None for a folder.
    """
    if not path.is_file():
        return None
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@dataclass(frozen=True, slots=True)
class PartSurvey:
    """Identity and size of one corpus of a file.

    Attributes:
        part: name of the corpus within the file, "" where the file holds one.
        corpus: the corpus record.
        digest: 64 hexadecimal digits. Two files with the same digest hold the same corpus version.
        counts: how many records of each kind it holds.
        skipped: the first records or answers that do not count, with the reason.
        skipped_count: how many there are.
        left_out: faults of bad records that are left out.
    """

    part: str
    corpus: CorpusRecord
    digest: str
    counts: Counts
    skipped: tuple[Problem, ...] = ()
    skipped_count: int = 0
    left_out: tuple[Problem, ...] = ()


def survey(importer: Importer, path: Path, *, good_only: bool = False) -> tuple[PartSurvey, ...]:
    """Read a whole file and summarise its corpora, without storing anything.

    Args:
        importer: reads the file's format.
        path: file to read.
        good_only: leave out bad records, as in ``Importer.read``.

    Returns:
        One survey per corpus, in the order of ``Importer.parts``.

    Raises:
        ImportFailed: with the distinct problems of all corpora in the file, at most 100.
    """
    if path.is_dir():
        # Importers take the first of them alone.
        files = (one for one in path.rglob("*") if one.is_file())
        if next(islice(files, MAX_MEMBERS, None), None):
            fault = f"holds more than {MAX_MEMBERS:,} files: import them in several folders"
            raise ImportFailed([Problem(path.name, "", "", fault)])
    surveys: list[PartSurvey] = []
    problems: dict[Problem, None] = {}
    stopped = False
    for part in importer.parts(path):
        try:
            surveys.append(_survey_part(importer, path, part, good_only))
        except ImportFailed as failure:
            problems.update(dict.fromkeys(failure.problems))
            stopped = stopped or failure.stopped
    if problems:
        raise ImportFailed(list(problems)[:MAX_PROBLEMS], stopped or len(problems) > MAX_PROBLEMS)
    return tuple(surveys)


def _survey_part(importer: Importer, path: Path, part: str, good_only: bool) -> PartSurvey:
    problems = Problems(path.name, is_lenient=good_only)
    checker = Checker(problems)
    digest = Digest()
    for record in importer.read_with(path, part, problems, checker):
        digest.add(record)
    # read_with raises where there was no corpus record.
    assert checker.corpus is not None
    return PartSurvey(
        part,
        checker.corpus,
        digest.hexdigest(),
        checker.counts,
        tuple(problems.skipped),
        problems.skipped_count,
        tuple(problems.found),
    )
