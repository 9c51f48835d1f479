"""How long building a judge's prompt and reading its answer take, a call. Needs no endpoint.

    python -m bench.judge_prompts

A call: the prompt is filled in for one response (thirteen utterances of history, two lines of
persona), its request is hashed, the answer of some lines is parsed and, of another, the expected
score is read. To be under 0.2 ms together.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

from annotations.formats.records import Utterance
from workers.inference.language_models.client import Message
from workers.judges.core.calls import Answer, ChatRequest, TokenChance
from workers.judges.core.injection import find
from workers.judges.core.parsing import expected, parse
from workers.judges.core.prompt_file import OUR_PROMPTS, JudgePromptFile, own_prompt
from workers.judges.core.rendering import render, render_dialogue
from workers.metrics.base import Example

CALLS = 10_395
SAID = "I used to run for a team, but these days I would rather walk along the river with my dog."
TOP = tuple((text, math.log(0.04)) for text in (*"0123456789", *"abcdefghij"))


def examples(count: int) -> list[Example]:
    """Responses of as many systems at one turn: history and persona are the same, the response is
    not."""
    said = tuple(Utterance("AB"[turn % 2], SAID) for turn in range(13))
    persona = ("I am a nurse.", "I have a dog called Biscuit.")
    return [
        Example("d", 6, persona, persona, said, (SAID,), f"{SAID} {number}")
        for number in range(count)
    ]


def messages_of(prompt: JudgePromptFile, example: Example) -> tuple[Message, ...]:
    if prompt.step == "dialogue":
        return render_dialogue(prompt, [example] * 7, [3.5] * 7)
    return render(prompt, example)


def milliseconds(work: Callable[[Example], object], over: list[Example]) -> float:
    """A call, of processor time."""
    work(over[0])
    began = time.process_time()
    for example in over:
        work(example)
    return 1000 * (time.process_time() - began) / len(over)


def milliseconds_a_call(name: str, count: int = CALLS) -> dict[str, float]:
    """By step, for one of the project's prompts; ``all`` is building and reading together, without
    the search for injections, which is once a response and not once a call."""
    prompt, over = own_prompt(name), examples(count)
    lines = "".join(f"{prompt.begin}{label}{prompt.separator}4\n" for label in prompt.labels)
    written = f"{lines}The response fits the conversation and is kind.\n" * 3
    answer = Answer("answered", "4", chances=(TokenChance("4", TOP),))
    steps = {
        "fill in": milliseconds(lambda one: messages_of(prompt, one), over),
        "fill in and hash": milliseconds(
            lambda one: ChatRequest("m", messages_of(prompt, one)).key, over
        ),
        "parse": milliseconds(lambda _: parse(written, prompt), over),
        "expected": milliseconds(lambda _: expected(answer, prompt, prompt.score), over),
        "injections": milliseconds(lambda one: find(one.response), over),
    }
    return {**steps, "all": steps["fill in and hash"] + max(steps["parse"], steps["expected"])}


def main() -> None:
    print(f"ms of processor time a call, {CALLS:,} calls; load {os.getloadavg()[0]:.1f}")
    for name in OUR_PROMPTS:
        told = milliseconds_a_call(name)
        print(f"{name:16}", "  ".join(f"{step} {value:.4f}" for step, value in told.items()))


if __name__ == "__main__":
    main()
