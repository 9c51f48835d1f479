"""Checks a stream of records against the order and the rules of ``formats.records``, in bounded
memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import singledispatchmethod

from annotations.formats.importers.problems import Problems, Where
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
)
from annotations.languages import language_fault
from common.text import MAX_ASPECT, MAX_NAME, MAX_RESPONSE, MAX_UTTERANCE, name_fault, text_fault

SPEAKERS = ("A", "B")
LARGEST_SCORE = 1e100
"""In size, of a human or a metric's score. Means and correlations, which add and square scores,
would leave the numbers that a computer has."""
MAX_SYSTEMS = 10_000
MAX_RATERS = 100_000
MAX_DIALOGUES = 1_000_000
MAX_RESPONSES_OF_DIALOGUE = 100_000
MAX_RATINGS_OF_DIALOGUE = 500_000


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
    """

    dialogues: int = 0
    turns: int = 0
    systems: int = 0
    responses: int = 0
    raters: int = 0
    ratings: int = 0


@dataclass
class _DialogueInProgress:
    """What has been said of the dialogue that the stream is in. Only this is held, not the
    dialogues before it."""

    id: str
    turns: frozenset[int]
    responses: set[tuple[str, int]] = field(default_factory=set)
    responding: set[str] = field(default_factory=set)
    ratings: set[tuple[str, int | None, str, str]] = field(default_factory=set)


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
        self._responses = 0
        self._ratings = 0

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
        )

    def accepts(self, record: Record, where: Where, field: str) -> bool:
        """Check the next record of the stream.

        Args:
            record: any record of ``annotations.formats.records``.
            where: JSON path or line number that faults are reported with.
            field: field below ``where`` as the file names it; "" to report the record's own field.

        Returns:
            True where the record is sound and no fault has been noted before it.

        Raises:
            ImportFailed: at the first fault after 100.
            TypeError: ``record`` is not a record.
        """
        for name, message in self._faults(record):
            # Where the importer knows the field, it knows it by the name that the file gives it.
            self.problems.add(where, field or name, message)
        return not self.problems.found

    def finish(self) -> None:
        """Check, at the end of the stream, that it held a corpus and a dialogue.

        Nothing is added where there are faults already.
        """
        if self.problems.found:
            return
        if self.corpus is None:
            self.problems.add("", "", "holds no corpus")
        elif not self._dialogues:
            self.problems.add("", "", "holds no dialogue")

    def _faults(self, record: Record) -> list[tuple[str, str]]:
        if self.corpus is None and not isinstance(record, CorpusRecord):
            return self._unless_refused(
                "corpus", "", "", "comes before the corpus record, which must be the first"
            )
        return self._faults_of(record)

    def _unless_refused(
        self, kind: str, name: str, field: str, message: str
    ) -> list[tuple[str, str]]:
        """A fault that is none of its own where what it refers to is there, and at fault."""
        return [] if (kind, name) in self.problems.refused else [(field, message)]

    @singledispatchmethod
    def _faults_of(self, record: Record) -> list[tuple[str, str]]:
        raise TypeError(f"{type(record).__name__} is no record")

    @_faults_of.register
    def _(self, corpus: CorpusRecord) -> list[tuple[str, str]]:
        if self.corpus is not None:
            return [("", "is a second corpus record; a stream holds one corpus")]
        self.corpus = corpus
        self._scales = {aspect: corpus.scale_of(aspect) for aspect in corpus.aspects}
        return [
            *_named("name", text_fault(corpus.name, MAX_NAME, may_be_empty=True)),
            *_named("part", text_fault(corpus.part, MAX_NAME, may_be_empty=True)),
            *_named("description", text_fault(corpus.description, MAX_RESPONSE, may_be_empty=True)),
            *_named("language", language_fault(corpus.language)),
            *_aspect_faults(corpus),
        ]

    @_faults_of.register
    def _(self, system: SystemRecord) -> list[tuple[str, str]]:
        if self._dialogues:
            return [("", "comes after the first dialogue; systems come before")]
        if system.name in self._systems:
            return [("name", f"the system {system.name!r} occurs twice")]
        if len(self._systems) >= MAX_SYSTEMS:
            return [("", f"more than {MAX_SYSTEMS:,} systems")]
        self._systems.add(system.name)
        return [
            *_named("name", name_fault(system.name)),
            *_named("description", text_fault(system.description, MAX_RESPONSE, may_be_empty=True)),
        ]

    @_faults_of.register
    def _(self, rater: RaterRecord) -> list[tuple[str, str]]:
        if self._dialogues:
            return [("", "comes after the first dialogue; raters come before")]
        if rater.name in self._raters:
            return [("name", f"the rater {rater.name!r} occurs twice")]
        if len(self._raters) >= MAX_RATERS:
            return [("", f"more than {MAX_RATERS:,} raters")]
        self._raters.add(rater.name)
        return _named("name", name_fault(rater.name))

    @_faults_of.register
    def _(self, dialogue: DialogueRecord) -> list[tuple[str, str]]:
        numbers = [turn.number for turn in dialogue.turns]
        # Its responses follow even where the dialogue is at fault: they are checked against it.
        self._dialogue = _DialogueInProgress(dialogue.id, frozenset(numbers))
        if dialogue.id in self._dialogues:
            return [("id", f"the dialogue {dialogue.id!r} occurs twice")]
        if len(self._dialogues) >= MAX_DIALOGUES:
            return [("", f"more than {MAX_DIALOGUES:,} dialogues")]
        self._dialogues.add(dialogue.id)
        self._turns += len(numbers)
        faults = [
            *_named("id", name_fault(dialogue.id)),
            *_persona_faults("persona", dialogue.persona),
            *_persona_faults("partner_persona", dialogue.partner_persona),
        ]
        if not dialogue.turns:
            faults.append(("turns", "is empty; a dialogue has at least one turn"))
        met: set[int] = set()
        for index, turn in enumerate(dialogue.turns):
            if turn.number < 0:
                faults.append((f"turns[{index}].number", "must be 0 or more"))
            if turn.number in met:
                faults.append(
                    (f"turns[{index}].number", f"turn {turn.number} occurs twice in this dialogue")
                )
            met.add(turn.number)
            for position, utterance in enumerate(turn.context):
                place = f"turns[{index}].context[{position}]"
                if utterance.speaker not in SPEAKERS:
                    faults.append((f"{place}.speaker", "must be A or B"))
                faults += _named(f"{place}.text", text_fault(utterance.text, MAX_UTTERANCE))
            for position, reference in enumerate(turn.references):
                faults += _named(
                    f"turns[{index}].references[{position}]", text_fault(reference, MAX_RESPONSE)
                )
        return faults

    @_faults_of.register
    def _(self, response: ResponseRecord) -> list[tuple[str, str]]:
        dialogue = self._dialogue
        if dialogue is None or dialogue.id != response.dialogue_id:
            return self._astray(response.dialogue_id)
        faults = self._unknown_system(response.system)
        if response.turn not in dialogue.turns:
            faults.append(("turn", f"the dialogue {dialogue.id!r} has no turn {response.turn}"))
        key = (response.system, response.turn)
        if key in dialogue.responses:
            faults.append(
                (
                    "",
                    (
                        f"the system {response.system!r} answers turn {response.turn} of dialogue "
                        f"{dialogue.id!r} twice"
                    ),
                )
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
        return faults + _named("text", text_fault(response.text, MAX_RESPONSE, may_be_empty=True))

    @_faults_of.register
    def _(self, rating: RatingRecord) -> list[tuple[str, str]]:
        dialogue = self._dialogue
        if dialogue is None or dialogue.id != rating.dialogue_id:
            return self._astray(rating.dialogue_id)
        faults = [*self._item_faults(dialogue, rating), *self._score_faults(rating)]
        if rating.rater not in self._raters:
            faults += self._unless_refused(
                "rater", rating.rater, "rater", f"the rater {rating.rater!r} is not known"
            )
        key = (rating.system, rating.turn, rating.rater, rating.aspect)
        if key in dialogue.ratings:
            faults.append(
                ("", f"the rater {rating.rater!r} rates the same item for {rating.aspect!r} twice")
            )
        if len(dialogue.ratings) >= MAX_RATINGS_OF_DIALOGUE:
            return [*faults, ("", f"more than {MAX_RATINGS_OF_DIALOGUE:,} ratings in one dialogue")]
        dialogue.ratings.add(key)
        self._ratings += 1
        return faults + _named(
            "comment", text_fault(rating.comment, MAX_RESPONSE, may_be_empty=True)
        )

    def _astray(self, dialogue_id: str) -> list[tuple[str, str]]:
        message = f"does not follow its dialogue {dialogue_id!r}"
        return self._unless_refused("dialogue", dialogue_id, "dialogue_id", message)

    def _unknown_system(self, name: str) -> list[tuple[str, str]]:
        if name in self._systems:
            return []
        return self._unless_refused("system", name, "system", f"the system {name!r} is not known")

    def _item_faults(
        self, dialogue: _DialogueInProgress, rating: RatingRecord
    ) -> list[tuple[str, str]]:
        if rating.system not in self._systems:
            return self._unknown_system(rating.system)
        if ("response", dialogue.id) in self.problems.refused:
            return []
        if rating.turn is None:
            if rating.system in dialogue.responding:
                return []
            return [
                (
                    "system",
                    (
                        f"{rating.system!r} has no response in dialogue {dialogue.id!r} before "
                        "this rating"
                    ),
                )
            ]
        if (rating.system, rating.turn) in dialogue.responses:
            return []
        item = f"turn {rating.turn} of dialogue {dialogue.id!r}"
        return [("turn", f"{rating.system!r} has no response at {item} before this rating")]

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


def _persona_faults(name: str, sentences: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        (f"{name}[{index}]", fault)
        for index, sentence in enumerate(sentences)
        if (fault := text_fault(sentence, MAX_RESPONSE))
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
