"""Reads JSON arrays and JSON lines one element at a time, in bounded memory, whatever the file
holds.

The standard library's parser does the parsing, because it keeps lone surrogates, duplicate keys and
exact error positions visible; streaming parsers that were tried replace lone surrogates silently.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from annotations.formats.importers.problems import Problems, not_text

MAX_ELEMENT = 4 * 1024 * 1024
"""Characters of one array element, bytes of one line. Python needs about 25 times that to hold the
worst of them."""
CHUNK = 64 * 1024
MAX_BLANK_LINES = 1_000
"""In a file of JSON lines. Millions of them are no corpus and would take minutes to pass over."""
_WHITE = " \t\r\n"
_WHITE_SPACE = re.compile(f"[{_WHITE}]*")
# A parser that meets the end of its text in a number, a literal or an escape complains a few
# characters before it.
_END_SLACK = 16
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF16_LE, "is UTF-16; save it as UTF-8"),
    (codecs.BOM_UTF16_BE, "is UTF-16; save it as UTF-8"),
)


class NotJsonError(ValueError):
    """Something that the parser would let pass and that no file may hold."""


def object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For ``object_pairs_hook`` of a JSON parser.

    Args:
        pairs: of one object.

    Returns:
        The object.

    Raises:
        NotJsonError: where a key occurs twice.
    """
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise NotJsonError(f"the key {json.dumps(key[:80])} occurs twice in one object")
            seen.add(key)
    return value


def refuse_constant(name: str) -> NoReturn:
    """For ``parse_constant`` of a JSON parser.

    Args:
        name: NaN, Infinity or -Infinity.

    Raises:
        NotJsonError: always.
    """
    raise NotJsonError(f"{name} is not a number in JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=object_without_duplicates, parse_constant=refuse_constant
)


def open_file(
    path: Path, problems: Problems, utf16: bool = False, taken: str = "JSON or CSV"
) -> BinaryIO:
    """Open a text file for reading, past the byte order mark of UTF-8, which Excel writes.

    Args:
        path: file to open.
        problems: collects the fault that is raised.
        utf16: accept UTF-16 with a byte order mark, and read from the mark on.
        taken: what the caller reads, for messages about a file of another kind.

    Returns:
        The file in binary mode. The caller closes it.

    Raises:
        ImportFailed: it is missing, no regular file, unreadable or empty, or its first bytes are
            those of UTF-16 or of a file that is no text (``not_text``).
    """
    if path.is_dir():
        problems.stop("", "", "is a folder, not a file")
    if not path.exists():
        problems.stop("", "", "does not exist")
    if not path.is_file():
        problems.stop("", "", "is not a regular file")
    try:
        file = path.open("rb")
    except OSError as error:
        problems.stop("", "", f"cannot be read: {error.strerror}")
    start = file.read(8)
    file.seek(len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0)
    fault = not_text(start, taken) if start.removeprefix(codecs.BOM_UTF8) else "is empty"
    for mark, message in _BYTE_ORDER_MARKS:
        if start.startswith(mark):
            fault = "" if utf16 else message
    if fault:
        file.close()
        problems.stop("", "", fault)
    return file


def array_elements(
    path: Path, problems: Problems, limit: int = MAX_ELEMENT
) -> Iterator[tuple[str, Any]]:
    """Iterate over the elements of the JSON array that a file holds.

    Args:
        path: file in UTF-8.
        problems: collects the fault that is raised.
        limit: most characters of an element.

    Returns:
        Iterator over (path, value): ``$[0]``, ``$[1]``, … with the parsed element. Memory is
        bounded by the largest element.

    Raises:
        ImportFailed: as in ``open_file``, and at the first point where the file is not such an
            array: after it nothing can be read. Duplicate keys, NaN and infinity are not accepted.
    """
    with open_file(path, problems, taken="JSON") as file:
        text = JsonText(file, problems, limit)
        if text.next_character("$") != "[":
            problems.stop("$", "", f"must be a list (JSON array); found {text.described()}")
        text.skip(1)
        index = 0
        more = text.next_character("$[0]") != "]"
        while more:
            where = f"$[{index}]"
            yield where, text.element(where)
            separator = text.next_character(where)
            if separator not in (",", "]"):
                problems.stop(
                    where,
                    "",
                    f"expected a comma or the end of the list after this element, {text.place()}",
                )
            more = separator == ","
            if more:
                text.skip(1)
                index += 1
        text.skip(1)
        text.expect_end()


class JsonText:
    """The part of a file that the parser looks at now: at most one element and what a chunk brought
    with it."""

    what = "list"
    """What the file holds, as faults call it."""

    def __init__(self, file: BinaryIO, problems: Problems, limit: int = MAX_ELEMENT) -> None:
        self.file = file
        self.problems = problems
        self.limit = limit
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.text = ""
        self.position = 0
        self.at_end = False
        self.bytes_read = file.tell()  # behind a byte order mark
        self.line = 1
        self.column = 1

    def next_character(self, where: str) -> str:
        """The next character that is no white space. Raises ImportFailed at the end of the file."""
        self._skip_white_space()
        if self.position == len(self.text):
            self.problems.stop(
                where, "", f"the file ends here, {self.place()}, before its {self.what} does"
            )
        return self.text[self.position]

    def element(self, where: str) -> Any:
        """The value that starts at the next character that is no white space."""
        self.next_character(where)
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.position)
            except json.JSONDecodeError as error:
                if self.at_end or not _met_the_end(error, self.text):
                    self._stop_at(where, error)
            except RecursionError:
                self.problems.stop(where, "", f"is nested too deeply, {self.place()}")
            except ValueError as error:
                self.problems.stop(
                    where, "", f"{_plain(error)} (the element starts {self.place()})"
                )
            else:
                # A number that ends with the text may go on in the file.
                if end < len(self.text) or self.at_end:
                    self.skip(end - self.position)
                    return value
            self._drop_read()
            if len(self.text) >= self.limit:
                self.problems.stop(
                    where, "", f"is longer than {self.limit:,} characters, {self.place()}"
                )
            # Doubling keeps the cost of starting again linear in the element's length.
            self._grow(min(max(CHUNK, len(self.text)), self.limit - len(self.text)))

    def is_over(self) -> bool:
        """Whether nothing but white space follows."""
        self._skip_white_space()
        return self.position == len(self.text)

    def expect_end(self) -> None:
        """Raises ImportFailed where anything but white space follows."""
        if not self.is_over():
            self.problems.stop(
                "$", "", f"the {self.what} is over but the file goes on, {self.place()}"
            )

    def skip(self, count: int) -> None:
        passed = self.text[self.position : self.position + count]
        self.position += count
        lines = passed.count("\n")
        self.line += lines
        self.column = len(passed) - passed.rfind("\n") if lines else self.column + len(passed)

    def place(self) -> str:
        return f"at line {self.line} column {self.column}"

    def described(self) -> str:
        return json.dumps(self.text[self.position : self.position + 20])

    def _skip_white_space(self) -> None:
        while True:
            if white_space := _WHITE_SPACE.match(self.text, self.position):
                self.skip(white_space.end() - self.position)
            if self.position < len(self.text) or self.at_end:
                return
            self._drop_read()
            self._grow(CHUNK)

    def _drop_read(self) -> None:
        self.text = self.text[self.position :]
        self.position = 0

    def _grow(self, size: int) -> None:
        data = self.file.read(size)
        self.at_end = not data
        if b"\0" in data:
            self.problems.stop(
                "", "", f"holds a NUL byte (byte {self.bytes_read + data.index(0) + 1:,})"
            )
        try:
            self.text += self.decoder.decode(data, final=self.at_end)
        except UnicodeDecodeError as error:
            # The decoder may have kept the first bytes of a character from the chunk before.
            retained = len(error.object) - len(data)
            position = self.bytes_read - retained + error.start + 1
            self.problems.stop("", "", f"is not UTF-8 (byte {position:,})")
        self.bytes_read += len(data)

    def _stop_at(self, where: str, error: json.JSONDecodeError) -> NoReturn:
        message = f"{_plain(error)} {self._position_of(error.pos)}"
        if self.at_end and _met_the_end(error, self.text):
            message += (
                f"; the file ends {self._position_of(len(self.text))}, in the middle of this "
                "element"
            )
        self.problems.stop(where, "", message)

    def _position_of(self, position: int) -> str:
        passed = self.text[self.position : position]
        lines = passed.count("\n")
        column = len(passed) - passed.rfind("\n") if lines else self.column + len(passed)
        return f"at line {self.line + lines} column {column}"


def _met_the_end(error: json.JSONDecodeError, text: str) -> bool:
    return (
        error.msg.startswith("Unterminated string")
        or error.pos >= len(text.rstrip(_WHITE)) - _END_SLACK
    )


def not_json(error: json.JSONDecodeError) -> str:
    """Message for a syntax error in JSON.

    Args:
        error: of Python's parser.

    Returns:
        A predicate to be followed by "at" and the position. Some of Python's messages end with that
        word, which is removed.
    """
    return f"is not JSON: {error.msg.removesuffix(' at')}"


def _plain(error: ValueError) -> str:
    if isinstance(error, NotJsonError):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        return not_json(error)
    return "holds a number with too many digits"


def file_lines(
    path: Path, problems: Problems, taken: str = "a text file"
) -> Iterator[tuple[int, bytes]]:
    """Iterate over the lines of a file that are not blank.

    Args:
        path: file to read.
        problems: collects the fault that is raised.
        taken: what the caller reads, for messages about a file of another kind.

    Returns:
        Iterator over (number, line): the line number, from 1, and the bytes with their line end.

    Raises:
        ImportFailed: as in ``open_file``, at a line of more than ``MAX_ELEMENT`` bytes, because its
            end may never come, and at more than ``MAX_BLANK_LINES`` blank lines.
    """
    with open_file(path, problems, taken=taken) as file:
        number = blank = 0
        while line := file.readline(MAX_ELEMENT + 1):
            number += 1
            if len(line) > MAX_ELEMENT:
                problems.stop(number, "", f"is longer than {MAX_ELEMENT:,} bytes")
            if line.strip():
                yield number, line
                continue
            blank += 1
            if blank > MAX_BLANK_LINES:
                problems.stop(
                    number, "", f"is blank, and so are {MAX_BLANK_LINES:,} lines before it"
                )


def decode_line(line: bytes) -> tuple[str, str]:
    """Decode one line of UTF-8.

    Args:
        line: bytes of the line, with or without its end.

    Returns:
        (text, ""), or ("", what is wrong with its bytes): a NUL byte, or bytes that are not UTF-8.
    """
    if b"\0" in line:
        return "", f"holds a NUL byte (byte {line.index(0) + 1:,} of the line)"
    try:
        return line.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        return "", f"is not UTF-8 (byte {error.start + 1:,} of the line)"


def json_lines(path: Path, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Iterate over the JSON values of a file that holds one per line.

    Blank lines are passed over; lines may end in LF or CR LF.

    Args:
        path: file in UTF-8.
        problems: collects faults. A line that is no JSON is noted and the next one is read.

    Returns:
        Iterator over (number, value): the line number, from 1, and the parsed value.

    Raises:
        ImportFailed: as in ``file_lines``, and at the first fault after 100.
    """
    for number, line in file_lines(path, problems, "JSON lines"):
        value, fault = _parsed(line)
        if fault:
            problems.add(number, "", fault)
        else:
            yield number, value


def _parsed(line: bytes) -> tuple[Any, str]:
    """The value of one line, or None and what is wrong with the line."""
    text, fault = decode_line(line)
    if fault:
        return None, fault
    try:
        return _DECODER.decode(text), ""
    except json.JSONDecodeError as error:
        fault = f"{_plain(error)} at column {error.pos + 1}"
        if not text.endswith("\n") and _met_the_end(error, text):
            fault += f"; the file ends at column {len(text) + 1}, in the middle of this line"
        return None, fault
    except RecursionError:
        return None, "is nested too deeply"
    except ValueError as error:
        return None, _plain(error)
