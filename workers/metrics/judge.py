"""A judge of one's own: the prompt is an organiser's, the rest is as with CPDScore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Need, OptionValue
from workers.metrics.common.judge_options import (
    ASKING,
    EQUATIONS,
    HOW_IT_IS_READ,
    INJECTIONS,
    MODEL,
    OWN_PROMPT,
    SAMPLES,
    SCORING,
    SEED,
    SMALL_MODEL_CAVEAT,
    SYSTEMS_AT_ONCE,
    TEMPERATURE,
    Judge,
    missing_judge,
    needs_of,
    prompt_named,
    range_of,
)

if TYPE_CHECKING:
    from workers.metrics.common.judge_scorer import JudgeScorer

NOTHING = ""


def _build(options: Mapping[str, OptionValue]) -> JudgeScorer:
    from workers.metrics.common.judge_scorer import JudgeScorer

    return JudgeScorer(Judge.of(options, prompt_named(str(options["prompt"]), NOTHING)))


def _missing(options: Mapping[str, OptionValue]) -> str:
    return missing_judge(options, NOTHING)


def _needs(options: Mapping[str, OptionValue]) -> frozenset[Need]:
    return needs_of(options, NOTHING)


METRIC = Metric(
    name="judge",
    version="1",
    summary="A language model's score of the response, asked with a prompt of your own.",
    citation="the organiser who wrote the prompt; read as in Wakaki et al. (2024) and Liu et al. "
    "(2023)",
    build=_build,
    needs_of=_needs,
    queue="llm",
    value_range=(None, None),
    range_of=range_of,
    options=(MODEL, SCORING, SAMPLES, TEMPERATURE, SEED, OWN_PROMPT, INJECTIONS, *ASKING),
    missing=_missing,
    resumable=True,
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=EQUATIONS,
    description=f"""A prompt says what is judged, on which scale and in which form the answer comes;
docs/judges.md describes the format, and the site has a page on which a prompt is written, tried on
ten responses and run. The prompt's placeholders decide what it needs: one that shows the reference
has no score at a turn without one.

What such a score means is what its prompt says, and how well the model follows it: hold it against
people before it is believed, and against the length of responses, which language models are known
to like.

{HOW_IT_IS_READ}

{SMALL_MODEL_CAVEAT}""",
)
