"""What the LLM judges share in their declarations: options, what they become when a scorer is
built, and what their pages say in common."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotations.formats.importers.problems import ImportFailed
from workers.inference.language_models.server import PACKAGED_MODEL_NAME
from workers.judges.core import clients, prompt_file
from workers.judges.core.dialects import LEARNABLE, MOST_ROOM
from workers.judges.core.prompt_file import LARGEST_FILE, JudgePromptFile, own_prompt, read_prompt
from workers.metrics.base import Need, Option, OptionValue
from workers.metrics.common.named_files import text_of

SYSTEMS_AT_ONCE = 128
"""As many as a challenge has: what systems answer at one turn has one prefix, and what they say
alike is one call."""
MOST_SAMPLES = 20
LARGEST_DIGIT = 9
EXPECTED, ANSWER = "expected", "answer"
NEVER_EXTRA = ("model", "messages", "stream", "n", "reasoning_effort")
PRESERVED_PARAMS, REMOVED = "kept", "removed"

MODEL = Option(
    "model",
    PACKAGED_MODEL_NAME,
    f"the judge: {PACKAGED_MODEL_NAME} (packaged), or a model of DIALEVAL_LLM_URL",
)
SCORING = Option(
    "scoring",
    EXPECTED,
    "expected: the mean of the scale's numbers weighted by their probabilities; answer: the "
    "number that is written",
    (EXPECTED, ANSWER),
)
SAMPLES = Option(
    "samples", 1, "answers a response gets, averaged; the paper has 3", least=1, most=MOST_SAMPLES
)
TEMPERATURE = Option(
    "temperature", 1.0, "of the model's sampling; 0: the likeliest answer", least=0, most=2
)
SEED = Option("seed", 0, "of the sampling, where the endpoint honours it", least=0, most=2**31 - 1)
INJECTIONS = Option(
    "injections",
    PRESERVED_PARAMS,
    'what in a response speaks to the judge ("rate this 5") is kept or removed before it is judged',
    (PRESERVED_PARAMS, REMOVED),
)
EFFORT = Option(
    "effort",
    "",
    "of a model that reasons, sent as reasoning_effort: none, minimal, low, medium, high, xhigh or "
    "max; empty: nothing is sent",
    ("", "none", "minimal", "low", "medium", "high", "xhigh", "max"),
)
MOST_TOKENS = Option(
    "most_tokens",
    MOST_ROOM,
    "the longest answer with its reasoning: what was cut off is given more room up to this",
    least=16,
    most=1_000_000,
)
EXTRA = Option("extra", "", 'further parameters that are sent, a JSON object: {"top_p": 0.9}')
ASKING = (EFFORT, MOST_TOKENS, EXTRA)
"""How a model is asked beside what decides the score."""
PROMPT = Option(
    "prompt",
    "",
    "empty: the project's own wording; a prompt file, or slug@number of a prompt of the site",
)
OWN_PROMPT = Option("prompt", "", "slug@number of a prompt written on the site, or a prompt file")

_REGISTERED = re.compile(r"[a-z0-9_-]+@[0-9]+")


@dataclass(frozen=True)
class Judge:
    """A judge with all that decides what it is asked and how its answers are read."""

    model: str
    prompt: JudgePromptFile
    label: str
    """The label of the answer's form whose number is the score."""
    scoring: str
    samples: int
    temperature: float
    seed: int
    removes_injections: bool
    most_tokens: int = MOST_ROOM
    more_parameters: tuple[tuple[str, Any], ...] = ()
    """Sent as they are."""

    @classmethod
    def of(
        cls, options: Mapping[str, OptionValue], prompt: JudgePromptFile, label: str = ""
    ) -> Judge:
        """Make a judge from option values.

        Args:
            options: a value for each option that the LLM judges share.
            prompt: what the judge is asked.
            label: whose number is the score; "" for the one that the prompt file says counts.

        Returns:
            A judge whose further parameters are sorted by name.

        Raises:
            ValueError: ``extra`` is no JSON object, or names a parameter that the judge decides
                itself.
        """
        return cls(
            model=str(options["model"]),
            prompt=prompt,
            label=label or prompt.score,
            scoring=str(options["scoring"]),
            samples=int(options["samples"]),
            temperature=float(options["temperature"]),
            seed=int(options["seed"]),
            removes_injections=options["injections"] == REMOVED,
            most_tokens=int(options["most_tokens"]),
            more_parameters=tuple(sorted(_more_parameters(options).items())),
        )


def _more_parameters(options: Mapping[str, OptionValue]) -> dict[str, Any]:
    """Raises ``ValueError`` where ``extra`` is no JSON object, or names what the judge decides
    itself."""
    written = str(options["extra"])
    try:
        more = json.loads(written or "{}")
    except (ValueError, RecursionError):
        more = None
    if not isinstance(more, dict):
        raise ValueError(f'extra={written}: wanted is a JSON object, such as {{"top_p": 0.9}}')
    if own := sorted({*LEARNABLE, *NEVER_EXTRA} & set(more)):
        raise ValueError(f"extra={written}: {own[0]} is the judge's own to decide")
    return more | ({"reasoning_effort": options["effort"]} if options["effort"] else {})


class NoPrompt(ValueError):
    """The prompt that an option names is not there, or is none; the message says why."""


def prompt_named(name: str, own: str, step: str = "turn") -> JudgePromptFile:
    """Find the prompt that an option names.

    Args:
        name: ``slug@number`` of a prompt of the site, or a prompt file; "" for the project's own.
        own: name of the project's own prompt; "" where there is none.
        step: ``turn`` for prompts about single responses, ``dialogue`` for those about whole
            dialogues.

    Raises:
        NoPrompt: no prompt is named, there is none of this name, it is no valid prompt file, or one
            of another step. Of a file that is no prompt file the message shows nothing: anybody may
            have named it.
    """
    prompt = _read(name) if name else _own(own)
    if prompt.step != step:
        wanted = {"turn": "of single responses", "dialogue": "of whole dialogues"}
        raise NoPrompt(
            f"{name} is a prompt {wanted[prompt.step]}; wanted is one {wanted[step]} (step: {step})"
        )
    return prompt


def _own(name: str) -> JudgePromptFile:
    if not name:
        raise NoPrompt("no prompt is named: judge[prompt=slug@number], or a file")
    return own_prompt(name)


def _read(name: str) -> JudgePromptFile:
    registered = prompt_file.text_of(name) if _REGISTERED.fullmatch(name) else None
    if registered is not None:
        try:
            return read_prompt(registered)
        except ImportFailed as problem:
            raise NoPrompt(f"the prompt {name}: {problem}") from None
    try:
        text = text_of(name, LARGEST_FILE)
    except ValueError as problem:
        advice = (
            "there is no such prompt on this site" if _REGISTERED.fullmatch(name) else str(problem)
        )
        raise NoPrompt(f"the prompt {name}: {advice}") from None
    try:
        return read_prompt(text)
    except ImportFailed:
        raise NoPrompt(f"{name} is no valid prompt file: manage.py check_prompt says why") from None


def missing_judge(options: Mapping[str, OptionValue], own: str, step: str = "turn") -> str:
    """Why the judge that the options describe cannot work on this machine.

    Args:
        options: a value for each option that the LLM judges share.
        own: name of the project's own prompt; "" where there is none.
        step: ``turn`` or ``dialogue``.

    Returns:
        The reason; "" where it can work. No endpoint is asked.
    """
    try:
        prompt = prompt_named(str(options["prompt"]), own, step)
    except NoPrompt as problem:
        return str(problem)
    try:
        _more_parameters(options)
    except ValueError as problem:
        return str(problem)
    if options["scoring"] == EXPECTED and prompt.scale[1] > LARGEST_DIGIT:
        return (
            f"a scale up to {prompt.scale[1]} has no expected score, its numbers are several "
            "tokens: scoring=answer"
        )
    return clients.at_hand().missing(str(options["model"]))


def range_of(options: Mapping[str, OptionValue], step: str = "turn") -> tuple[float, float] | None:
    """Score range of the prompt that the options name.

    Args:
        options: with ``prompt``.
        step: ``turn`` or ``dialogue``.

    Returns:
        Lowest and highest number of its scale; None where no prompt is named, or it is not there.
    """
    if not options["prompt"]:
        return None
    try:
        low, high = prompt_named(str(options["prompt"]), "", step).scale
    except NoPrompt:
        return None
    return float(low), float(high)


def needs_of(options: Mapping[str, OptionValue], own: str) -> frozenset[Need]:
    """What the prompt's placeholders need of a corpus.

    Args:
        options: with ``prompt``.
        own: name of the project's own prompt; "" where there is none.

    Returns:
        ``reference`` where the prompt shows it, else nothing; nothing also for a prompt that is not
        there.
    """
    try:
        prompt = prompt_named(str(options["prompt"]), own)
    except NoPrompt:
        return frozenset()
    return frozenset({"reference"}) if prompt.needs_reference else frozenset()


EQUATIONS = r"""\text{scoring=expected:}\quad s = \frac{\sum_{i} i \, p(i)}{\sum_{i} p(i)}

\text{scoring=answer:}\quad s = \frac{1}{|R|} \sum_{j \in R} x_j"""

HOW_IT_IS_READ = """With scoring=expected (the default) the answer is begun for the model up to
the number, and the score is the mean of the scale's numbers i weighted by the
probabilities p that the endpoint gives them there (G-Eval's equation 1, over one place instead of
samples); where none of its 20 likeliest tokens is a number of the scale there is no score. With
scoring=answer it is the number x that the model writes, read strictly: the last well-formed line of
the form with a number of the scale. What cannot be read is asked again, at most twice, and is then
undefined. Of several samples the mean over those that could be read (R) counts. The paper's average
of three calls is samples=3,scoring=answer.

The wording is the project's own: sections, scale, steps and form are the paper's, the sentences are
not. Published figures belong to the published wording and its models; a file can hold that wording
(prompt=FILE)."""

SMALL_MODEL_CAVEAT = """What a judge is worth depends on the model. ComperDial's figures
were made with GPT-3.5 and GPT-4. The packaged model is there so that all this can be tried with no
network, and is a weak judge: do not rank systems by it. Its PMI, for which nobody asks it for a
judgement, has r = .32 on USR, more than its score as a judge."""
