"""Slices of a corpus: the conversations that share a value of their metadata, or a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotations.formats.records import DialogueRecord, LabelRecord, Record

MAX_KEYS = 100
MAX_VALUES = 50
"""Of one key; what has more is an id or a text, and divides a corpus into nothing that is worth
comparing."""
LONGEST = 100
"""Characters of a key or value."""

Slices = dict[str, dict[str, int]]
"""By key and value: in how many conversations it is."""


def slice_values(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys and values of a conversation's metadata by which it can be told from others.

    Args:
        metadata: of one conversation, any JSON object.

    Returns:
        Iterator over (key, value): texts, whole numbers, and true or false, also those in a list.
        Other values are left out, as are keys and values of more than ``LONGEST`` characters.
    """
    for key, value in metadata.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            text = _text_of(one)
            if key and text and len(key) <= LONGEST and len(text) <= LONGEST:
                yield key, text


def label_values(question: str, value: str | Iterable[str]) -> Iterator[tuple[str, str]]:
    """The same for a label of a whole conversation: its question is the key.

    Args:
        question: what was asked.
        value: the category, or several.

    Returns:
        Iterator over (question, category).
    """
    yield from slice_values({question: [value] if isinstance(value, str) else list(value)})


class SliceCounter:
    """Counts conversations by key and value, in bounded memory."""

    def __init__(self) -> None:
        self._conversations = 0
        self._counts: dict[str, dict[str, int] | None] = {}
        self._of_this: set[tuple[str, str]] = set()

    def add(self, record: Record) -> None:
        """Take the next record of a stream in the order of ``formats.records``.

        Args:
            record: of any kind; conversations and labels of whole conversations count.
        """
        if isinstance(record, DialogueRecord):
            self.begin()
            self.count(slice_values(record.metadata))
        elif (
            isinstance(record, LabelRecord)
            and record.turn is None
            and record.message is None
            and not record.system
        ):
            self.count(label_values(record.question, record.value))

    def begin(self) -> None:
        """What follows is of the next conversation."""
        self._conversations += 1
        self._of_this = set()

    def count(self, values: Iterable[tuple[str, str]]) -> None:
        """Each value counts once for a conversation, however many say it."""
        for key, value in values:
            if (key, value) in self._of_this:
                continue
            if key not in self._counts and len(self._counts) >= MAX_KEYS:
                continue
            self._of_this.add((key, value))
            counts = self._counts.setdefault(key, {})
            if counts is None:
                continue
            counts[value] = counts.get(value, 0) + 1
            if len(counts) > MAX_VALUES:
                self._counts[key] = None

    def slices(self) -> Slices:
        """The slices of all conversations so far.

        Returns:
            Keys in the order of their first mention, values by how many conversations have them,
            most first. A value that all conversations have divides nothing and is left out.
        """
        found: Slices = {}
        for key, counts in self._counts.items():
            parts = {
                value: count
                for value, count in sorted(
                    (counts or {}).items(), key=lambda one: (-one[1], one[0])
                )
                if count < self._conversations
            }
            if parts:
                found[key] = parts
        return found


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip() if isinstance(value, str | int) else ""
