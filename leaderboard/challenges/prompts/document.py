"""One JSON document from bytes of unknown origin, strictly: UTF-8, no NUL, no key twice, no NaN,
not nested deeply."""

from __future__ import annotations

import codecs
import json
from typing import Any

from annotations.formats.importers.json_source import (
    NotJsonError,
    not_json,
    object_without_duplicates,
    refuse_constant,
)
from annotations.formats.importers.problems import Problems

DEEPEST = 20
"""Levels of nesting. A prompt has three."""


def one_document(data: bytes, problems: Problems) -> Any:
    """The value that ``data`` holds. Raises ImportFailed, with one problem that names the place,
    where it is none."""
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        problems.stop("", "", "is empty")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        problems.stop("", "", "is UTF-16; save it as UTF-8")
    if b"\0" in data:
        problems.stop("", "", f"holds a NUL byte (byte {data.index(0) + 1:,})")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.stop("", "", f"is not UTF-8 (byte {error.start + 1:,})")
    _refuse_depth(text, problems)
    try:
        return json.loads(
            text, object_pairs_hook=object_without_duplicates, parse_constant=refuse_constant
        )
    except json.JSONDecodeError as error:
        problems.stop("", "", f"{not_json(error)} at line {error.lineno} column {error.colno}")
    except NotJsonError as error:
        problems.stop("", "", str(error))
    except RecursionError:
        problems.stop("", "", "is nested too deeply")
    except ValueError:
        problems.stop("", "", "holds a number with too many digits")


def _refuse_depth(text: str, problems: Problems) -> None:
    """Before anything is built. Brackets inside strings do not count."""
    depth, in_string, escaped = 0, False, False
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > DEEPEST:
                problems.stop("", "", f"is nested more than {DEEPEST} levels deep")
        elif character in "]}":
            depth -= 1
