"""What participants download: a round's dialogues in the CPD challenge's format, as they are or
without speaker B.

In the hidden form nothing that B said is left: neither the answers that are asked for nor, in the
history, those to earlier turns. B's places are there with ``"text": null``; ``"turn"`` says which
turn's answer belongs there, so that a system can put its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from annotations.formats.records import DialogueRecord, TurnRecord
from leaderboard.challenges.files.layout import key_of
from leaderboard.challenges.files.template import json_list

PARTNER = "A"


def dialogues_document(dialogues: Iterable[DialogueRecord], *, hidden: bool) -> Iterator[str]:
    """The JSON list, in pieces, a dialogue each."""
    return json_list(dialogue_entry(dialogue, hidden=hidden) for dialogue in dialogues)


def dialogue_entry(dialogue: DialogueRecord, *, hidden: bool) -> dict[str, Any]:
    """One dialogue as a JSON object: ``dialog_id`` and a key for each turn."""
    entry: dict[str, Any] = {"dialog_id": dialogue.id}
    for turn in dialogue.turns:
        entry[key_of(turn.number)] = {
            "persona A": list(dialogue.partner_persona),
            "persona B": list(dialogue.persona),
            "dialogue": _masked_history(dialogue, turn)
            if hidden
            else [{"persona_id": one.speaker, "text": one.text} for one in turn.context],
            **({} if hidden else _references(turn)),
        }
    return entry


def _masked_history(dialogue: DialogueRecord, turn: TurnRecord) -> list[dict[str, Any]]:
    # The turns whose answers stand in this history
    answered = {
        len(other.context): other.number
        for other in dialogue.turns
        if len(other.context) < len(turn.context)
        and turn.context[: len(other.context)] == other.context
    }
    history: list[dict[str, Any]] = []
    for place, utterance in enumerate(turn.context):
        if utterance.speaker == PARTNER:
            history.append({"persona_id": PARTNER, "text": utterance.text})
        else:
            own = {"turn": answered[place]} if place in answered else {}
            history.append({"persona_id": utterance.speaker, "text": None, **own})
    return history


def _references(turn: TurnRecord) -> dict[str, Any]:
    """``gold_reference`` as in the challenge's files; all of them, where there are several, in
    ``gold_references``."""
    if not turn.references:
        return {}
    several = {"gold_references": list(turn.references)} if len(turn.references) > 1 else {}
    return {"gold_reference": turn.references[0], **several}
