"""A corpus as items that people judge in another tool: a response (or a message) in its context, a
whole conversation, a pair of responses. With each item goes what the tool has no field for, so that
what comes back is the same corpus (``importers.annotated_items``)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from annotations.formats.exporters.base import SafeNames
from annotations.formats.importers.canonical import record_as_json
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    TurnRecord,
    Utterance,
    target_of,
)

ItemKind = Literal["responses", "conversations", "pairs"]
KINDS: tuple[ItemKind, ...] = ("responses", "conversations", "pairs")
Use = Literal["score", "label", "comment", "preference"]
MOST_OPTIONS = 100
LONGEST_OPTION = 100
"""Characters. Categories are short; longer answers are texts."""
OUTCOMES = ("a", "b", "tie", "both_bad")
RESERVED = (
    *("persona", "context", "conversation", "response", "response_a", "response_b"),
    *("dialogue_id", "turn", "dialeval"),
)
_NO_NAME = re.compile(r"[^a-z0-9_-]")


@dataclass
class Question:
    """What is asked of the items of one kind.

    Attributes:
        name: lower-case letters, digits, ``_`` and ``-``, as tools want it.
        use: what an answer becomes.
        of: the aspect (of a comment, the one that it is beside; "" for the first that was rated),
            or the question of a label.
        low, high: ends of an aspect's scale; None for one that is not known.
        is_whole: every score is a whole number.
        options: the categories that occur, at most ``MOST_OPTIONS`` and one.
        has_several: some answer is a list of categories.
        is_text: some answer is longer than a category.
    """

    name: str
    use: Use
    of: str
    low: float | None = None
    high: float | None = None
    is_whole: bool = True
    options: dict[str, None] = field(default_factory=dict)
    has_several: bool = False
    is_text: bool = False

    def scale(self, least: int, most: int) -> range | None:
        """The scores that can be given, where they are whole numbers from ``least`` to ``most``."""
        ends = (self.low, self.high)
        if not self.is_whole or any(end is None or not float(end).is_integer() for end in ends):
            return None
        low, high = int(self.low or 0), int(self.high or 0)
        return range(low, high + 1) if least <= low < high <= most else None

    @property
    def is_choice(self) -> bool:
        """Whether its answers are categories, few and short."""
        return not self.is_text and len(self.options) <= MOST_OPTIONS

    def add(self, value: float | str | Sequence[str]) -> None:
        if isinstance(value, float):
            self.is_whole = self.is_whole and value.is_integer()
            return
        values = [value] if isinstance(value, str) else value
        self.has_several = self.has_several or not isinstance(value, str)
        self.is_text = self.is_text or any(len(one) > LONGEST_OPTION for one in values)
        if len(self.options) <= MOST_OPTIONS:
            self.options.update(dict.fromkeys(values))


@dataclass
class Judgement:
    """One rater's answer to a question about an item.

    Attributes:
        question: name of the question.
        value: a score, a text, categories, or one of ``OUTCOMES``.
        origin: what tools have no field for: ``position`` among the dialogue's judgements,
            ``list`` for categories, ``comment`` and ``metadata`` of a preference.
    """

    question: str
    rater: str
    value: Any
    origin: dict[str, Any]


@dataclass
class Item:
    """Something to judge.

    Attributes:
        origin: which dialogue, turn, system and sample (of a pair: arms) it is, the ``number`` of
            its dialogue, the ``questions`` by name, and ``records`` as lines of ``jsonl``: those of
            its responses, in the first item of a dialogue those of corpus and dialogue, in the
            first of all those of systems and raters.
        persona: personas and knowledge, one sentence a line.
        context: the conversation, or what was said before the responses.
        responses: one, of a pair two, of a conversation none.
        judgements: what was said of it.
    """

    origin: dict[str, Any]
    persona: str
    context: list[dict[str, str]]
    responses: list[str]
    judgements: list[Judgement] = field(default_factory=list)


@dataclass
class Questions:
    """The questions about the items of one kind."""

    names: SafeNames = field(default_factory=lambda: SafeNames("+.", RESERVED))
    known: dict[tuple[Use, str], Question] = field(default_factory=dict)

    def of(self, use: Use, of: str) -> Question:
        if (use, of) not in self.known:
            wanted = {"comment": f"comment on {of}" if of else "comment"}.get(use, of)
            # Names end in a digest where two are the same, so a label may be called as an aspect is
            key = _NO_NAME.sub("_", wanted.lower())
            key = key if key.strip("_-") else "question"
            taken = {one.name for one in self.known.values()}
            number, name = 2, self.names.of(key)
            while name in taken:
                name, number = self.names.of(f"{key}_{number}"), number + 1
            self.known[use, of] = Question(name, use, of)
        return self.known[use, of]


def write_items(
    records: Iterable[Record],
    folder: Path,
    write_kind: Callable[[ItemKind, list[Question], Iterator[Item]], None],
) -> None:
    """Sort a corpus into items and write each kind that occurs.

    Questions are known when all has been read: until then items lie in files of the folder.

    Args:
        records: checked stream, in the order of ``annotations.formats.records``.
        folder: existing folder.
        write_kind: gets a kind with its questions and items.
    """
    waiting = {kind: folder / f".{kind}.jsonl" for kind in KINDS}
    corpus = _Corpus()
    counts = dict.fromkeys(KINDS, 0)
    with ExitStack() as files:
        opened = {
            kind: files.enter_context(path.open("w", encoding="utf-8"))
            for kind, path in waiting.items()
        }
        for kind, item in corpus.items(records):
            opened[kind].write(json.dumps(asdict(item)) + "\n")
            counts[kind] += 1
    for kind, path in waiting.items():
        if counts[kind]:
            known = corpus.questions[kind].known
            if any(use == "comment" and of for use, of in known):
                known.pop(("comment", ""), None)
            questions = list(known.values())
            with path.open(encoding="utf-8") as file:
                write_kind(kind, questions, _items_of(file, questions))
        path.unlink()


def _items_of(file: Iterable[str], questions: Sequence[Question]) -> Iterator[Item]:
    for line in file:
        item = Item(**json.loads(line))
        item.judgements = [Judgement(**one) for one in item.judgements]  # type: ignore[arg-type]
        item.origin["questions"] = {one.name: [one.use, one.of] for one in questions}
        yield item


class _Corpus:
    """The stream, one dialogue at a time."""

    def __init__(self) -> None:
        self.corpus = CorpusRecord()
        self.others: list[Record] = []
        """Systems and raters."""
        self.questions = {kind: Questions() for kind in KINDS}
        self.begun: set[ItemKind] = set()
        self.dialogues = 0

    def items(self, records: Iterable[Record]) -> Iterator[tuple[ItemKind, Item]]:
        dialogue: DialogueRecord | None = None
        some: list[Record] = []
        for record in chain(records, [None]):
            if isinstance(record, CorpusRecord):
                self._begin(record)
            elif record is None or isinstance(record, DialogueRecord):
                if dialogue is not None:
                    yield from self._of_dialogue(dialogue, some)
                dialogue, some = record, []
            elif dialogue is None:
                self.others.append(record)
            else:
                some.append(record)

    def _begin(self, corpus: CorpusRecord) -> None:
        self.corpus = corpus
        for kind in ("responses", "conversations"):
            for aspect in corpus.aspects:
                question = self.questions[kind].of("score", aspect)
                question.low, question.high = corpus.scale_of(aspect)
            self.questions[kind].of("comment", "")

    def _of_dialogue(
        self, dialogue: DialogueRecord, records: Sequence[Record]
    ) -> Iterator[tuple[ItemKind, Item]]:
        responses = [one for one in records if isinstance(one, ResponseRecord)]
        judged = [one for one in records if not isinstance(one, ResponseRecord)]
        items: dict[tuple[Any, ...], tuple[ItemKind, Item]] = {}
        for response in responses:
            key = (response.turn, response.system, response.sample)
            items[key] = "responses", self._response(dialogue, response)
        if dialogue.interactive or not responses:
            systems = dict.fromkeys(one.system for one in responses) or [""]
            for system in systems:
                items[None, system] = self._conversation(dialogue, responses, system)
        for position, record in enumerate(judged):
            key = _key_of(record)
            if key not in items:
                items[key] = self._judged(dialogue, responses, record)
            kind, item = items[key]
            item.judgements += self._judgements(kind, record, position)
        described: set[ItemKind] = set()
        for kind, item in items.values():
            before: list[Record] = []
            if kind not in described:
                before = [self.corpus, *(() if kind in self.begun else self.others), dialogue]
            described.add(kind)
            self.begun.add(kind)
            brought = item.origin.pop("records", [])
            item.origin["number"] = self.dialogues
            item.origin["records"] = [*map(record_as_json, before), *brought]
            yield kind, item
        self.dialogues += 1

    def _response(self, dialogue: DialogueRecord, response: ResponseRecord) -> Item:
        turn = next(one for one in dialogue.turns if one.number == response.turn)
        origin = {
            "dialogue": dialogue.id,
            "turn": response.turn,
            "system": response.system,
            "sample": response.sample,
            "records": [record_as_json(response)],
        }
        return Item(origin, _persona(dialogue), _context(dialogue, turn), [response.text])

    def _conversation(
        self, dialogue: DialogueRecord, responses: Sequence[ResponseRecord], system: str
    ) -> tuple[ItemKind, Item]:
        own = [one for one in responses if one.system == system]
        origin = {
            "dialogue": dialogue.id,
            "turn": None,
            "system": system,
            "records": [record_as_json(one) for one in own],
        }
        utterances = [_utterance(one) for one in conversation_of(dialogue, own)]
        return "conversations", Item(origin, _persona(dialogue), utterances, [])

    def _judged(
        self, dialogue: DialogueRecord, responses: Sequence[ResponseRecord], record: Record
    ) -> tuple[ItemKind, Item]:
        """An item that is no response: a message, a conversation, a pair."""
        if isinstance(record, PreferenceRecord):
            return "pairs", self._pair(dialogue, responses, record)
        if isinstance(record, LabelRecord) and record.message is not None:
            before = [_utterance(one) for one in _whole_conversation(dialogue)[: record.message]]
            text = dialogue.messages[record.message].text
            origin = {"dialogue": dialogue.id, "message": record.message}
            return "responses", Item(origin, _persona(dialogue), before, [text])
        assert isinstance(record, RatingRecord | LabelRecord)
        return self._conversation(dialogue, responses, record.system)

    def _pair(
        self,
        dialogue: DialogueRecord,
        responses: Sequence[ResponseRecord],
        record: PreferenceRecord,
    ) -> Item:
        arms = ((record.system_a, record.sample_a), (record.system_b, record.sample_b))
        origin: dict[str, Any] = {
            "dialogue": dialogue.id,
            "turn": record.turn,
            "arms": [list(arm) for arm in arms],
        }
        compared = [
            [
                one
                for one in responses
                if one.system == system
                and (record.turn is None or (one.turn, one.sample) == (record.turn, sample))
            ]
            for system, sample in arms
        ]
        origin["records"] = [record_as_json(one) for arm in compared for one in arm]
        if record.turn is None:
            texts = [
                "\n".join(f"{one.speaker}: {one.text}" for one in conversation_of(dialogue, arm))
                for arm in compared
            ]
            return Item(origin, _persona(dialogue), [], texts)
        turn = next(one for one in dialogue.turns if one.number == record.turn)
        texts = [arm[0].text for arm in compared]
        return Item(origin, _persona(dialogue), _context(dialogue, turn), texts)

    def _judgements(self, kind: ItemKind, record: Record, position: int) -> Iterator[Judgement]:
        questions = self.questions[kind]
        origin: dict[str, Any] = {"position": position}
        value: Any
        if isinstance(record, RatingRecord):
            question, value = questions.of("score", record.aspect), record.score
        elif isinstance(record, LabelRecord):
            question, value = questions.of("label", record.question), record.value
            if isinstance(value, tuple):
                origin["list"] = True
        else:
            assert isinstance(record, PreferenceRecord)
            question, value = questions.of("preference", record.aspect), record.preferred
            fields = {"comment": record.comment, "metadata": dict(record.metadata)}
            origin |= {key: one for key, one in fields.items() if one}
        question.add(value)
        yield Judgement(question.name, record.rater, value, origin)
        if isinstance(record, RatingRecord) and record.comment:
            question = questions.of("comment", record.aspect)
            yield Judgement(question.name, record.rater, record.comment, {"position": position})


def _key_of(record: Record) -> tuple[Any, ...]:
    """Of what a judgement is about."""
    if isinstance(record, PreferenceRecord):
        arms = (record.system_a, record.sample_a, record.system_b, record.sample_b)
        return ("pair", record.turn, *arms)
    assert isinstance(record, RatingRecord | LabelRecord)
    if isinstance(record, LabelRecord) and record.message is not None:
        return "message", record.message
    return (None, record.system) if record.turn is None else (record.turn, record.system, 0)


def _persona(dialogue: DialogueRecord) -> str:
    return "\n".join((*dialogue.persona, *dialogue.knowledge))


def _context(dialogue: DialogueRecord, turn: TurnRecord) -> list[dict[str, str]]:
    return [_utterance(one) for one in dialogue.context_of(turn)]


def _utterance(one: Utterance) -> dict[str, str]:
    return {"speaker": one.speaker, "text": one.text}


def _whole_conversation(dialogue: DialogueRecord) -> Sequence[Utterance]:
    if dialogue.messages:
        return [Utterance(one.speaker, one.text) for one in dialogue.messages]
    return max((turn.context for turn in dialogue.turns), key=len, default=())


def conversation_of(
    dialogue: DialogueRecord, responses: Iterable[ResponseRecord]
) -> list[Utterance]:
    """A conversation as one system had it.

    Args:
        dialogue: the dialogue.
        responses: of one system in it.

    Returns:
        What was said. Where several systems answer, the system's responses stand in the place of
        what the dialogue itself says there.
    """
    first = {one.turn: one for one in responses if not one.sample}
    if dialogue.interactive or not first:
        return list(_whole_conversation(dialogue))
    conversation: list[Utterance] = []
    shown = 0
    for turn in sorted(dialogue.turns, key=lambda turn: turn.number):
        if turn.number not in first:
            continue
        context = dialogue.context_of(turn)
        new = context[shown:]
        target = target_of(context)
        conversation += new[1:] if shown and new and new[0].speaker == target else new
        conversation.append(Utterance(target, first[turn.number].text))
        shown = len(context)
    return conversation


def plain_number(score: float) -> int | float:
    """A score as JSON has it: whole numbers without a fraction."""
    return int(score) if score.is_integer() and abs(score) < 2**53 else score
