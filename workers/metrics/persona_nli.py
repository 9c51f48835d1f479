"""Whether a response contradicts or follows from its speaker's persona, by a model of natural
language inference (NLI): the highest probability of a contradiction (Welleck et al. 2019), and the
consistency score C (Madotto et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from common.estimates import Undefined
from workers.metrics.base import Account, Example, Metric, Option, OptionValue, Progress, Score
from workers.metrics.common.options import (
    SYSTEMS_AT_ONCE,
    account_of,
    each_once,
    model_option,
    number,
    why_no_checkpoint,
)
from workers.metrics.common.readability import read_of_responses

if TYPE_CHECKING:
    from workers.inference.encoders.nli_model import Inference, NliModel

NO_PERSONA = Undefined("the dialogue has no persona")
EMPTY = Undefined("the response is empty")
UNREADABLE_PERSONA = Undefined("the model knows no token of the persona")
PREMISE = Option(
    "premise",
    "persona",
    "which text the model reads first, as the premise: each line of the persona, or the response",
    ("persona", "response"),
)


class PersonaNli:
    """A ``TurnScorer``: asks about the response and each line of the persona, and makes one number
    of the answers."""

    def __init__(
        self,
        load: Callable[[], NliModel],
        persona_first: bool,
        combine: Callable[[Sequence[Inference]], float],
    ) -> None:
        self._load = load
        self._persona_first = persona_first
        self._combine = combine
        self._account = Account()

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """One number of the inferences about each response; see ``TurnScorer.score``.

        Returns:
            One score per example, in order. ``Undefined`` where the dialogue has no persona, the
            response is empty, an output is not finite, or the model cannot read the texts.
        """
        model, remarks = self._load(), dict[int, str]()
        self._account = account_of(model, remarks, (("max_tokens", str(model.max_tokens)),))
        pairs = [self._pairs(example) for example in examples]
        found = iter(
            each_once(
                [pair for of_one in pairs for pair in of_one],
                model.inferences,
                progress,
                len(examples),
            )
        )
        scores: list[Score] = []
        for index, (example, of_one) in enumerate(zip(examples, pairs, strict=True)):
            answers = [next(found) for _ in of_one]
            if any(answer.cut for answer in answers):
                remarks[index] = f"persona and response were cut at {model.max_tokens} tokens"
            if answers:
                scores.append(number(self._combine(answers)))
            else:
                scores.append(NO_PERSONA if example.response.strip() else EMPTY)
        shown = [[example.response.strip(), *_statements(example)] for example in examples]
        read = read_of_responses(model, shown, scores, UNREADABLE_PERSONA)
        self._account = replace(self._account, read=read)
        return scores

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def _pairs(self, example: Example) -> list[tuple[str, str]]:
        response = example.response.strip()
        return [
            (statement, response) if self._persona_first else (response, statement)
            for statement in _statements(example)
            if response
        ]


def _statements(example: Example) -> list[str]:
    return [line.strip() for line in example.persona if line.strip()]


def highest_contradiction(answers: Sequence[Inference]) -> float:
    """Highest probability of a contradiction.

    Args:
        answers: one per statement of the persona; at least one.

    Returns:
        In [0, 1]; NaN where a probability is.
    """
    probabilities = [answer.contradiction for answer in answers]
    return sum(probabilities) if any(p != p for p in probabilities) else max(probabilities)


def consistency(answers: Sequence[Inference]) -> float:
    """Consistency score C: statements that the response entails less those that it contradicts.

    Args:
        answers: one per statement of the persona.

    Returns:
        A whole number, from minus to plus the number of statements; NaN where a probability is.

    C = Σ_j NLI(r, p_j), NLI 1, 0 or −1 as entailment, neutral or contradiction is the likeliest
    (Madotto et al. 2019).
    """
    total = 0.0
    for one in answers:
        likeliest = max(one.entailment, one.neutral, one.contradiction)
        if one.entailment != one.entailment:
            return one.entailment
        total += (one.entailment == likeliest) - (one.contradiction == likeliest)
    return total


def _build(
    combine: Callable[[Sequence[Inference]], float], options: Mapping[str, OptionValue]
) -> PersonaNli:
    from workers.inference.encoders.nli_model import nli_model_for

    return PersonaNli(
        partial(nli_model_for, str(options["model"])), options["premise"] == "persona", combine
    )


_SHARED = """

It needs a checkpoint, and there is no default: name a folder or a hub id. Every sequence classifier
of transformers will do whose configuration calls its labels entailment, neutral and contradiction,
in any order and case, such as those trained on MNLI or on Dialogue NLI (DNLI); one that calls them
LABEL_0 to LABEL_2 is refused. Checkpoints for general sentences take a question or a greeting for
neutral at best: what they say of dialogue is what they were trained on.

The persona's line is the premise and the response the hypothesis; premise=response turns them
round, as in code that was trained on DNLI. A dialogue without a persona and an empty response have
no score. A pair that is too long loses the end of its longer text, and is remarked. Equal to
transformers' own pipeline, pair by pair; tested on small checkpoints with random weights."""


def _declare(name: str, combine: Callable[[Sequence[Inference]], float], **about: Any) -> Metric:
    return Metric(
        name=name,
        version="1",
        build=partial(_build, combine),
        needs=frozenset({"persona"}),
        queue="gpu",
        options=(model_option("a checkpoint of natural language inference"), PREMISE),
        missing=partial(why_no_checkpoint, name),
        systems_at_once=SYSTEMS_AT_ONCE,
        **about,
    )


METRICS = (
    _declare(
        "persona_contradiction",
        highest_contradiction,
        summary="Highest probability that the response contradicts a line of the persona.",
        citation="Welleck et al. (2019), Dialogue Natural Language Inference, ACL",
        higher_is_better=False,
        equation=r"s = \max_{p} P(\text{contradiction} \mid p, r)",
        description="A model of natural language inference reads each line p of the persona with "
        "the response r. The score is the highest probability of a contradiction, so one line that "
        "is contradicted is enough. Lower is better. The paper ranks candidates by it, counting "
        "contradiction only where it is the likeliest label." + _SHARED,
    ),
    _declare(
        "persona_consistency",
        consistency,
        summary="Lines of the persona that the response entails, less those that it contradicts.",
        citation="Madotto et al. (2019), Personalizing Dialogue Agents via Meta-Learning, ACL",
        value_range=(None, None),
        equation=r"C(r) = \sum_{p} \text{NLI}(r, p) \qquad \text{NLI} \in \{1, 0, -1\}",
        description="A model of natural language inference reads each line p of the persona with "
        "the response r: NLI is 1 where entailment is the likeliest of the three labels, −1 "
        "where contradiction is, else 0. C is their sum, so a persona of more lines has more to "
        "win and to lose, and a response that says nothing of itself has 0." + _SHARED,
    ),
)
