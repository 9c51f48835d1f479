"""PersonaChat with candidates, as transfer-learning-conv-ai reads it: one object with ``train`` and
``valid``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import rest_of
from annotations.formats.importers.conversations import PARTNER
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import object_members
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import TARGET_SPEAKER, TurnRecord
from common.text import MAX_TEXT


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    counts: dict[str, int] = {}
    for where, split, value in object_members(path, problems):
        entry = JsonObject.of(value, where, problems)
        if entry is None:
            continue
        index = counts.get(split, 0)
        counts[split] = index + 1
        yield from _dialogue(f"{split}-{index}", split, entry)


def _dialogue(dialogue_id: str, split: str, entry: JsonObject) -> Iterator[Placed]:
    persona = entry.texts("personality", MAX_TEXT)
    utterances = entry.children("utterances")
    if persona is None or utterances is None:
        return
    texts: list[str] = []
    turns = []
    distractors = []
    for number, utterance in enumerate(utterances):
        history = utterance.texts("history", MAX_TEXT, may_be_empty=True)
        candidates = utterance.texts("candidates", MAX_TEXT, may_be_empty=True)
        if history is None or candidates is None:
            return
        if not candidates:
            utterance.complain("candidates", "is empty: its last one is the answer")
            return
        if list(history[: len(texts)]) != texts:
            utterance.complain("history", "does not go on from the history and answer before it")
            return
        *others, answer = candidates
        references = (answer,) if answer.strip() else ()
        turns.append(TurnRecord(number, references=references, after=len(history)))
        distractors.append(others)
        texts = [*history, answer]
    # B gives the last answer; who speaks before it alternates back from it.
    messages = tuple(
        spoken(PARTNER if (len(texts) - index) % 2 == 0 else TARGET_SPEAKER, text)
        for index, text in enumerate(texts)
    )
    metadata = {
        **rest_of(entry, ("personality", "utterances")),
        "split": split,
        "distractors": distractors,
    }
    yield from people_talking(
        dialogue_id,
        messages,
        entry.where,
        turns=tuple(turns),
        persona=persona,
        metadata=metadata,
    )


def _detect(sample: FileSample) -> float:
    start = sample.text[:10_000]
    return 0.9 if all(f'"{key}"' in start for key in ("personality", "utterances")) else 0.0


_DESCRIPTION = """\
One JSON object with a list for each split (`train`, `valid`). An entry is one dialogue, named
`train-0`, `train-1`, …, with B's persona (`personality`) and `utterances`: each has the `history`
and `candidates`, of which the last is B's answer and the turn's reference. The other candidates are
metadata (`distractors`, a list a turn). There are no systems."""
_EXAMPLE = (
    '{"train": [{"personality": ["i bake ."], "utterances": [{"candidates": ["i swim .", '
    '"not yet ."], "history": ["is the oven hot ?"]}]}]}\n'
)

IMPORTER = Importer(
    name="personachat-candidates",
    summary="PersonaChat with candidates (one JSON object with train and valid)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
