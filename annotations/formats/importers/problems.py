"""What is wrong in a file, said so that a person finds the place and can mend it: also what a file
is that is certainly no text, by its first bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

MAX_PROBLEMS = 100
"""More than this nobody reads, and a file of garbage must not cost more than a glance."""

MAX_LEFT_OUT = 10_000
"""Bad records that may be left out of one corpus."""

Where = str | int
"""A JSON path such as ``$[3]``, or the number of a line (from 1)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a file.

    Attributes:
        file: name of the file.
        where: JSON path, or line number from 1; may be "".
        field: path of the field below ``where``; may be "".
        message: what is wrong, as a predicate ("is empty").
    """

    file: str
    where: Where
    field: str
    message: str

    def __str__(self) -> str:
        if isinstance(self.where, int):
            parts = [f"{self.file}:{self.where}", self.field, self.message]
        else:
            joint = "." if self.where and self.field and not self.field.startswith("[") else ""
            parts = [self.file, f"{self.where}{joint}{self.field}", self.message]
        return ": ".join(part for part in parts if part)


class ImportFailed(Exception):
    """The file cannot be imported.

    Attributes:
        problems: the faults found, at most 100.
        stopped: whether reading ended there, so that there may be more.
    """

    def __init__(self, problems: Iterable[Problem], stopped: bool = False) -> None:
        self.problems = tuple(problems)
        self.stopped = stopped
        super().__init__(str(self))

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if self.stopped:
            lines.append("and more; stopped")
        return "\n".join(lines)


@dataclass
class Problems:
    """The faults found in one file so far.

    Attributes:
        is_lenient: bad records are left out, and the others read.
    """

    file: str
    found: list[Problem] = field(default_factory=list)
    refused: set[tuple[str, str]] = field(default_factory=set)
    """(type, name or id) of records that were read and are at fault: who refers to them is not to
    blame."""
    skipped: list[Problem] = field(default_factory=list)
    """What the file holds and must not count (cancelled, rejected, failed): the first of them."""
    counts: Counter[str] = field(default_factory=Counter)
    """Under ``skipped`` how many there are; collectors of one folder share it."""
    is_lenient: bool = False

    @property
    def skipped_count(self) -> int:
        return self.counts["skipped"]

    def add(self, where: Where, field: str, message: str) -> None:
        """Note a fault and let the reader go on.

        Args:
            where: JSON path or line number; "" for the whole file.
            field: path of the field below ``where``; "" for all of it.
            message: what is wrong, as a predicate ("is empty").

        Raises:
            ImportFailed: ``MAX_PROBLEMS`` faults have been noted already; where bad records are
                left out, ``MAX_LEFT_OUT``.
        """
        if len(self.found) >= (MAX_LEFT_OUT if self.is_lenient else MAX_PROBLEMS):
            raise ImportFailed(self.found[:MAX_PROBLEMS], stopped=True)
        self.found.append(Problem(self.file, where, field, message))

    def stop(self, where: Where, field: str, message: str) -> NoReturn:
        """Note a fault after which the rest of the file has no meaning.

        Args:
            where: JSON path or line number; "" for the whole file.
            field: path of the field below ``where``; "" for all of it.
            message: what is wrong, as a predicate ("is empty").

        Raises:
            ImportFailed: always, with the faults found so far, at most 100.
        """
        self.add(where, field, message)
        raise ImportFailed(self.found[-MAX_PROBLEMS:])

    def skip(self, where: Where, field: str, message: str) -> None:
        """Note a record or answer that is left out on purpose; that is no fault.

        Args:
            where: JSON path or line number.
            field: path of the field below ``where``; "" for all of it.
            message: why it does not count, as a predicate ("was cancelled").
        """
        self.counts["skipped"] += 1
        if len(self.skipped) < MAX_PROBLEMS:
            self.skipped.append(Problem(self.file, where, field, message))

    def raise_if_any(self) -> None:
        """Fail where a fault was found, unless bad records are left out.

        Raises:
            ImportFailed: with the faults found so far, unless there is none.
        """
        if self.found and not self.is_lenient:
            raise ImportFailed(self.found)


_FIRST_BYTES = (
    (
        b"PK\x03\x04",
        "is a zip archive (or an office file: save it as CSV UTF-8); give the text file itself",
    ),
    (b"PK\x05\x06", "is a zip archive; give the text file itself"),
    (b"\x1f\x8b", "is compressed with gzip; give the text file itself"),
    (b"BZh", "is compressed with bzip2; give the text file itself"),
    (b"\xfd7zXZ\x00", "is compressed with xz; give the text file itself"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7-zip archive; give the text file itself"),
    (b"(\xb5/\xfd", "is compressed with zstd; give the text file itself"),
    (b"Rar!\x1a", "is a RAR archive; give the text file itself"),
    (b"%PDF", "is a PDF; give a text file"),
    (b"\xd0\xcf\x11\xe0", "is an office file; save it as CSV in UTF-8"),
    (b"\x7fELF", "is a program; give a text file"),
    (b"\xcf\xfa\xed\xfe", "is a program; give a text file"),
    (b"MZ\x90\x00", "is a program; give a text file"),
    (b"\x89PNG", "is an image; give a text file"),
    (b"\xff\xd8\xff", "is an image; give a text file"),
    (b"GIF8", "is an image; give a text file"),
    (b"\x93NUMPY", "is a NumPy array; give {taken}"),
    (b"PAR1", "is a Parquet file; give {taken}"),
    (b"\x80\x02", "is a Python pickle; give {taken}"),
    (b"\x80\x03", "is a Python pickle; give {taken}"),
    (b"\x80\x04", "is a Python pickle; give {taken}"),
    (b"\x80\x05", "is a Python pickle; give {taken}"),
)


def not_text(start: bytes, taken: str = "JSON or CSV") -> str:
    """Recognise a file that is certainly no text file by its first bytes.

    Args:
        start: first bytes of the file; 8 are enough.
        taken: what the reader accepts instead, such as "JSON".

    Returns:
        What the file is and what to do, as a predicate ("is a PDF; give a text file"); "" where it
        may be text.
    """
    found = next((message for first, message in _FIRST_BYTES if start.startswith(first)), "")
    return found.format(taken=taken)
