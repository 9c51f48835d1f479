"""Training and validation data that have no dialogue in common, and what data is called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from workers.training.core.conversations import TrainingDialogue, normalised_characters
from workers.training.core.overlap import MIN_CHARACTERS

MOST_VERSIONS = 5
"""Of one conversation. What more dialogues say is a formula and ties none."""


def split_dialogues(
    dialogues: Sequence[TrainingDialogue], validation_share: float, seed: int
) -> tuple[list[TrainingDialogue], list[TrainingDialogue]]:
    """Training and validation data: whole dialogues, drawn by ``seed``, each part in the order of
    ``dialogues``.

    Dialogues that share a long utterance, or two in a row (``overlap.MIN_CHARACTERS`` letters or
    more), are one conversation in two versions, as corpora hold them, and stay together. The
    validation part has ``validation_share`` of the dialogues, rounded, or a few less where a group
    does not fit; both parts have at least one. Raises ValueError where less than half of that would
    be found: such dialogues need validation data of another file.
    """
    if len(dialogues) < 2:
        raise ValueError(
            f"{len(dialogues)} dialogues: at least 2 are needed, one of them to validate on"
        )
    if not 0 < validation_share < 1:
        raise ValueError(f"validation_share: {validation_share}; must lie between 0 and 1")
    wanted = min(max(1, round(validation_share * len(dialogues))), len(dialogues) - 1)
    groups = _groups(dialogues)
    chosen: set[int] = set()
    for place in np.random.default_rng(seed).permutation(len(groups)):
        if len(chosen) + len(groups[place]) <= wanted:
            chosen.update(groups[place])
    if 2 * len(chosen) < wanted:
        raise ValueError(
            f"{len(dialogues)} dialogues in {len(groups)} groups of versions, the largest of "
            f"{max(map(len, groups))}: {wanted} for validation cannot be had apart from the others"
        )
    training = [dialogue for index, dialogue in enumerate(dialogues) if index not in chosen]
    return training, [dialogues[index] for index in sorted(chosen)]


def _groups(dialogues: Sequence[TrainingDialogue]) -> list[list[int]]:
    """The places of dialogues that belong together, by the first of each group."""
    parent = list(range(len(dialogues)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    holders: dict[str, dict[int, None]] = {}
    for index, dialogue in enumerate(dialogues):
        for key in _versions_share(dialogue):
            holders.setdefault(key, {})[index] = None
    for first, *others in holders.values():
        if len(others) < MOST_VERSIONS:
            for other in others:
                one, two = root(first), root(other)
                parent[max(one, two)] = min(one, two)
    groups: dict[int, list[int]] = {}
    for index in range(len(dialogues)):
        groups.setdefault(root(index), []).append(index)
    return list(groups.values())


def _versions_share(dialogue: TrainingDialogue) -> Iterator[str]:
    texts = [normalised_characters(utterance.text) for utterance in dialogue.utterances]
    # A dialogue of short lines has no long one; told twice in the same words it is still the same.
    yield "\n".join(texts)
    yield from (letters for letters in texts if len(letters) >= MIN_CHARACTERS)
    for before, after in pairwise(texts):
        # Both are needed: what is long alone has been told above.
        if before and after and len(before) + len(after) >= MIN_CHARACTERS:
            yield f"{before}\n{after}"


def signature_of(dialogues: Iterable[TrainingDialogue]) -> str:
    """SHA-256 in hexadecimal over what was said, by whom, with which personas, in order. Ids do not
    count: another name of a dialogue trains no other model."""
    digest = hashlib.sha256()
    for dialogue in dialogues:
        utterances = [[utterance.speaker, utterance.text] for utterance in dialogue.utterances]
        line = json.dumps(
            [utterances, dialogue.personas], ensure_ascii=False, separators=(",", ":")
        )
        digest.update(line.encode("utf-8") + b"\n")
    return digest.hexdigest()
