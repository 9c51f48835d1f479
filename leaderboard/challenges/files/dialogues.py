"""What participants download: a round's dialogues in the CPD challenge's format, as they are or
without speaker B.

In the hidden form nothing that B said is left: neither the answers that are asked for nor, in the
history, those to earlier turns. B's places are there with ``"text": null``; ``"turn"`` says which
turn's answer belongs there, so that a system can put its own. Of a conversation of other roles the
system prompt and what users say is left: tools answer what the assistant asked them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from annotations.formats.records import DialogueRecord, TurnRecord
from leaderboard.challenges.files.layout import key_of
from leaderboard.challenges.files.template import json_list

PARTNER = "A"
PARTNER_ROLES = frozenset({"user", "system", "developer"})


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
            else [
                {"persona_id": one.speaker, "text": one.text} for one in dialogue.context_of(turn)
            ],
            **({"knowledge": list(dialogue.knowledge)} if dialogue.knowledge else {}),
            **({} if hidden else _references(turn)),
        }
    return entry


def _masked_history(dialogue: DialogueRecord, turn: TurnRecord) -> list[dict[str, Any]]:
    context = dialogue.context_of(turn)
    # The turns whose answers stand in this history
    if turn.after is None:
        answered = {
            len(other.context): other.number
            for other in dialogue.turns
            if len(other.context) < len(context)
            and context[: len(other.context)] == other.context
            and other.after is None
        }
        is_partner = [one.speaker == PARTNER for one in context]
    else:
        answered = {
            other.after: other.number
            for other in dialogue.turns
            if other.after is not None and other.after < turn.after
        }
        is_partner = [one.role in PARTNER_ROLES for one in dialogue.messages[: turn.after]]
    history: list[dict[str, Any]] = []
    for place, utterance in enumerate(context):
        if is_partner[place]:
            history.append({"persona_id": utterance.speaker, "text": utterance.text})
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
