"""Dialogues of the Commonsense Persona-Grounded Dialogue Challenge, task 1: a JSON array, seven
turns a dialogue.

It holds no systems and no ratings: what a challenge starts with.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.checks import SPEAKERS
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.json_source import array_elements
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.records import (
    TARGET_SPEAKER,
    CorpusRecord,
    DialogueRecord,
    TurnRecord,
    Utterance,
)
from common.text import MAX_NAME, MAX_TEXT, storable

TURNS = tuple(f"turn_{number}" for number in range(7))


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read dialogues of the CPD challenge, task 1.

    Args:
        path: JSON array with one dialogue per element.
        _part: ignored, the file holds one corpus.
        problems: collects faults. An element with a fault is left out.

    Returns:
        Iterator over the corpus record and one dialogue record per element, each with its JSON path
        and field. A dialogue's id is its ``dialog_id`` or, without one, its index in the file, from
        0.

    Raises:
        ImportFailed: as in ``array_elements``, and at the first fault after 100.
    """
    yield CorpusRecord(), "$", ""
    for index, (where, element) in enumerate(array_elements(path, problems)):
        dialogue = JsonObject.of(element, where, problems)
        record = _dialogue(str(index), dialogue) if dialogue else None
        if dialogue and record:
            yield record, where, "dialog_id" if dialogue.has("dialog_id") else ""


def _dialogue(place: str, dialogue: JsonObject) -> DialogueRecord | None:
    if _says_more(dialogue):
        return None
    dialogue_id = dialogue.name("dialog_id") if dialogue.has("dialog_id") else place
    turns = all_or_none([dialogue.child(name) for name in TURNS])
    if dialogue_id is None or turns is None:
        return None
    personas = all_or_none([_personas(turn) for turn in turns])
    records = all_or_none([_turn(number, turn) for number, turn in enumerate(turns)])
    if personas is None or records is None:
        return None
    for turn, pair in zip(turns, personas, strict=True):
        if pair != personas[0]:
            turn.complain(
                "persona B" if pair[0] != personas[0][0] else "persona A",
                "differs from that of turn_0",
            )
            return None
    persona, partner_persona = personas[0]
    return DialogueRecord(dialogue_id, persona, partner_persona, records)


def _says_more(dialogue: JsonObject) -> bool:
    """Turns that would be lost, and an id that would be made up, are refused."""
    more = [key for key in dialogue.value if key.startswith("turn_") and key not in TURNS]
    for key in more:
        dialogue.complain(
            storable(key[:MAX_NAME]), "a dialogue of this format has turn_0 to turn_6 (jsonl: any)"
        )
    if dialogue.has("dialogue_id"):
        dialogue.complain("dialogue_id", "is called dialog_id in this format")
    return bool(more) or dialogue.has("dialogue_id")


def _personas(turn: JsonObject) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The personas of the target speaker B and of A."""
    persona = turn.texts("persona B", MAX_TEXT)
    partner_persona = turn.texts("persona A", MAX_TEXT)
    return None if persona is None or partner_persona is None else (persona, partner_persona)


def _turn(number: int, turn: JsonObject) -> TurnRecord | None:
    utterances = turn.children("dialogue")
    reference = turn.text("gold_reference", MAX_TEXT)
    if utterances is None or reference is None:
        return None
    context = all_or_none([_utterance(utterance) for utterance in utterances])
    if context is None:
        return None
    if not context or context[-1].speaker == TARGET_SPEAKER:
        turn.complain(
            "dialogue", f"must end with an utterance of A, which {TARGET_SPEAKER} answers"
        )
        return None
    references = _references(turn, reference.strip())
    return None if references is None else TurnRecord(number, context, references)


def _references(turn: JsonObject, first: str) -> tuple[str, ...] | None:
    """``gold_reference``, or all of ``gold_references``, which the site writes where there are
    several."""
    if not turn.has("gold_references"):
        return (first,)
    several = turn.texts("gold_references", MAX_TEXT)
    if several is not None and first not in (reference.strip() for reference in several):
        turn.complain("gold_references", "does not hold gold_reference")
        return None
    return None if several is None else tuple(reference.strip() for reference in several)


def _utterance(utterance: JsonObject) -> Utterance | None:
    speaker = utterance.text("persona_id", 1)
    text = utterance.text("text", MAX_TEXT)
    if speaker is None or text is None:
        return None
    if speaker not in SPEAKERS:
        utterance.complain("persona_id", "must be A or B")
        return None
    return Utterance(speaker, text.strip())


_DESCRIPTION = """\
A JSON array of dialogues. Each has seven turns, `turn_0` to `turn_6`, and may have a `dialog_id`;
without one its place in the file, from 0, is its id. The last utterance of every `dialogue` is
A's; B is the target. The personas are the same in all seven turns. `gold_references` beside
`gold_reference` holds all of several. A `turn_7`, which would be lost, is refused: jsonl takes
any number of turns. There are no systems and no ratings in it. The example has one turn of the
seven."""
_EXAMPLE = """\
[{"dialog_id": "cafe-1",
  "turn_0": {"persona A": ["i bake bread."], "persona B": ["i play the cello."],
             "dialogue": [{"persona_id": "A", "text": "What a long queue today."}],
             "gold_reference": "It is, and my rehearsal starts in ten minutes."}}]
"""

IMPORTER = Importer(
    name="cpdc",
    summary="CPD challenge dialogues, task 1 (JSON array, seven turns)",
    stream=stream,
    detect=has_keys("turn_0", kinds=("json array",)),
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
