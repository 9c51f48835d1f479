"""When two texts are the same text: corpora differ in case, in spaces and in how they set off
punctuation."""

from __future__ import annotations

import re

_NOT_LETTERS = re.compile(r"[\W_]+")


def letters_of(text: str) -> str:
    """The letters and digits of ``text``, case folded, without anything between them: ``Can't
    you?`` and ``ca n't you ?`` are both ``cantyou``. "" for a text that has none, such as
    ``?!``."""
    return _NOT_LETTERS.sub("", text.casefold())


def key_of(text: str) -> str:
    """As ``letters_of``; a text without any letter stands for itself."""
    return letters_of(text) or text.strip()
