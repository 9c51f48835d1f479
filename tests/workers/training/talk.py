"""Small conversations for tests of training."""

from __future__ import annotations

from collections.abc import Sequence

from annotations.formats.records import Utterance
from workers.training.core.conversations import Personas, TrainingDialogue


def talk(
    name: str, *lines: str, begins: str = "A", personas: Personas = ((), ())
) -> TrainingDialogue:
    """A dialogue whose speakers take turns."""
    speakers = "AB" if begins == "A" else "BA"
    utterances = tuple(Utterance(speakers[place % 2], line) for place, line in enumerate(lines))
    return TrainingDialogue(name, utterances, personas)


def numbered(dialogues: int, lines: int = 4) -> list[TrainingDialogue]:
    """Dialogues in which no line occurs twice."""
    return [
        talk(str(d), *(f"line {k} of dialogue {d}" for k in range(lines))) for d in range(dialogues)
    ]


def texts(dialogue: TrainingDialogue) -> Sequence[str]:
    return [utterance.text for utterance in dialogue.utterances]
