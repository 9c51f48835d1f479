"""CPDScore-Dialogue: the judge of whole dialogues in two steps (ComperDial, section 4 and appendix
B.3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Need, Option, OptionValue
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
    NoPrompt,
    missing_judge,
    prompt_named,
    range_of,
)
from workers.metrics.cpdscore import COMPERDIAL

if TYPE_CHECKING:
    from workers.judges.core.prompt_file import JudgePromptFile
    from workers.metrics.common.dialogue_judge_scorer import DialogueJudgeScorer

OWN = "dialogue"
FINAL, OVERALL_TURN, INTERACTION = "final", "overall_turn", "interaction"
TURNS = Option(
    "turns",
    "detail",
    "the prompt by which each turn is scored first: detail, detail_ref, simple, simple_ref",
    ("detail", "detail_ref", "simple", "simple_ref"),
)
TURN_PROMPT = Option(
    "turn_prompt",
    "",
    "empty: the prompt that turns= names; a prompt file, or slug@number, for the first step",
)
REPORT = Option(
    "report",
    FINAL,
    "which of the second step's numbers is the score: the final one, that over the turns, that of "
    "the interaction",
    (FINAL, OVERALL_TURN, INTERACTION),
)


def _build(options: Mapping[str, OptionValue]) -> DialogueJudgeScorer:
    from workers.metrics.common.dialogue_judge_scorer import DialogueJudgeScorer

    prompt = prompt_named(str(options["prompt"]), OWN, "dialogue")
    turn_prompt = prompt_named(str(options["turn_prompt"]), str(options["turns"]))
    label = reported_label(prompt, str(options["report"]))
    return DialogueJudgeScorer(Judge.of(options, turn_prompt), Judge.of(options, prompt, label))


def reported_label(prompt: JudgePromptFile, report: str) -> str:
    """Label of the answer whose number is the score.

    Args:
        prompt: of the second step.
        report: ``final``, the label that the prompt file says counts; ``overall_turn``, the first;
            ``interaction``, the second.

    Raises:
        NoPrompt: the prompt's form has no such label beside the one that counts.
    """
    if report == FINAL:
        return prompt.score
    index = 0 if report == OVERALL_TURN else 1
    if len(prompt.labels) <= index or prompt.labels[index] == prompt.score:
        raise NoPrompt(f"the prompt's answer has no number for report={report}")
    return prompt.labels[index]


def _missing(options: Mapping[str, OptionValue]) -> str:
    if reason := missing_judge(
        {**options, "prompt": options["turn_prompt"]}, str(options["turns"])
    ):
        return reason
    if reason := missing_judge(options, OWN, "dialogue"):
        return reason
    try:
        reported_label(
            prompt_named(str(options["prompt"]), OWN, "dialogue"), str(options["report"])
        )
    except NoPrompt as problem:
        return str(problem)
    return ""


def _needs(options: Mapping[str, OptionValue]) -> frozenset[Need]:
    try:
        turn_prompt = prompt_named(str(options["turn_prompt"]), str(options["turns"]))
    except NoPrompt:
        return frozenset()
    return frozenset({"reference"} if turn_prompt.needs_reference else ())


METRIC = Metric(
    name="cpdscore_dialogue",
    version="1",
    summary="A language model's score of a whole dialogue, 1 to 5, from its scores of the turns "
    "and all responses.",
    citation=COMPERDIAL,
    build=_build,
    levels=frozenset({"dialogue", "system"}),
    needs=frozenset({"context"}),
    needs_of=_needs,
    queue="llm",
    value_range=(1.0, 5.0),
    range_of=partial(range_of, step="dialogue"),
    options=(
        MODEL,
        SCORING,
        SAMPLES,
        TEMPERATURE,
        SEED,
        TURNS,
        REPORT,
        PROMPT,
        TURN_PROMPT,
        INJECTIONS,
        *ASKING,
    ),
    missing=_missing,
    resumable=True,
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=EQUATIONS,
    description=f"""Two steps. First a language model scores every turn, as cpdscore_detail does (or
another prompt that turns= names); what that metric has asked already is not asked again. Then it
reads these scores and all responses of the dialogue, and says three numbers: one over the turns;
one over how the responses go together, low where they are long (more than twenty words), impersonal
or all alike; and a final one, in which a good score over the turns outweighs the other. report=
chooses; with scoring=answer the other two are in the judge's trace.

It sees what no turn shows by itself: a system that answers every time in the same pattern. It does
not see the partner's lines in the second step, so a contradiction between turns shows only where
the first step found it. A dialogue in which a turn has no score has none.

{HOW_IT_IS_READ}

{SMALL_MODEL_CAVEAT}""",
)
