"""The one way to write a record as JSON: what the digest of a corpus is made of and what the jsonl
format holds."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any

from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    Message,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
)

TYPE_NAMES: dict[type[Record], str] = {
    CorpusRecord: "corpus",
    SystemRecord: "system",
    RaterRecord: "rater",
    DialogueRecord: "dialogue",
    ResponseRecord: "response",
    RatingRecord: "rating",
    LabelRecord: "label",
    PreferenceRecord: "preference",
}


def record_as_json(record: Record) -> dict[str, Any]:
    """Convert a record to a JSON object.

    Defaults are left out so that a field added to the records later does not give old corpora a new
    digest.

    Args:
        record: any record of ``annotations.formats.records``.

    Returns:
        Its ``type`` (a value of ``TYPE_NAMES``) and every field that differs from its default;
        nested dataclasses are objects in the same way, tuples are lists. A turn without ``after``
        has its ``context``, empty or not. In metadata and parts whole numbers have no fraction,
        so that a database that stores numbers by value keeps the digest.
    """
    return {"type": TYPE_NAMES[type(record)], **_fields(record)}


def message_as_json(message: Message) -> dict[str, Any]:
    """Convert a message to a JSON object: what a database stores, and a dialogue's line holds.

    Args:
        message: any message.

    Returns:
        ``role``, ``text`` and every other field that is not empty.
    """
    if message.name or message.parts or message.time or message.metadata:
        return _fields(message)
    return {"role": message.role, "text": message.text}


def message_of(stored: Mapping[str, Any]) -> Message:
    """The message of a JSON object that ``message_as_json`` made.

    Args:
        stored: the object.

    Returns:
        The message.
    """
    return Message(**{**stored, "parts": tuple(stored.get("parts", ()))})


def canonical_line(record: Record) -> str:
    """Serialise a record as one line of JSON, the same for equal records whatever their file.

    Args:
        record: any record of ``annotations.formats.records``.

    Returns:
        JSON with sorted keys, no blanks between tokens and no escapes for non-ASCII text, without a
        line end.
    """
    return _AS_JSON(record_as_json(record))


_AS_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""Made once: ``json.dumps`` would make one for each of a million ratings."""


class Digest:
    """SHA-256 over the canonical line of each record, in order: the identity of a corpus version.

    Ratings, labels, preferences and further samples are each counted beside the rest, and raters
    after the systems: where they stand among the responses of their dialogue, or among the
    systems, which no database row says, does not count.

    What a corpus is called does not count, nor whether its scales are said at once or aspect by
    aspect: so a corpus that was stored under another name and exported has the digest that it was
    imported with.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._ratings = hashlib.sha256()
        # Of kinds that older corpora have not: those that do not occur change no digest.
        self._beside: dict[str, Any] = {}
        self._raters: list[bytes] = []

    def add(self, record: Record) -> None:
        """Add a record to the digest.

        Args:
            record: the next one of the stream, in the order of ``annotations.formats.records``.
        """
        if isinstance(record, CorpusRecord):
            scales = tuple((aspect, *record.scale_of(aspect)) for aspect in record.aspects)
            record = dataclasses.replace(
                record, name="", part="", scale=CorpusRecord().scale, scales=scales
            )
        written = canonical_line(record).encode("utf-8") + b"\n"
        if isinstance(record, RaterRecord):
            self._raters.append(written)
            return
        if isinstance(record, DialogueRecord):
            self._add_raters()
        self._part_of(record).update(written)

    def _part_of(self, record: Record) -> Any:
        if isinstance(record, RatingRecord):
            return self._ratings
        if isinstance(record, LabelRecord | PreferenceRecord):
            return self._beside.setdefault(TYPE_NAMES[type(record)], hashlib.sha256())
        if isinstance(record, ResponseRecord) and record.sample:
            return self._beside.setdefault("sample", hashlib.sha256())
        return self._hash

    def _add_raters(self) -> None:
        for line in self._raters:
            self._hash.update(line)
        self._raters.clear()

    def hexdigest(self) -> str:
        """The digest of the records added so far.

        Returns:
            SHA-256 as 64 hexadecimal digits.
        """
        self._add_raters()
        whole = self._hash.copy()
        whole.update(self._ratings.digest())
        for kind, part in sorted(self._beside.items()):
            whole.update(kind.encode() + part.digest())
        return whole.hexdigest()


def _fields(instance: Any) -> dict[str, Any]:
    fields = {
        name: _plain(value)
        for name, default in _names_and_defaults(instance.__class__)
        if (value := getattr(instance, name)) != default
    }
    if isinstance(instance, TurnRecord) and instance.after is None:
        fields.setdefault("context", [])
    return fields


@cache
def _names_and_defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (
            field.name,
            field.default
            if field.default_factory is dataclasses.MISSING
            else field.default_factory(),
        )
        for field in dataclasses.fields(kind)
    )


_SCALARS = frozenset({str, int, float, bool, type(None)})
"""Of which a million messages have ten million: they are asked about first."""


def _plain(value: Any) -> Any:
    if value.__class__ in _SCALARS:
        return value
    if value.__class__ is Message:
        return message_as_json(value)
    if dataclasses.is_dataclass(value):
        return _fields(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return _by_value(value) if isinstance(value, Mapping) else value


def _by_value(value: Any) -> Any:
    """JSON whose whole numbers are integers: PostgreSQL stores 1e22 as such."""
    if isinstance(value, Mapping):
        return {key: _by_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_by_value(one) for one in value]
    if isinstance(value, float) and value.is_integer():
        return int(Decimal(repr(value)))
    return value
