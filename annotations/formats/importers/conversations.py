"""Conversations as records: lines whose speakers a file does not name, and whole dialogues between
people, without systems and ratings, in which B is the last to speak."""

from __future__ import annotations

from collections.abc import Sequence

from annotations.formats.records import (
    ASSISTANT,
    TARGET_SPEAKER,
    DialogueRecord,
    Message,
    TurnRecord,
    Utterance,
)

PARTNER = "A"
PARTNER_ROLE = "user"


def alternating(lines: Sequence[str]) -> tuple[Utterance, ...]:
    """Assign the lines of a conversation to two speakers in turn.

    Args:
        lines: utterances, oldest first.

    Returns:
        One utterance per line, by A and B alternately, the last of them by A: the target speaker B
        answers it. Empty for no lines.
    """
    return tuple(
        Utterance(PARTNER if (len(lines) - position) % 2 else TARGET_SPEAKER, line)
        for position, line in enumerate(lines)
    )


MAX_UTTERANCES = 20_000
"""In one dialogue."""
MAX_REPEATED_UTTERANCES = 400
"""In a dialogue whose turns each repeat what was said before. Longer ones hold their messages once;
shorter ones keep the digests that they have in stored corpora."""


def human_dialogue(
    dialogue_id: str,
    lines: Sequence[str],
    persona: tuple[str, ...] = (),
    partner_persona: tuple[str, ...] = (),
) -> DialogueRecord:
    """Build the dialogue in which two people spoke in turn, B last: every answer of B is a turn.

    So nothing is lost: the last turn's context and reference are the whole conversation. With an
    odd number of lines B begins, and that first line answers nothing.

    Args:
        dialogue_id: id of the record.
        lines: utterances, oldest first; from 2 to ``MAX_UTTERANCES``.
        persona: sentences about B.
        partner_persona: sentences about A.

    Returns:
        A dialogue with ⌊lines / 2⌋ turns, numbered from 0. A turn's context is every line before
        the answer, its one reference the answer. Beyond ``MAX_REPEATED_UTTERANCES`` lines these
        are the dialogue's messages, and each turn says after how many of them it stands.
    """
    utterances = tuple(
        Utterance(TARGET_SPEAKER if (len(lines) - position) % 2 else PARTNER, line)
        for position, line in enumerate(lines)
    )
    answers = range(1 + len(lines) % 2, len(lines), 2)
    if len(utterances) > MAX_REPEATED_UTTERANCES:
        return DialogueRecord(
            dialogue_id,
            persona,
            partner_persona,
            tuple(
                TurnRecord(number, references=(utterances[position].text,), after=position)
                for number, position in enumerate(answers)
            ),
            tuple(
                Message(
                    ASSISTANT if one.speaker == TARGET_SPEAKER else PARTNER_ROLE,
                    one.text,
                    one.speaker,
                )
                for one in utterances
            ),
        )
    turns = tuple(
        TurnRecord(number, utterances[:position], (utterances[position].text,))
        for number, position in enumerate(answers)
    )
    return DialogueRecord(dialogue_id, persona, partner_persona, turns)


def count_fault(count: int) -> str:
    """Check the number of utterances in a dialogue between people.

    Args:
        count: number of utterances.

    Returns:
        What is wrong with it; "" from 2 to ``MAX_UTTERANCES``.
    """
    if count < 2:
        return "a dialogue has two utterances or more"
    return (
        f"more than {MAX_UTTERANCES:,} utterances in one dialogue" if count > MAX_UTTERANCES else ""
    )
