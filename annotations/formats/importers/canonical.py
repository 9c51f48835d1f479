"""The one way to write a record as JSON: what the digest of a corpus is made of and what the jsonl
format holds."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from json.encoder import encode_basestring
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
    Utterance,
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
    if len(stored) == 2:
        return Message(stored["role"], stored["text"])
    return Message(**{**stored, "parts": tuple(stored.get("parts", ()))})


def canonical_line(record: Record) -> str:
    """Serialise a record as one line of JSON, the same for equal records whatever their file.

    Args:
        record: any record of ``annotations.formats.records``.

    Returns:
        JSON with sorted keys, no blanks between tokens and no escapes for non-ASCII text, without a
        line end.
    """
    # A corpus has millions of these three kinds: their keys are written here in order, which takes
    # a fifth of the time of a dictionary that is sorted.
    if record.__class__ is ResponseRecord:
        if record.sample == 0 and record.parts == () and record.metadata == {}:
            return (
                f'{{"dialogue_id":{_text(record.dialogue_id)},"system":{_text(record.system)},'
                f'"text":{_text(record.text)},"turn":{record.turn},"type":"response"}}'
            )
    elif record.__class__ is RatingRecord:
        if record.score.__class__ is float and math.isfinite(record.score):
            comment = f'"comment":{_text(record.comment)},' if record.comment != "" else ""
            turn = "null" if record.turn is None else record.turn
            return (
                f'{{"aspect":{_text(record.aspect)},{comment}'
                f'"dialogue_id":{_text(record.dialogue_id)},"rater":{_text(record.rater)},'
                f'"score":{record.score!r},"system":{_text(record.system)},"turn":{turn},'
                '"type":"rating"}'
            )
    elif record.__class__ is DialogueRecord:
        return _dialogue_line(record)
    return _AS_JSON(record_as_json(record))


_AS_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""Made once: ``json.dumps`` would make one for each of a million ratings."""
_text = encode_basestring


def _dialogue_line(dialogue: DialogueRecord) -> str:
    fields = [f'"id":{_text(dialogue.id)}']
    if dialogue.interactive:
        fields.append('"interactive":true')
    if dialogue.knowledge != ():
        fields.append(f'"knowledge":{_texts(dialogue.knowledge)}')
    if dialogue.messages != ():
        fields.append(f'"messages":[{",".join(map(_message_text, dialogue.messages))}]')
    if dialogue.metadata != {}:
        fields.append(f'"metadata":{_AS_JSON(_by_value(dialogue.metadata))}')
    fields.append(f'"partner_persona":{_texts(dialogue.partner_persona)}')
    fields.append(f'"persona":{_texts(dialogue.persona)}')
    if dialogue.turns != ():
        fields.append(f'"turns":[{",".join(map(_turn_text, dialogue.turns))}]')
    return f'{{{",".join(fields)},"type":"dialogue"}}'


def _message_text(message: Message) -> str:
    if message.name or message.parts or message.time or message.metadata:
        return _AS_JSON(_fields(message))
    return f'{{"role":{_text(message.role)},"text":{_text(message.text)}}}'


def _turn_text(turn: TurnRecord) -> str:
    references = f',"references":{_texts(turn.references)}' if turn.references != () else ""
    if turn.after is not None and turn.context == ():
        return f'{{"after":{turn.after},"number":{turn.number}{references}}}'
    after = "" if turn.after is None else f'"after":{turn.after},'
    context = ",".join(map(_utterance_text, turn.context))
    return f'{{{after}"context":[{context}],"number":{turn.number}{references}}}'


def _utterance_text(utterance: Utterance) -> str:
    return f'{{"speaker":{_text(utterance.speaker)},"text":{_text(utterance.text)}}}'


def _texts(texts: Iterable[str]) -> str:
    return f"[{','.join(map(_text, texts))}]"


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
