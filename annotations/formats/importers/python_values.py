"""Lists that a table's cells hold as Python or NumPy prints them."""

from __future__ import annotations

import ast
import re
from typing import Any

MAX_LENGTH = 1_000_000
_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\[\]{}(),:]|[^'"\s\[\]{}(),:]+|\s+|['"]""", re.DOTALL
)
_NO_START = frozenset("]}),:")
_NO_END = frozenset("[{(,:")


def python_list(text: str) -> list[Any] | None:
    """Read a list that was printed.

    Args:
        text: ``['a', 'b']`` as Python prints it, or ``['a' 'b']`` as NumPy does, which pandas
            writes to CSV; strings, numbers, and lists and objects of them.

    Returns:
        The list; None where the text holds none, or has more than ``MAX_LENGTH`` characters.
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > MAX_LENGTH:
        return None
    pieces: list[str] = []
    last, is_apart = "", False
    for token in _TOKEN.findall(text):
        if token.isspace():
            is_apart = True
            continue
        # What only white space separates are two values: Python would join the strings
        is_next = last and last not in _NO_END and token not in _NO_START
        pieces.append(f",{token}" if is_next and is_apart else token)
        last, is_apart = token, False
    try:
        found = ast.literal_eval("".join(pieces))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return found if isinstance(found, list) else None
