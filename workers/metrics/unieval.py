"""UniEval: a question about the response, answered by a model with yes or no (Zhong et al. 2022).

score = p(Yes) / (p(Yes) + p(No)) at the decoder's first step, equation 1 of the paper.

The questions are data. Ours are worded by us in the structure of the published ones; a checkpoint
that was trained with the published ones should get those, from a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

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
from workers.metrics.common.unieval_questions import (
    ASPECTS,
    OVERALL,
    Questions,
    QuestionsError,
    questions_of,
)

if TYPE_CHECKING:
    from workers.inference.encoders.boolean_model import BooleanModel

NO_PERSONA = "has no persona"
SUMMED = "engagingness"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class UniEval:
    """A ``TurnScorer``."""

    def __init__(
        self,
        load: Callable[[], BooleanModel],
        questions: Questions,
        aspect: str,
        sums_sentences: bool = False,
    ) -> None:
        self._load = load
        self._questions = questions
        self._sums_sentences = sums_sentences
        self._aspects = questions.aspects if aspect == OVERALL else (aspect,)
        self._account = Account()

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Probability of "yes" to the aspect's question; see ``TurnScorer.score``.

        Returns:
            One score per example, in order, in [0, 1], or above where engagingness is summed over
            sentences; for ``overall`` the mean over the aspects. ``Undefined`` where a question
            asks about a persona that there is not, where the score is not finite, or where the
            model cannot read the response.
        """
        model, remarks = self._load(), dict[int, str]()
        self._account = account_of(
            model,
            remarks,
            (("max_tokens", str(model.max_tokens)), ("questions_hash", self._questions.revision)),
        )
        inputs = [self._questions_of(example) for example in examples]
        every = [
            question
            for of_one in inputs
            if not isinstance(of_one, Undefined)
            for questions in of_one
            for question in questions
        ]
        found = iter(each_once(every, model.answers, progress, len(examples)))
        scores: list[Score] = []
        for index, of_one in enumerate(inputs):
            if isinstance(of_one, Undefined):
                scores.append(of_one)
            else:
                answers = [next(found) for questions in of_one for _ in questions]
                if any(answer.cut for answer in answers):
                    remarks[index] = f"a question was cut at {model.max_tokens} tokens"
                scores.append(number(math.fsum(answer.yes for answer in answers) / len(of_one)))
        shown = [[example.response.strip()] for example in examples]
        self._account = replace(self._account, read=read_of_responses(model, shown, scores))
        return scores

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def _questions_of(self, example: Example) -> list[list[str]] | Undefined:
        """For each aspect: one, or one for each sentence of the response."""
        for aspect in self._aspects:
            if self._questions.asks_persona(aspect) and not any(
                line.strip() for line in example.persona
            ):
                return Undefined(f"{aspect} asks about the persona, and the dialogue {NO_PERSONA}")
        return [
            [
                self._questions.question(aspect, replace(example, response=text))
                for text in self._texts_of(aspect, example.response)
            ]
            for aspect in self._aspects
        ]

    def _texts_of(self, aspect: str, response: str) -> list[str]:
        if aspect != SUMMED or not self._sums_sentences:
            return [response]
        return _SENTENCE_END.split(response.strip())


def _build(options: Mapping[str, OptionValue]) -> UniEval:
    from workers.inference.encoders.boolean_model import boolean_model_for

    questions = questions_of(str(options["questions"]))
    return UniEval(
        partial(boolean_model_for, str(options["model"])),
        questions,
        str(options["aspect"]),
        options["engagingness"] == "sum",
    )


def _missing(options: Mapping[str, OptionValue]) -> str:
    try:
        questions = questions_of(str(options["questions"]))
    except QuestionsError as error:
        return str(error)
    aspect = str(options["aspect"])
    if aspect != OVERALL and aspect not in questions.aspects:
        return f'the questions in {options["questions"]} have none for "{aspect}"'
    return why_no_checkpoint("unieval", options)


METRIC = Metric(
    name="unieval",
    version="2",
    summary="How sure a model is, asked yes or no, that the response is natural, coherent, "
    "engaging, grounded, clear.",
    citation="Zhong et al. (2022), Towards a Unified Multi-Dimensional Evaluator for Text "
    "Generation, EMNLP",
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    options=(
        model_option("a UniEval checkpoint"),
        Option(
            "aspect",
            OVERALL,
            "what is asked about; overall: the mean over all",
            choices=(*ASPECTS, OVERALL),
        ),
        Option(
            "engagingness",
            "once",
            "once: asked about the response; sum: about each of its sentences, added up, as the "
            "released code does",
            ("once", "sum"),
        ),
        Option("questions", "", "a JSON file with a question for each aspect; left empty: ours"),
    ),
    signature_facts=(("overall", "mean"),),
    missing=_missing,
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"s = \frac{p(\text{Yes} \mid q, r, c)}{p(\text{Yes} \mid q, r, c) + p(\text{No} \mid "
    r"q, r, c)}",
    description=(
        "An encoder-decoder model such as T5 gets a question q about the response r, with the "
        "context c or the persona where the question needs them. The score is the probability of "
        "Yes beside that of No as the answer's first word. The aspects are naturalness, "
        "coherence, engagingness, groundedness and understandability; `overall`, the default, is "
        "the mean of their scores.\n\nThe questions are data, and their wording "
        "matters to a checkpoint. Ours have the structure of the published ones in our words. For "
        "the published wording give a file, `[questions=FILE]`: a JSON object with an aspect's "
        "name as key and a text with {response}, and {context} or {persona} where wanted, as "
        "value. The signature holds a hash of the questions.\n\nGroundedness and engagingness ask "
        "about the persona. A dialogue without one has no score for them, and no overall score: "
        "choose another aspect, or leave them out of the questions' file.\n\nThe released code "
        "cuts a response into sentences for engagingness and adds up their scores, so that longer "
        "responses get more: engagingness=sum does, with sentences that end with a full stop, a "
        "question or an exclamation mark; by default the response is asked about once, and the "
        "score stays between 0 and 1."
        '\n\nA questions file is `{"coherence": "question: … </s> response: {response} </s> '
        'dialogue history: {context}"}`; aspects that it leaves out are left out of '
        "`overall`. Where the tokenizer writes Yes and No in several tokens, the first of "
        "each counts. A question of more than 1,024 tokens loses its end and is remarked. "
        "Equal to the released code's score of one question; tested on small checkpoints with "
        "random weights."
    ),
)
