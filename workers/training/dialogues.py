"""What training reads: whole conversations between people. No torch, no Django."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotations.formats.records import TARGET_SPEAKER, DialogueRecord, Record, Utterance

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
    for turn in sorted(record.turns, key=lambda turn: len(turn.context), reverse=True):
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
