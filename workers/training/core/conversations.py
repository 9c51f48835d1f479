"""What training reads: whole conversations between people, out of a file, whichever importer reads
it (faults are the importers': file, line, field); and what a response-selection model learns from:
a context and the response that people gave to it. No torch, no Django.

Two texts are the same where they differ only in case, in spaces and in how they set off
punctuation: corpora do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotations.formats.importers.dailydialog import END
from annotations.formats.importers.json_source import file_lines
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    ASSISTANT,
    TARGET_SPEAKER,
    UNSPOKEN_ROLES,
    DialogueRecord,
    Message,
    Record,
    Utterance,
)

SPEAKERS = ("A", TARGET_SPEAKER)
Personas = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class TrainingDialogue:
    """One conversation, two utterances or more. The speakers take turns; either may begin."""

    id: str
    """Names the dialogue to people. What is trained does not hang on it."""
    utterances: tuple[Utterance, ...]
    personas: Personas = ((), ())
    """A's sentences and B's; empty where the file tells none."""

    def persona_of(self, speaker: str) -> tuple[str, ...]:
        """The persona of A or B."""
        return self.personas[SPEAKERS.index(speaker)]


def dialogues_of(records: Iterable[Record]) -> list[TrainingDialogue]:
    """The conversations in a corpus, each once, in order: of a file (``Importer.read``) or of
    stored rows.

    A corpus holds the places where B answers. A place's context and first reference are a
    conversation up to there, and the longest one holds the others. A conversation that another one
    begins with is left out (``merged``).
    """
    found: list[TrainingDialogue] = []
    for record in records:
        if isinstance(record, DialogueRecord):
            found += _conversations(record)
    return merged(found)


def _conversations(record: DialogueRecord) -> list[TrainingDialogue]:
    retained: list[tuple[int, tuple[Utterance, ...]]] = []
    if len(whole := _spoken(record.messages)) > 1:
        retained.append((0, whole))
    for turn in sorted(record.turns, key=lambda turn: len(turn.context), reverse=True):
        if turn.after is not None:
            continue
        answer = tuple(Utterance(TARGET_SPEAKER, text) for text in turn.references[:1])
        utterances = turn.context + answer
        if len(utterances) > 1 and not any(
            longer[: len(utterances)] == utterances for _, longer in retained
        ):
            retained.append((turn.number, utterances))
    return [
        TrainingDialogue(
            record.id if len(retained) == 1 else f"{record.id}#{number}",
            utterances,
            _personas(record),
        )
        for number, utterances in sorted(retained, key=lambda one: one[0])
    ]


def _spoken(messages: Sequence[Message]) -> tuple[Utterance, ...]:
    """The conversation of two that training reads, without system prompts and tools: B is the
    assistant, or whoever speaks last where there is none; A is everybody else. What one of them
    says in several messages is one utterance."""
    spoken = [one for one in messages if one.text.strip() and one.role not in UNSPOKEN_ROLES]
    if not spoken:
        return ()
    assistants = {one.speaker for one in spoken if one.role == ASSISTANT}
    targets = assistants or {spoken[-1].speaker}
    return tuple(
        Utterance(TARGET_SPEAKER if is_target else SPEAKERS[0], "\n".join(one.text for one in own))
        for is_target, own in groupby(spoken, lambda one: one.speaker in targets)
    )


def _personas(record: DialogueRecord) -> Personas:
    return record.partner_persona, record.persona


def merged(dialogues: Sequence[TrainingDialogue]) -> list[TrainingDialogue]:
    """The dialogues without those that say what another one says, or all of it but its last
    utterance.

    ConvAI2 tells each conversation twice, once from each side, and one side ends an utterance
    before the other. Told twice, a conversation would count twice, and could stand in the training
    set and in the validation set. The one that stays gets the persona that only the other one
    tells.
    """
    texts = [tuple(utterance.text for utterance in dialogue.utterances) for dialogue in dialogues]
    retained: dict[tuple[str, ...], int] = {}
    """By what is said: the first dialogue that says it."""
    for index, text in enumerate(texts):
        retained.setdefault(text, index)
    longer: dict[tuple[str, ...], int] = {}
    """By what is said before the last utterance: the first dialogue that goes on from there."""
    for text, index in retained.items():
        if len(text) > 2:
            longer.setdefault(text[:-1], index)
    retained_dialogues = {index: dialogues[index] for index in retained.values()}
    for index in range(len(texts)):
        stays = index
        while (further := longer.get(texts[stays], retained[texts[stays]])) != stays:
            stays = further
        if stays != index:
            retained_dialogues.pop(index, None)
            retained_dialogues[stays] = _with_personas_of(
                retained_dialogues[stays], dialogues[index]
            )
    return [retained_dialogues[index] for index in sorted(retained_dialogues)]


def _with_personas_of(dialogue: TrainingDialogue, other: TrainingDialogue) -> TrainingDialogue:
    """``dialogue`` with the personas that it does not tell and ``other``, which begins as it does,
    tells."""
    as_here = other.personas
    if other.utterances[0].speaker != dialogue.utterances[0].speaker:
        as_here = (other.personas[1], other.personas[0])
    ours = dialogue.personas
    return TrainingDialogue(
        dialogue.id, dialogue.utterances, (ours[0] or as_here[0], ours[1] or as_here[1])
    )


_NON_ALPHANUMERIC = re.compile(r"[\W_]+")


def normalised_characters(text: str) -> str:
    """The letters and digits of ``text``, case folded, without anything between them: ``Can't
    you?`` and ``ca n't you ?`` are both ``cantyou``. "" for a text that has none, such as
    ``?!``."""
    return _NON_ALPHANUMERIC.sub("", text.casefold())


def key_of(text: str) -> str:
    """As ``normalised_characters``; a text without any letter stands for itself."""
    return normalised_characters(text) or text.strip()


@dataclass(frozen=True, slots=True)
class Pair:
    """One place in a dialogue where somebody answers."""

    dialogue: int
    """The dialogue's place in the sequence that ``pairs_of`` was given."""
    turn: int
    """The response's place among the dialogue's utterances: 1 or more, and so the number of
    utterances before it."""
    context: tuple[Utterance, ...]
    """All utterances before the response, oldest first."""
    response: str
    persona: tuple[str, ...]
    """Of the speaker who responds."""


def pairs_of(dialogues: Sequence[TrainingDialogue]) -> tuple[Pair, ...]:
    """Every utterance but the first of its dialogue, by either speaker, as the answer to all that
    stands before it.

    In the order of dialogues, then of turns. A dialogue of n utterances makes n - 1 pairs.
    """
    return tuple(
        Pair(
            index,
            turn,
            dialogue.utterances[:turn],
            dialogue.utterances[turn].text,
            dialogue.persona_of(dialogue.utterances[turn].speaker),
        )
        for index, dialogue in enumerate(dialogues)
        for turn in range(1, len(dialogue.utterances))
    )


def indices_in_epoch(pairs: int, an_epoch: int, epoch: int, seed: int) -> NDArray[np.int64]:
    """Which of so many pairs an epoch goes over, ``an_epoch`` of them (0: all): a place in an
    endless row of permutations, so that none comes twice before all have come."""
    wanted = min(an_epoch or pairs, pairs)
    first, last = epoch * wanted, (epoch + 1) * wanted
    rounds = range(first // pairs, (last - 1) // pairs + 1)
    orders = [np.random.default_rng((seed, number)).permutation(pairs) for number in rounds]
    start = first - rounds[0] * pairs
    return np.concatenate(orders)[start : start + wanted]


RECOGNISED = ("dailydialog", "personachat", "jsonl", "cpdc")
"""The formats that are told by their first line; the others are named by the caller."""
_BEGINNINGS = (
    ("jsonl", re.compile(rb'\s*\{\s*"type"\s*:')),
    ("dailydialog", re.compile(rb"\s*\{")),
    ("cpdc", re.compile(rb"\s*\[")),
    ("personachat", re.compile(rb"1 .*(persona:|\t)")),
    ("dailydialog", re.compile(rb".*" + END.encode())),
)


def read_dialogues(path: Path, format_name: str = "", part: str = "") -> list[TrainingDialogue]:
    """The conversations in a file, each once, in order.

    ``format_name`` is an importer's; without one it is told from the first line that holds
    something. ``part`` names the corpus where a file holds several. Raises ImportFailed where the
    file has a fault: then nothing of it is used.
    """
    name = format_name or recognised(path)
    known = importers()
    if name not in known:
        Problems(path.name).stop(
            "", "", f"there is no format {name!r}; there are {', '.join(known)}"
        )
    return dialogues_of(known[name].read(path, part))


def recognised(path: Path) -> str:
    """The format of a file by its first line. Raises ImportFailed where it is none of
    ``RECOGNISED``."""
    problems = Problems(path.name)
    _, first = next(file_lines(path, problems), (0, b""))
    for name, beginning in _BEGINNINGS:
        if beginning.match(first):
            return name
    return problems.stop("", "", f"does not begin like {', '.join(RECOGNISED)}; name its format")
