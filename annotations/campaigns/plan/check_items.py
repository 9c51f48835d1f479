"""Training and attention items as JSON lines. Pure: no Django here.

One object a line::

    {"role": "training", "dialogue": "d12", "turn": 3, "system": "echo", "lowest": 1, "highest": 2,
    "feedback": "…"} {"role": "attention", "dialogue": "d12", "turn": 3, "text": "Of seven purple.",
    "lowest": 1, "highest": 1}

``turn`` only at turn level; there ``text`` may stand for ``system``, at dialogue level ``texts``,
one for each turn. An attention item always has its own.

Where responses are compared, ``texts`` has those that stand side by side, from the best to the
worst (of whole dialogues, a list each with a text for each turn); raters see them in an order of
their own, and what is right follows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from annotations.campaigns.scale import HIGHEST, LOWEST
from common.text import MAX_RESPONSE, text_fault

CheckedLevel = Literal["turn", "dialogue"]
ROLES = ("training", "attention")
LARGEST_FILE = 1_000_000
MOST_PROBLEMS = 20
LONGEST_FEEDBACK = 2_000
KNOWN_FIELDS = frozenset(
    {"role", "dialogue", "turn", "system", "text", "texts", "lowest", "highest", "feedback"}
)
RIGHT = 1
"""Of a comparison, the score of an answer that puts the first text first and the last last; of
others it is 0."""


@dataclass(frozen=True, slots=True)
class Fault:
    """``line`` counts from 1; 0 is the file as a whole."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        place = ", ".join(
            part for part in (f"line {self.line}" if self.line else "", self.field) if part
        )
        return f"{place}: {self.message}" if place else self.message


class BadCheckFile(Exception):
    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = list(faults)


@dataclass(frozen=True, slots=True)
class CheckItem:
    """``turn`` is None at dialogue level. Either ``system`` is named or ``texts`` are given; of
    responses that are compared all texts of the best come first."""

    role: str
    dialogue: str
    turn: int | None
    system: str | None
    texts: tuple[str, ...]
    lowest: int
    highest: int
    feedback: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """Two with the same one would show a rater the same thing twice."""
        return (self.role, self.dialogue, self.turn, self.system, self.texts)


@dataclass(frozen=True, slots=True)
class Answers:
    """What the corpus holds: turn numbers by dialogue, and for each system the (dialogue, turn)
    that it answered."""

    turns: Mapping[str, Sequence[int]]
    answered: Mapping[str, frozenset[tuple[str, int]]] = field(default_factory=dict)


def read_check_items(
    data: bytes,
    level: CheckedLevel,
    corpus: Answers,
    scale: tuple[int, int] = (LOWEST, HIGHEST),
    compared: int = 0,
) -> list[CheckItem]:
    """All of the file's items, whose ranges lie on ``scale``. ``compared``: how many responses, or
    systems' dialogues, stand side by side; 0 where one is rated alone. Raises ``BadCheckFile`` with
    up to 20 faults, each with its line and field."""
    if len(data) > LARGEST_FILE:
        raise BadCheckFile(
            [
                Fault(
                    0, "", f"the file has {len(data):,} bytes; at most {LARGEST_FILE:,} are allowed"
                )
            ]
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadCheckFile(
            [Fault(0, "", f"the file is not UTF-8 (byte {error.start + 1})")]
        ) from None
    reader = _Reader(level, corpus, scale, compared)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            reader.read(number, line)
        if len(reader.faults) >= MOST_PROBLEMS:
            break
    if not reader.faults and not reader.items:
        reader.faults.append(Fault(0, "", "the file holds no items"))
    if reader.faults:
        raise BadCheckFile(reader.faults)
    return reader.items


class _FieldFault(Exception):
    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class _Reader:
    def __init__(
        self, level: CheckedLevel, corpus: Answers, scale: tuple[int, int], compared: int
    ) -> None:
        self.level = level
        self.scale = scale
        self.compared = compared
        self.corpus = corpus
        self.items: list[CheckItem] = []
        self.faults: list[Fault] = []
        self._line_of: dict[tuple[object, ...], int] = {}

    def read(self, number: int, line: str) -> None:
        try:
            item = self._item(_object(line))
        except _FieldFault as fault:
            self.faults.append(Fault(number, fault.field, str(fault)))
            return
        if item.identity in self._line_of:
            self.faults.append(
                Fault(number, "", f"the same item is in line {self._line_of[item.identity]}")
            )
            return
        self._line_of[item.identity] = number
        self.items.append(item)

    def _item(self, record: dict[str, Any]) -> CheckItem:
        for name in record:
            if name not in KNOWN_FIELDS:
                raise _FieldFault(
                    name[:40], f"is not known; the fields are {', '.join(sorted(KNOWN_FIELDS))}"
                )
        role = record.get("role")
        if role not in ROLES:
            raise _FieldFault("role", "must be training or attention")
        dialogue = self._dialogue(record)
        turn = self._turn(record, dialogue)
        if self.compared:
            texts = self._compared_texts(record, dialogue)
            return CheckItem(role, dialogue, turn, None, texts, RIGHT, RIGHT, _feedback(record))
        if role == "attention" and "system" in record:
            # The campaign may give a rater the same response, and seeing it twice tells which one
            # was the check.
            raise _FieldFault(
                "system", "does not belong to an attention item: give a text of your own"
            )
        system, texts = self._responses(record, dialogue, turn)
        lowest, highest = (_score(record, name, self.scale) for name in ("lowest", "highest"))
        if lowest > highest:
            raise _FieldFault("highest", f"is below lowest ({highest} < {lowest})")
        return CheckItem(role, dialogue, turn, system, texts, lowest, highest, _feedback(record))

    def _dialogue(self, record: dict[str, Any]) -> str:
        dialogue = record.get("dialogue")
        if not isinstance(dialogue, str):
            raise _FieldFault("dialogue", "must be the dialogue's name in the corpus, as text")
        if not self.corpus.turns.get(dialogue):
            raise _FieldFault(
                "dialogue", f"the corpus has no dialogue {dialogue[:60]!r} with turns"
            )
        return dialogue

    def _turn(self, record: dict[str, Any], dialogue: str) -> int | None:
        turn = record.get("turn")
        if self.level == "dialogue":
            if turn is not None:
                raise _FieldFault(
                    "turn", "does not belong here: this campaign judges whole dialogues"
                )
            return None
        if not isinstance(turn, int) or isinstance(turn, bool):
            raise _FieldFault("turn", "must be the turn's number")
        if turn not in self.corpus.turns[dialogue]:
            raise _FieldFault("turn", f"dialogue {dialogue[:60]!r} has no turn {turn}")
        return turn

    def _responses(
        self, record: dict[str, Any], dialogue: str, turn: int | None
    ) -> tuple[str | None, tuple[str, ...]]:
        own = "text" if self.level == "turn" else "texts"
        other = "texts" if self.level == "turn" else "text"
        if other in record:
            raise _FieldFault(other, f"this campaign takes {own}")
        if ("system" in record) == (own in record):
            raise _FieldFault("system", f"name either a system or the {own} to show")
        if "system" in record:
            return self._system(record["system"], dialogue, turn), ()
        given = [record[own]] if self.level == "turn" else record[own]
        return None, self._texts(own, given, dialogue)

    def _compared_texts(self, record: dict[str, Any], dialogue: str) -> tuple[str, ...]:
        for name in ("system", "text", "lowest", "highest"):
            if name in record:
                raise _FieldFault(
                    name, "does not belong here: give texts, from the best to the worst"
                )
        given = record.get("texts")
        if not isinstance(given, list) or len(given) != self.compared:
            raise _FieldFault(
                "texts", f"must be a list of {self.compared}, from the best to the worst"
            )
        arms = [
            self._texts("texts", [one] if self.level == "turn" else one, dialogue) for one in given
        ]
        if arms[0] in arms[1:] or arms[-1] in arms[:-1]:
            raise _FieldFault("texts", "the best and the worst must differ from all others")
        return tuple(text for arm in arms for text in arm)

    def _system(self, name: Any, dialogue: str, turn: int | None) -> str:
        if not isinstance(name, str) or name not in self.corpus.answered:
            raise _FieldFault("system", f"the corpus has no system {str(name)[:60]!r}")
        wanted = self.corpus.turns[dialogue] if turn is None else [turn]
        for number in wanted:
            if (dialogue, number) not in self.corpus.answered[name]:
                raise _FieldFault(
                    "system", f"{name[:60]!r} has no response at turn {number} of {dialogue[:60]!r}"
                )
        return name

    def _texts(self, name: str, given: Any, dialogue: str) -> tuple[str, ...]:
        wanted = 1 if self.level == "turn" else len(self.corpus.turns[dialogue])
        if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
            raise _FieldFault(
                name, "must be text" if self.level == "turn" else "must be a list of texts"
            )
        if len(given) != wanted:
            raise _FieldFault(
                name, f"has {len(given)} texts; dialogue {dialogue[:60]!r} has {wanted} turns"
            )
        for text in given:
            if fault := text_fault(text, MAX_RESPONSE):
                raise _FieldFault(name, fault)
        return tuple(given)


def _object(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _FieldFault("", "is not JSON") from None
    if not isinstance(record, dict):
        raise _FieldFault("", "must be a JSON object")
    return record


def _score(record: dict[str, Any], name: str, scale: tuple[int, int]) -> int:
    value = record.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not scale[0] <= value <= scale[1]:
        raise _FieldFault(name, f"must be a whole number from {scale[0]} to {scale[1]}")
    return value


def _feedback(record: dict[str, Any]) -> str:
    feedback = record.get("feedback", "")
    if not isinstance(feedback, str):
        raise _FieldFault("feedback", "must be text")
    if fault := text_fault(feedback, LONGEST_FEEDBACK, may_be_empty=True):
        raise _FieldFault("feedback", fault)
    return feedback
