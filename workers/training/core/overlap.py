"""Whether a model is trained on what it is then judged by: evaluation contexts that stand in the
training data.

Corpora hold the same text in other spellings, cut off at the start, or as one string without its
utterances' bounds. So letters and digits are compared (``letters.normalised_characters``), from the
end of the context backwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from annotations.formats.records import Utterance
from workers.training.core.conversations import TrainingDialogue, normalised_characters

MIN_CHARACTERS = 36
"""What is shorter many people say, and is no sign of the same dialogue: "Good afternoon, sir. What
can I do for you?" has 32 letters."""
LAST_UTTERANCES = 2
"""So many whole utterances of a training dialogue, at the end of a context, are an overlap of the
kind ``end``."""

Kind = Literal["context", "end", "utterance", "reference"]
"""``context``: the whole of it stands in one training dialogue, in consecutive utterances, the last
of them whole. ``end``: its last two utterances or more do. ``utterance``: one long utterance of the
training dialogue stands in it, as where the same dialogue was written down in two versions.
``reference``: a reference is an utterance of it."""
KINDS: tuple[Kind, ...] = get_args(Kind)
CONTEXTS: tuple[Kind, ...] = ("context", "end", "utterance")
"""The kinds that mean the same dialogue. An answer alone may be what anybody says."""


class Place(Protocol):
    """Where a response is judged: a ``TurnRecord`` of a corpus, or an ``Example`` of a metric."""

    @property
    def context(self) -> tuple[Utterance, ...]: ...

    @property
    def references(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Overlap:
    """One context and one dialogue that hold the same text. ``dialogue`` and ``place`` count from
    0."""

    kind: Kind
    dialogue: int
    place: int
    letters: int
    """How many letters and digits they have in common."""


@dataclass(frozen=True, slots=True)
class OverlapReport:
    dialogues: int
    places: int
    found: tuple[Overlap, ...]
    """The strongest kind of each dialogue and place, in the order of ``KINDS``."""
    unclear: tuple[int, ...] = ()
    """Places whose context stands in the training data, but has under ``MIN_CHARACTERS`` letters
    and no reference: with the same answer it would be an overlap of the kind ``context``."""

    def dialogues_with(self, kinds: Collection[Kind] = CONTEXTS) -> tuple[int, ...]:
        """The training dialogues that overlap, in order."""
        return tuple(sorted({one.dialogue for one in self.found if one.kind in kinds}))

    def positions_with(self, kinds: Collection[Kind] = CONTEXTS) -> tuple[int, ...]:
        """The evaluated places that overlap, in order."""
        return tuple(sorted({one.place for one in self.found if one.kind in kinds}))

    def __str__(self) -> str:
        stand, dialogues = self.positions_with(), self.dialogues_with()
        if stand:
            whole, end, utterance = (
                len({one.place for one in self.found if one.kind == kind}) for kind in CONTEXTS
            )
            text = (
                f"{len(stand):,} of {self.places:,} evaluation contexts occur in "
                f"{len(dialogues):,} of {self.dialogues:,} training dialogues (as a whole "
                f"{whole:,}, with their last utterances {end:,}, with a long utterance "
                f"{utterance:,})"
            )
        else:
            text = (
                f"none of {self.places:,} evaluation contexts occurs in the {self.dialogues:,} "
                "training dialogues"
            )
        if references := set(self.positions_with(KINDS)).difference(stand):
            text += f"; of others a reference does: {len(references):,}"
        if self.unclear:
            text += (
                f"; {len(self.unclear):,} short ones without a reference occur there, too, and "
                "may be what anybody says"
            )
        return text


def overlap(training: Sequence[TrainingDialogue], evaluation: Sequence[Place]) -> OverlapReport:
    """What the training dialogues and the evaluated contexts have in common. Linear in the text of
    both."""
    index = _Index(evaluation)
    texts = [
        [normalised_characters(utterance.text) for utterance in dialogue.utterances]
        for dialogue in training
    ]
    found: dict[tuple[int, int], Overlap] = {}
    of_dialogues = (
        one for number, letters in enumerate(texts) for one in index.in_dialogue(number, letters)
    )
    for one in (*of_dialogues, *_long_utterances(texts, index.contexts)):
        key = (one.dialogue, one.place)
        known = found.get(key)
        if known is None or _rank(one) < _rank(known):
            found[key] = one
    return OverlapReport(
        len(training), len(evaluation), tuple(found.values()), tuple(sorted(index.unclear))
    )


def _long_utterances(
    dialogues: Sequence[Sequence[str]], contexts: Sequence[str]
) -> Iterator[Overlap]:
    """Whole long utterances of training dialogues anywhere in a context. All texts are letters
    only."""
    beginnings: dict[str, dict[tuple[int, str], None]] = {}
    for dialogue, utterances in enumerate(dialogues):
        for letters in utterances:
            if len(letters) >= MIN_CHARACTERS:
                beginnings.setdefault(letters[:MIN_CHARACTERS], {})[dialogue, letters] = None
    for index, context in enumerate(contexts):
        for start in range(len(context) - MIN_CHARACTERS + 1):
            for dialogue, letters in beginnings.get(context[start : start + MIN_CHARACTERS], ()):
                if context.startswith(letters, start):
                    yield Overlap("utterance", dialogue, index, len(letters))


def _rank(one: Overlap) -> tuple[int, int]:
    return KINDS.index(one.kind), -one.letters


class _Index:
    """The evaluated places by the end of their contexts and by their references."""

    def __init__(self, evaluation: Sequence[Place]) -> None:
        self.contexts: list[str] = []
        self.references: list[frozenset[str]] = []
        self.by_end: dict[str, list[int]] = {}
        """By their last ``MIN_CHARACTERS`` letters, or by all where there are fewer."""
        self.by_reference: dict[str, list[int]] = {}
        self.unclear: set[int] = set()
        for index, one in enumerate(evaluation):
            context = "".join(normalised_characters(utterance.text) for utterance in one.context)
            references = frozenset(
                normalised_characters(reference) for reference in one.references
            ) - {""}
            self.contexts.append(context)
            self.references.append(references)
            if context:
                self.by_end.setdefault(context[-MIN_CHARACTERS:], []).append(index)
            for reference in references:
                if len(reference) >= MIN_CHARACTERS:
                    self.by_reference.setdefault(reference, []).append(index)

    def in_dialogue(self, number: int, texts: Sequence[str]) -> Iterator[Overlap]:
        """What one training dialogue, whose utterances have these letters, has in common with the
        places."""
        text = ""
        for position, letters in enumerate(texts):
            for index in self.by_reference.get(letters, ()):
                yield Overlap("reference", number, index, len(letters))
            text += letters
            if not letters:
                continue
            answer = texts[position + 1] if position + 1 < len(texts) else ""
            # A long context has its last letters here; a short one is all the letters since some
            # utterance's start.
            for key in {text[-MIN_CHARACTERS:], *_short_ends(texts, position)}:
                for index in self.by_end.get(key, ()):
                    yield from self._at(number, index, text, texts[: position + 1], answer)

    def _at(
        self, number: int, index: int, text: str, texts: Sequence[str], answer: str
    ) -> Iterator[Overlap]:
        """``text`` is ``said`` in one piece: the dialogue up to an utterance's end, which
        ``answer`` follows."""
        context = self.contexts[index]
        if len(context) < MIN_CHARACTERS:
            if answer in self.references[index]:
                yield Overlap("context", number, index, len(context))
            elif not self.references[index]:
                self.unclear.add(index)
        elif text.endswith(context):
            yield Overlap("context", number, index, len(context))
        else:
            rest, utterances = len(context), 0
            for letters in reversed(texts):
                if not context.endswith(letters, 0, rest):
                    break
                rest -= len(letters)
                utterances += bool(letters)
            if utterances >= LAST_UTTERANCES and len(context) - rest >= MIN_CHARACTERS:
                yield Overlap("end", number, index, len(context) - rest)


def _short_ends(texts: Sequence[str], position: int) -> Iterator[str]:
    """The last utterances up to ``position``, one, two, …, in one piece, while they have few
    letters."""
    end = ""
    for letters in reversed(texts[: position + 1]):
        end = letters + end
        if len(end) >= MIN_CHARACTERS:
            return
        yield end
