"""When two texts are the same text: corpora differ in case, in spaces and in how they set off
punctuation."""

from __future__ import annotations

import re

_NON_ALPHANUMERIC = re.compile(r"[\W_]+")


def normalised_characters(text: str) -> str:
    """The letters and digits of ``text``, case folded, without anything between them: ``Can't
    you?`` and ``ca n't you ?`` are both ``cantyou``. "" for a text that has none, such as
    ``?!``."""
    return _NON_ALPHANUMERIC.sub("", text.casefold())


def key_of(text: str) -> str:
    """As ``normalised_characters``; a text without any letter stands for itself."""
    return normalised_characters(text) or text.strip()
