"""What importers yield, exporters write and metrics read. No Django here.

A corpus travels as a stream of records in this order: one ``CorpusRecord``, then ``SystemRecord``s
and ``RaterRecord``s, then every ``DialogueRecord`` followed by that dialogue's
``ResponseRecord``s, ``RatingRecord``s, ``LabelRecord``s and ``PreferenceRecord``s. A reader can
therefore store or check a corpus without holding it in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

TARGET_SPEAKER = "B"
"""The speaker whose answers are judged (ComperDial's persona B)."""

ASSISTANT = "assistant"
"""The role of messages whose author is a system that is evaluated."""
UNSPOKEN_ROLES = frozenset({"system", "developer", "tool", "function"})
"""Roles of messages that no participant says."""

SystemKind = Literal["agent", "human", "gold", "baseline"]
RaterKind = Literal["identified", "anonymous", "aggregate"]
"""``identified``: the same name is the same person everywhere. ``anonymous``: a name is only a
place in a list. ``aggregate``: not a person; the scores are means over people that the file no
longer holds."""
Level = Literal["turn", "dialogue"]


@dataclass(frozen=True, slots=True)
class Utterance:
    speaker: str
    text: str


def target_of(context: Sequence[Utterance]) -> str:
    """Who answers, as the context names its speakers: B, or the assistant of a conversation of
    roles."""
    return TARGET_SPEAKER if {one.speaker for one in context} <= {"A", "B"} else ASSISTANT


def letter_of(speaker: str) -> str:
    """A speaker as prompts about A and B name them: the assistant is B, the user A; others keep
    their names."""
    return {ASSISTANT: TARGET_SPEAKER, "user": "A"}.get(speaker, speaker)


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance of a conversation.

    ``role`` is ``system``, ``user``, ``assistant``, ``tool`` or another word of the source;
    ``name`` tells participants of one role apart. ``parts`` holds what is not plain text (tool
    calls, tool results, attachments) as JSON objects, each with a ``type``; ``time`` is ISO 8601.
    """

    role: str
    text: str
    name: str = ""
    parts: tuple[Mapping[str, Any], ...] = ()
    time: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """Who speaks, in one word: the name where there is one, else the role."""
        return self.name or self.role


@dataclass(frozen=True, slots=True)
class CorpusRecord:
    """What the file says of itself. ``part`` distinguishes the corpora that one file holds (GRADE
    has three)."""

    name: str = ""
    part: str = ""
    simulated: bool = False
    """True where the raters were programs; every page that shows such ratings says so."""
    description: str = ""
    aspects: tuple[str, ...] = ("overall",)
    main_aspect: str = "overall"
    """The aspect that stands for the whole judgement: what leaderboards show unless asked
    otherwise."""
    scale: tuple[float, float] = (1.0, 5.0)
    """Lowest and highest score of every aspect that ``scales`` does not name."""
    scales: tuple[tuple[str, float | None, float | None], ...] = ()
    """Aspects with a scale of their own: (aspect, lowest, highest); None is an end that the file
    does not tell."""
    language: str = ""
    """BCP 47 code of the language, as the file or whoever imports it gives it; "" where nobody
    says."""

    def scale_of(self, aspect: str) -> tuple[float | None, float | None]:
        """The lowest and highest score that ``aspect`` may have; None for an end that is not
        known."""
        for name, low, high in self.scales:
            if name == aspect:
                return low, high
        return self.scale


@dataclass(frozen=True, slots=True)
class SystemRecord:
    name: str
    kind: SystemKind = "agent"
    description: str = ""


@dataclass(frozen=True, slots=True)
class RaterRecord:
    name: str
    kind: RaterKind = "identified"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A place where the target speaker must answer: the gold utterances before it, and the gold
    answer(s).

    Where the dialogue has ``messages``, ``after`` counts those that stand before the response and
    ``context`` is empty: the conversation is held once."""

    number: int
    context: tuple[Utterance, ...] = ()
    references: tuple[str, ...] = ()
    after: int | None = None


@dataclass(frozen=True, slots=True)
class DialogueRecord:
    id: str
    persona: tuple[str, ...]
    """Of the target speaker B."""
    partner_persona: tuple[str, ...]
    """Of speaker A."""
    turns: tuple[TurnRecord, ...] = field(default=())
    messages: tuple[Message, ...] = ()
    """The whole conversation, once. Empty where each turn brings a context of its own."""
    interactive: bool = False
    """True where one system took part in the conversation (a log, an interactive study): its own
    messages are its responses, and no other system has any in this dialogue."""
    knowledge: tuple[str, ...] = ()
    """Facts or documents that the responses may rest on."""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def context_of(self, turn: TurnRecord) -> tuple[Utterance, ...]:
        """What was said before the response at ``turn``, one of ``turns``.

        Args:
            turn: of this dialogue.

        Returns:
            Its own context, or the messages before it, oldest first: system prompts and tool
            results are among them, each with its participant's name or else its role as speaker.
        """
        if turn.after is None:
            return turn.context
        return tuple(Utterance(one.speaker, one.text) for one in self.messages[: turn.after])


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    dialogue_id: str
    turn: int
    system: str
    text: str
    sample: int = 0
    """Counts the responses that one system gave at one turn (best of n); 0 is the first."""
    parts: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """What a rater said of a response, message or dialogue that is no number on a scale: a category
    ("toxic"), several categories, or free text."""

    dialogue_id: str
    turn: int | None
    system: str
    rater: str
    question: str
    value: str | tuple[str, ...]
    message: int | None = None
    """Position in the dialogue's messages, from 0, where one message was labelled."""


@dataclass(frozen=True, slots=True)
class PreferenceRecord:
    """A rater compared two responses (or, with ``turn`` None, two systems' whole dialogues).

    ``system_a`` and ``system_b`` may be the same system with other samples."""

    dialogue_id: str
    turn: int | None
    system_a: str
    system_b: str
    preferred: Literal["a", "b", "tie", "both_bad"]
    rater: str
    aspect: str = "overall"
    sample_a: int = 0
    sample_b: int = 0
    comment: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RatingRecord:
    """``turn`` is None for a dialogue-level rating (the system's whole set of responses in the
    dialogue)."""

    dialogue_id: str
    turn: int | None
    system: str
    rater: str
    aspect: str
    score: float
    comment: str = ""


Record = (
    CorpusRecord
    | SystemRecord
    | RaterRecord
    | DialogueRecord
    | ResponseRecord
    | RatingRecord
    | LabelRecord
    | PreferenceRecord
)
