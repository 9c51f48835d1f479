"""CPDScore of single responses: ComperDial's judge, Simple and Detail, with and without the
reference; and the two prompts that it began from (section 4 and appendix B; Zhang et al., 2024;
G-EVAL: Liu et al., 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Need, OptionValue
from workers.metrics.common.judge_options import (
    ASKING,
    EQUATIONS,
    HOW_IT_IS_READ,
    INJECTIONS,
    MODEL,
    PROMPT,
    SAMPLES,
    SCORING,
    SEED,
    SMALL_MODEL_CAVEAT,
    SYSTEMS_AT_ONCE,
    TEMPERATURE,
    Judge,
    missing_judge,
    prompt_named,
    range_of,
)

if TYPE_CHECKING:
    from workers.metrics.common.judge_scorer import JudgeScorer

COMPERDIAL = (
    "Wakaki et al. (2024), ComperDial: Commonsense Persona-grounded Dialogue Dataset and Benchmark"
)
ZHANG = (
    "Zhang et al. (2024), A Comprehensive Analysis of the Effectiveness of LLMs as Automatic "
    "Dialogue Evaluators, AAAI"
)
G_EVAL = "Liu et al. (2023), G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment, EMNLP"


def _build(own: str, options: Mapping[str, OptionValue]) -> JudgeScorer:
    from workers.metrics.common.judge_scorer import JudgeScorer

    return JudgeScorer(Judge.of(options, prompt_named(str(options["prompt"]), own)))


def _declare(
    own: str,
    summary: str,
    description: str,
    citation: str = COMPERDIAL,
    scale: tuple[float, float] = (1.0, 5.0),
) -> Metric:
    needs: frozenset[Need] = frozenset(
        {"context", "reference"} if own.endswith("_ref") else {"context"}
    )
    return Metric(
        name=f"cpdscore_{own}",
        version="1",
        summary=summary,
        citation=citation,
        build=partial(_build, own),
        needs=needs,
        queue="llm",
        value_range=scale,
        range_of=range_of,
        options=(MODEL, SCORING, SAMPLES, TEMPERATURE, SEED, PROMPT, INJECTIONS, *ASKING),
        missing=partial(missing_judge, own=own),
        resumable=True,
        systems_at_once=SYSTEMS_AT_ONCE,
        equation=EQUATIONS,
        description=f"{description}\n\n{HOW_IT_IS_READ}\n\n{SMALL_MODEL_CAVEAT}",
    )


SIMPLE = """A language model reads the conversation so far and a response, and writes six numbers
from 1 to 5: humanness, fluency, coherency, consistency, engagingness and overall. Overall is the
score; where the answer is written out, the others are in the judge's trace. One short
instruction, no description of the numbers, no persona."""
DETAIL = """A language model reads what each number from 1 to 5 means, three steps to follow, the
conversation so far, the persona of the speaker who answers and the response, and writes one number:
how human-like the response is. Six qualities of human rating (fluency, consistency, coherence,
engagingness, persona, humanness) go into one number as they do in ComperDial's annotation."""
WITH_REFERENCE = """ The gold answer is given as a reference. In the paper that helps GPT-3.5
and hurts GPT-4 with the Detail prompt: a judge that has a reference may take any other good answer
for a worse one. A turn without a reference has no score."""

METRICS = (
    _declare(
        "simple",
        "A language model's overall score of the response, 1 to 5, in one short instruction.",
        SIMPLE,
    ),
    _declare(
        "simple_ref",
        "A language model's overall score of the response beside the reference, 1 to 5, in one "
        "short instruction.",
        SIMPLE + WITH_REFERENCE,
    ),
    _declare(
        "detail",
        "How human-like a language model finds the response, 1 to 5, with described scores.",
        DETAIL,
    ),
    _declare(
        "detail_ref",
        "How human-like a language model finds the response beside the reference, 1 to 5, with "
        "described scores.",
        DETAIL + WITH_REFERENCE,
    ),
    _declare(
        "simple_original",
        "The short instruction that CPDScore-Simple began from: a language model's overall score, "
        "1 to 5.",
        """The baseline of ComperDial's table 3. A language model reads the conversation and a
response and writes five numbers from 1 to 5: relevance, specificity, interestingness,
understandability and overall. Overall is the score.""",
        ZHANG,
    ),
    _declare(
        "detail_original",
        "The prompt that CPDScore-Detail began from: how engaging a language model finds the "
        "response, 1 to 3.",
        """The baseline of ComperDial's table 3: G-EVAL's engagingness. A language model reads what
the numbers 1 (dull) to 3 (interesting) mean, the conversation, a fact that the response may use
(here: the speaker's persona) and the response. It measures interest and not quality, which is why
it agrees less with an overall rating.""",
        G_EVAL,
        (1.0, 3.0),
    ),
)
