"""Checks a stream of records against the order and the rules of ``formats.records``, in bounded
memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotations.formats.importers.problems import ImportFailed, Problems, Where
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
from annotations.languages import language_fault
from common.text import MAX_ASPECT, MAX_NAME, MAX_TEXT, name_fault, text_fault

SPEAKERS = ("A", "B")
LARGEST_SCORE = 1e100
"""In size, of a human or a metric's score. Means and correlations, which add and square scores,
would leave the numbers that a computer has."""
MAX_SYSTEMS = 10_000
MAX_RATERS = 100_000
MAX_DIALOGUES = 1_000_000
MAX_RESPONSES_OF_DIALOGUE = 100_000
MAX_RATINGS_OF_DIALOGUE = 500_000
"""Ratings, labels and preferences, each."""
MAX_MESSAGES = 100_000
MAX_DEPTH = 20
"""Of objects and lists within metadata and parts."""
MAX_VALUES = 10_000
"""In one object of metadata or one part."""
LARGEST_INTEGER = 10**309
"""Beyond all floating-point numbers."""
MAX_TIME = 64


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a corpus holds.

    Attributes:
        dialogues: number of dialogues.
        turns: number of turns, over all dialogues.
        systems: number of systems.
        responses: number of responses.
        raters: number of rater names; for anonymous raters, the length of the longest list of
            scores.
        ratings: number of ratings.
        messages: number of messages of conversations that are held once.
        labels: number of labels.
        preferences: number of preferences.
    """

    dialogues: int = 0
    turns: int = 0
    systems: int = 0
    responses: int = 0
    raters: int = 0
    ratings: int = 0
    messages: int = 0
    labels: int = 0
    preferences: int = 0


@dataclass
class _DialogueInProgress:
    """What has been said of the dialogue that the stream is in. Only this is held, not the
    dialogues before it."""

    id: str
    turns: frozenset[int]
    messages: int
    interactive: bool
    responses: set[tuple[str, int, int]] = field(default_factory=set)
    responding: set[str] = field(default_factory=set)
    ratings: set[tuple[str, int | None, str, str]] = field(default_factory=set)
    labels: set[tuple[Any, ...]] = field(default_factory=set)
    preferences: set[tuple[Any, ...]] = field(default_factory=set)


class Checker:
    """Checks a stream of records, each once and in order, and notes faults in ``problems``.

    Attributes:
        problems: collects the faults.
        corpus: the corpus record, None before it has come.
    """

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.corpus: CorpusRecord | None = None
        self._scales: dict[str, tuple[float | None, float | None]] = {}
        self._systems: set[str] = set()
        self._raters: set[str] = set()
        self._dialogues: set[str] = set()
        self._dialogue: _DialogueInProgress | None = None
        self._turns = 0
        self._messages = 0
        self._responses = 0
        self._ratings = 0
        self._labels = 0
        self._preferences = 0
        self._checks: dict[type, Callable[[Any], list[tuple[str, str]]]] = {
            CorpusRecord: self._corpus_faults,
            SystemRecord: self._system_faults,
            RaterRecord: self._rater_faults,
            DialogueRecord: self._dialogue_faults,
            ResponseRecord: self._response_faults,
            RatingRecord: self._rating_faults,
            LabelRecord: self._label_faults,
            PreferenceRecord: self._preference_faults,
        }

    @property
    def counts(self) -> Counts:
        """What has been accepted so far."""
        return Counts(
            dialogues=len(self._dialogues),
            turns=self._turns,
            systems=len(self._systems),
            responses=self._responses,
            raters=len(self._raters),
            ratings=self._ratings,
            messages=self._messages,
            labels=self._labels,
            preferences=self._preferences,
        )

    def accepts(self, record: Record, where: Where, field: str) -> bool:
        """Check the next record of the stream.

        Args:
            record: any record of ``annotations.formats.records``.
            where: JSON path or line number that faults are reported with.
            field: field below ``where`` as the file names it; "" to report the record's own field.

        Returns:
            True where the record is sound and no fault has been noted before it; where bad records
            are left out, whether this one is sound.

        Raises:
            ImportFailed: at the first fault after 100, and where the corpus record is at fault.
            TypeError: ``record`` is not a record.
        """
        before = self._noted(record) if self.problems.is_lenient else None
        faults = self._faults(record)
        for name, message in faults:
            # Where the importer knows the field, it knows it by the name that the file gives it.
            self.problems.add(where, field or name, message)
        if before is None:
            return not self.problems.found
        if faults and isinstance(record, CorpusRecord):
            raise ImportFailed(self.problems.found)
        if faults:
            self._forget(record, *before)
        return not faults

    def _noted(self, record: Record) -> tuple[list[tuple[set[Any], Any]], list[int]]:
        """What is noted of a record and was not before it, and the counts before it."""
        places: list[tuple[set[Any], Any]] = []
        dialogue = self._dialogue
        match record:
            case SystemRecord():
                places = [(self._systems, record.name)]
            case RaterRecord():
                places = [(self._raters, record.name)]
            case DialogueRecord():
                places = [(self._dialogues, record.id)]
            case ResponseRecord() if dialogue:
                key = (record.system, record.turn, record.sample)
                places = [(dialogue.responses, key), (dialogue.responding, record.system)]
        return [(some, key) for some, key in places if key not in some], self._numbers()

    def _forget(
        self, record: Record, noted: Sequence[tuple[set[Any], Any]], numbers: Sequence[int]
    ) -> None:
        """A record that is left out was never there: what refers to it is left out, too."""
        for some, key in noted:
            some.discard(key)
        if isinstance(record, DialogueRecord):
            self._dialogue = None
        self._turns, self._messages, self._responses = numbers[:3]
        self._ratings, self._labels, self._preferences = numbers[3:]

    def _numbers(self) -> list[int]:
        return [
            *(self._turns, self._messages, self._responses),
            *(self._ratings, self._labels, self._preferences),
        ]

    def finish(self) -> None:
        """Check, at the end of the stream, that it held a corpus and a dialogue.

        Nothing is added where there are faults already, unless bad records are left out.

        Raises:
            ImportFailed: where they are, and nothing remains.
        """
        if self.problems.found and not self.problems.is_lenient:
            return
        note = self.problems.stop if self.problems.is_lenient else self.problems.add
        if self.corpus is None:
            note("", "", "holds no corpus")
        elif not self._dialogues:
            note("", "", "holds no dialogue")

    def _faults(self, record: Record) -> list[tuple[str, str]]:
        if self.corpus is None and not isinstance(record, CorpusRecord):
            return self._unless_refused(
                "corpus", "", "", "comes before the corpus record, which must be the first"
            )
        check = self._checks.get(type(record))
        if check is None:
            raise TypeError(f"{type(record).__name__} is no record")
        return check(record)

    def _unless_refused(
        self, kind: str, name: str, field: str, message: str
    ) -> list[tuple[str, str]]:
        """A fault that is none of its own where what it refers to is there, and at fault."""
        is_known = not self.problems.is_lenient and (kind, name) in self.problems.refused
        return [] if is_known else [(field, message)]

    def _corpus_faults(self, corpus: CorpusRecord) -> list[tuple[str, str]]:
        if self.corpus is not None:
            return [("", "is a second corpus record; a stream holds one corpus")]
        self.corpus = corpus
        self._scales = {aspect: corpus.scale_of(aspect) for aspect in corpus.aspects}
        return [
            *_named("name", text_fault(corpus.name, MAX_NAME, may_be_empty=True)),
            *_named("part", text_fault(corpus.part, MAX_NAME, may_be_empty=True)),
            *_named("description", text_fault(corpus.description, MAX_TEXT, may_be_empty=True)),
            *_named("language", language_fault(corpus.language)),
            *_aspect_faults(corpus),
        ]

    def _system_faults(self, system: SystemRecord) -> list[tuple[str, str]]:
        if self._dialogues:
            return [("", "comes after the first dialogue; systems come before")]
        if system.name in self._systems:
            return [("name", f"the system {system.name!r} occurs twice")]
        if len(self._systems) >= MAX_SYSTEMS:
            return [("", f"more than {MAX_SYSTEMS:,} systems")]
        self._systems.add(system.name)
        return [
            *_named("name", name_fault(system.name)),
            *_named("description", text_fault(system.description, MAX_TEXT, may_be_empty=True)),
        ]

    def _rater_faults(self, rater: RaterRecord) -> list[tuple[str, str]]:
        if self._dialogues:
            return [("", "comes after the first dialogue; raters come before")]
        if rater.name in self._raters:
            return [("name", f"the rater {rater.name!r} occurs twice")]
        if len(self._raters) >= MAX_RATERS:
            return [("", f"more than {MAX_RATERS:,} raters")]
        self._raters.add(rater.name)
        return _named("name", name_fault(rater.name))

    def _dialogue_faults(self, dialogue: DialogueRecord) -> list[tuple[str, str]]:
        numbers = [turn.number for turn in dialogue.turns]
        # Its responses follow even where the dialogue is at fault: they are checked against it.
        self._dialogue = _DialogueInProgress(
            dialogue.id, frozenset(numbers), len(dialogue.messages), dialogue.interactive
        )
        if dialogue.id in self._dialogues:
            return [("id", f"the dialogue {dialogue.id!r} occurs twice")]
        if len(self._dialogues) >= MAX_DIALOGUES:
            return [("", f"more than {MAX_DIALOGUES:,} dialogues")]
        self._dialogues.add(dialogue.id)
        self._turns += len(numbers)
        self._messages += len(dialogue.messages)
        faults = [
            *_named("id", name_fault(dialogue.id)),
            *_sentence_faults("persona", dialogue.persona),
            *_sentence_faults("partner_persona", dialogue.partner_persona),
            *_sentence_faults("knowledge", dialogue.knowledge),
            *_named("metadata", json_fault(dialogue.metadata)),
        ]
        if not dialogue.turns and not dialogue.messages:
            faults.append(("turns", "is empty; a dialogue has at least one turn"))
        if len(dialogue.messages) > MAX_MESSAGES:
            return [*faults, ("messages", f"more than {MAX_MESSAGES:,} messages in one dialogue")]
        for index, message in enumerate(dialogue.messages):
            if found := _message_faults(message):
                faults += [(f"messages[{index}].{name}", fault) for name, fault in found]
        met: set[int] = set()
        for index, turn in enumerate(dialogue.turns):
            if turn.number < 0:
                faults.append((f"turns[{index}].number", "must be 0 or more"))
            if turn.number in met:
                faults.append(
                    (f"turns[{index}].number", f"turn {turn.number} occurs twice in this dialogue")
                )
            met.add(turn.number)
            if fault := _place_fault(turn, dialogue):
                faults.append((f"turns[{index}].after", fault))
            for position, utterance in enumerate(turn.context):
                place = f"turns[{index}].context[{position}]"
                if utterance.speaker not in SPEAKERS:
                    faults.append((f"{place}.speaker", "must be A or B"))
                faults += _named(f"{place}.text", text_fault(utterance.text, MAX_TEXT))
            for position, reference in enumerate(turn.references):
                faults += _named(
                    f"turns[{index}].references[{position}]", text_fault(reference, MAX_TEXT)
                )
        return faults

    def _response_faults(self, response: ResponseRecord) -> list[tuple[str, str]]:
        dialogue = self._dialogue
        if dialogue is None or dialogue.id != response.dialogue_id:
            return self._astray(response.dialogue_id)
        faults = self._unknown_system(response.system)
        if response.turn not in dialogue.turns:
            faults.append(("turn", f"the dialogue {dialogue.id!r} has no turn {response.turn}"))
        key = (response.system, response.turn, response.sample)
        if key in dialogue.responses:
            which = f" with sample {response.sample}" if response.sample else ""
            faults.append(
                (
                    "",
                    (
                        f"the system {response.system!r} answers turn {response.turn} of dialogue "
                        f"{dialogue.id!r} twice{which}"
                    ),
                )
            )
        if response.sample < 0:
            faults.append(("sample", "must be 0 or more"))
        elif response.sample and (*key[:2], 0) not in dialogue.responses:
            faults.append(
                ("sample", f"{response.system!r} has no sample 0 at turn {response.turn} before it")
            )
        if dialogue.interactive and dialogue.responding - {response.system}:
            faults.append(
                ("system", "is a second one in an interactive dialogue; one system took part in it")
            )
        if len(dialogue.responses) >= MAX_RESPONSES_OF_DIALOGUE:
            faults.append(
                ("", f"more than {MAX_RESPONSES_OF_DIALOGUE:,} responses in one dialogue")
            )
            return faults
        dialogue.responses.add(key)
        dialogue.responding.add(response.system)
        self._responses += 1
        # A system may well have answered nothing: an empty response is a response.
        return [
            *faults,
            *_named("text", text_fault(response.text, MAX_TEXT, may_be_empty=True)),
            *_part_faults(response.parts),
            *_named("metadata", json_fault(response.metadata)),
        ]

    def _rating_faults(self, rating: RatingRecord) -> list[tuple[str, str]]:
        dialogue = self._dialogue
        if dialogue is None or dialogue.id != rating.dialogue_id:
            return self._astray(rating.dialogue_id)
        faults = [
            *self._item_faults(dialogue, rating.turn, rating.system, "rating"),
            *self._score_faults(rating),
            *self._unknown_rater(rating.rater),
        ]
        key = (rating.system, rating.turn, rating.rater, rating.aspect)
        if key in dialogue.ratings:
            faults.append(
                ("", f"the rater {rating.rater!r} rates the same item for {rating.aspect!r} twice")
            )
        if len(dialogue.ratings) >= MAX_RATINGS_OF_DIALOGUE:
            return [*faults, ("", f"more than {MAX_RATINGS_OF_DIALOGUE:,} ratings in one dialogue")]
        dialogue.ratings.add(key)
        self._ratings += 1
        return faults + _named("comment", text_fault(rating.comment, MAX_TEXT, may_be_empty=True))

    def _label_faults(self, label: LabelRecord) -> list[tuple[str, str]]:
        dialogue = self._dialogue
        if dialogue is None or dialogue.id != label.dialogue_id:
            return self._astray(label.dialogue_id)
        faults = self._unknown_rater(label.rater)
        if label.message is not None:
            if not 0 <= label.message < dialogue.messages:
                faults.append(("message", f"the dialogue {dialogue.id!r} has no such message"))
            if label.turn is not None or label.system:
                faults.append(
                    ("message", "stands beside a turn or system; a label is of one thing")
                )
        elif label.turn is not None or label.system:
            faults += self._item_faults(dialogue, label.turn, label.system, "label")
        key = (label.turn, label.system, label.message, label.rater, label.question)
        if key in dialogue.labels:
            faults.append(
                ("", f"the rater {label.rater!r} answers {label.question!r} for one item twice")
            )
        if len(dialogue.labels) >= MAX_RATINGS_OF_DIALOGUE:
            return [*faults, ("", f"more than {MAX_RATINGS_OF_DIALOGUE:,} labels in one dialogue")]
        dialogue.labels.add(key)
        self._labels += 1
        return [
            *faults,
            *_named("question", text_fault(label.question, MAX_ASPECT)),
            *(
                _named("value", text_fault(label.value, MAX_TEXT))
                if isinstance(label.value, str)
                else _sentence_faults("value", label.value)
            ),
        ]

    def _preference_faults(self, preference: PreferenceRecord) -> list[tuple[str, str]]:
        dialogue = self._dialogue
        if dialogue is None or dialogue.id != preference.dialogue_id:
            return self._astray(preference.dialogue_id)
        turn = preference.turn
        arms = (
            ("a", preference.system_a, preference.sample_a),
            ("b", preference.system_b, preference.sample_b),
        )
        faults = self._unknown_rater(preference.rater)
        for arm, system, sample in arms:
            missing = self._item_faults(dialogue, turn, system, "preference", sample)
            faults += [
                (name if name in ("", "turn") else f"{name}_{arm}", fault)
                for name, fault in missing
            ]
        if arms[0][1:] == arms[1][1:]:
            faults.append(("system_b", "is the same response as that of system_a"))
        if preference.preferred not in ("a", "b", "tie", "both_bad"):
            faults.append(("preferred", "must be one of a, b, tie, both_bad"))
        key = (turn, *arms[0][1:], *arms[1][1:], preference.rater, preference.aspect)
        if key in dialogue.preferences:
            faults.append(
                (
                    "",
                    f"the rater {preference.rater!r} compares the same two for "
                    f"{preference.aspect!r} twice",
                )
            )
        if len(dialogue.preferences) >= MAX_RATINGS_OF_DIALOGUE:
            return [
                *faults,
                ("", f"more than {MAX_RATINGS_OF_DIALOGUE:,} preferences in one dialogue"),
            ]
        dialogue.preferences.add(key)
        self._preferences += 1
        return [
            *faults,
            *_named("aspect", text_fault(preference.aspect, MAX_ASPECT)),
            *_named("comment", text_fault(preference.comment, MAX_TEXT, may_be_empty=True)),
            *_named("metadata", json_fault(preference.metadata)),
        ]

    def _astray(self, dialogue_id: str) -> list[tuple[str, str]]:
        message = f"does not follow its dialogue {dialogue_id!r}"
        return self._unless_refused("dialogue", dialogue_id, "dialogue_id", message)

    def _unknown_system(self, name: str) -> list[tuple[str, str]]:
        if name in self._systems:
            return []
        return self._unless_refused("system", name, "system", f"the system {name!r} is not known")

    def _unknown_rater(self, name: str) -> list[tuple[str, str]]:
        if name in self._raters:
            return []
        return self._unless_refused("rater", name, "rater", f"the rater {name!r} is not known")

    def _item_faults(
        self,
        dialogue: _DialogueInProgress,
        turn: int | None,
        system: str,
        kind: str,
        sample: int = 0,
    ) -> list[tuple[str, str]]:
        if system not in self._systems:
            return self._unknown_system(system)
        if not self.problems.is_lenient and ("response", dialogue.id) in self.problems.refused:
            return []
        if turn is None:
            if sample:
                return [("sample", f"must be 0 where a {kind} is of whole dialogues")]
            if system in dialogue.responding:
                return []
            return [
                (
                    "system",
                    f"{system!r} has no response in dialogue {dialogue.id!r} before this {kind}",
                )
            ]
        if (system, turn, sample) in dialogue.responses:
            return []
        item = f"turn {turn} of dialogue {dialogue.id!r}"
        if sample:
            return [("sample", f"{system!r} has no sample {sample} at {item} before this {kind}")]
        return [("turn", f"{system!r} has no response at {item} before this {kind}")]

    def _score_faults(self, rating: RatingRecord) -> list[tuple[str, str]]:
        if rating.aspect not in self._scales:
            return [("aspect", f"the corpus has no aspect {rating.aspect!r}")]
        if not math.isfinite(rating.score):
            return [("score", "must be a finite number")]
        if abs(rating.score) > LARGEST_SCORE:
            return [("score", "is too large: at most 1e100 in size")]
        low, high = self._scales[rating.aspect]
        if (low is not None and rating.score < low) or (high is not None and rating.score > high):
            scale = f"{_end(low)} to {_end(high)}"
            return [
                (
                    "score",
                    f"{_figure(rating.score)} lies outside the scale of {rating.aspect!r}, {scale}",
                )
            ]
        return []


def _named(name: str, fault: str) -> list[tuple[str, str]]:
    return [(name, fault)] if fault else []


def json_fault(value: object) -> str:
    """Check JSON that a record keeps as it came: metadata, or a part of a message.

    Args:
        value: should be a mapping.

    Returns:
        What is wrong with it, as a predicate; "" where nothing is. It must be an object of strings,
        finite numbers, true, false, null, lists and objects, at most ``MAX_DEPTH`` deep and with at
        most ``MAX_VALUES`` values, and its strings such as can be stored.
    """
    if not value and isinstance(value, Mapping):
        return ""
    if not isinstance(value, Mapping):
        return "must be an object"
    waiting: list[tuple[Any, int]] = [(value, 1)]
    count = 0
    while waiting:
        one, depth = waiting.pop()
        count += 1
        inside = len(one) if isinstance(one, Mapping | list | tuple) else 0
        if count + inside > MAX_VALUES:
            return f"holds more than {MAX_VALUES:,} values"
        if depth > MAX_DEPTH:
            return f"is nested more than {MAX_DEPTH} deep"
        if isinstance(one, Mapping):
            for key in one:
                if not isinstance(key, str):
                    return "has a key that is not a string"
                if fault := text_fault(key, MAX_TEXT, may_be_empty=True):
                    return f"has a key that {fault}"
            waiting += [(inner, depth + 1) for inner in one.values()]
        elif isinstance(one, list | tuple):
            waiting += [(inner, depth + 1) for inner in one]
        elif fault := _scalar_fault(one):
            return fault
    return ""


def _scalar_fault(value: object) -> str:
    if isinstance(value, str):
        fault = text_fault(value, MAX_TEXT, may_be_empty=True)
        return f"holds a text that {fault}" if fault else ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        sound = math.isfinite(value) if isinstance(value, float) else abs(value) < LARGEST_INTEGER
        return "" if sound else "holds a number that is too large"
    if value is None or isinstance(value, bool):
        return ""
    return f"holds {type(value).__name__}, which is not JSON"


def _message_faults(message: Message) -> list[tuple[str, str]]:
    faults = []
    if message.role not in _KNOWN_ROLES:
        faults += _named("role", text_fault(message.role, MAX_NAME))
    if message.name:
        faults += _named("name", text_fault(message.name, MAX_NAME, may_be_empty=True))
    # A message that only calls a tool says nothing.
    if fault := text_fault(message.text, MAX_TEXT, may_be_empty=True):
        faults.append(("text", fault))
    if message.parts:
        faults += _part_faults(message.parts)
    if message.metadata:
        faults += _named("metadata", json_fault(message.metadata))
    if message.time:
        faults += _named("time", _time_fault(message.time))
    return faults


_KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"})


def _part_faults(parts: tuple[Mapping[str, Any], ...]) -> list[tuple[str, str]]:
    faults = []
    for index, part in enumerate(parts):
        fault = json_fault(part)
        if not fault and not isinstance(part.get("type"), str):
            fault = "must have a type, a string"
        faults += _named(f"parts[{index}]", fault)
    return faults


def _time_fault(time: str) -> str:
    if len(time) <= MAX_TIME and time.isascii():
        try:
            datetime.fromisoformat(time)
        except ValueError:
            pass
        else:
            return ""
    return "must be a time in ISO 8601 such as 2026-11-27T10:00:00Z"


def _place_fault(turn: TurnRecord, dialogue: DialogueRecord) -> str:
    if turn.after is None:
        return ""
    if not 0 <= turn.after <= len(dialogue.messages):
        return f"must be 0 to {len(dialogue.messages)}, the number of the dialogue's messages"
    return "stands beside a context; a turn has one of both" if turn.context else ""


def _sentence_faults(name: str, sentences: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        (f"{name}[{index}]", fault)
        for index, sentence in enumerate(sentences)
        if (fault := text_fault(sentence, MAX_TEXT))
    ]


def _aspect_faults(corpus: CorpusRecord) -> list[tuple[str, str]]:
    faults = []
    for index, aspect in enumerate(corpus.aspects):
        faults += _named(f"aspects[{index}]", text_fault(aspect, MAX_ASPECT))
        if aspect in corpus.aspects[:index]:
            faults.append((f"aspects[{index}]", f"the aspect {aspect!r} occurs twice"))
    if corpus.main_aspect not in corpus.aspects:
        faults.append(("main_aspect", f"{corpus.main_aspect!r} is not one of the aspects"))
    for index, (aspect, low, high) in enumerate([("", *corpus.scale), *corpus.scales], start=-1):
        name = "scale" if index < 0 else f"scales[{index}]"
        if index >= 0 and aspect not in corpus.aspects:
            faults.append((name, f"{aspect!r} is not one of the aspects"))
        if index >= 0 and aspect in (other for other, _, _ in corpus.scales[:index]):
            faults.append((name, f"{aspect!r} has a scale already"))
        if any(end is not None and not math.isfinite(end) for end in (low, high)):
            faults.append((name, "must be finite"))
        elif any(end is not None and abs(end) > LARGEST_SCORE for end in (low, high)):
            faults.append((name, "has an end that is too large: at most 1e100 in size"))
        if low is not None and high is not None and not low < high:
            faults.append((name, "the lowest score must be below the highest"))
    return faults


def _end(value: float | None) -> str:
    return "open" if value is None else _figure(value)


def _figure(value: float) -> str:
    """All its digits: 5.000000000000001 is not 5."""
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
