"""What is known of a model by its name: what it is worth as a judge, said wherever its scores are
shown, and which family it belongs to (gpt, claude, llama, …). Pure.

The packaged model is there so that everything runs with no network, and it is far too small to
judge. Nobody should have to find that out from a leaderboard.

A family is a maker's line of models that learned from much the same texts. A name that says none is
unknown: nothing is guessed, and a system called "north" is of no family that anybody here knows.
"""

from __future__ import annotations

import re
from typing import Any

from workers.inference.language_models.server import PACKAGED_MODEL_NAME

_CAVEATS = {
    PACKAGED_MODEL_NAME: (
        "A model of 135 million parameters is a weak judge. On USR its CPDScore-Detail agrees "
        "with people at r = .09 and its CPDScore-Simple at r = .08, with 95 % intervals that hold "
        "0, where the mere length of a response reaches r = .25 and one rater with the others .67 "
        "to .80. Asked to write it answers 1 to almost every Detail prompt: only its expected "
        "score orders anything"
    )
}
"""By model. Turn level, 300 responses, the packaged weights behind llama.cpp, the project's own
prompts (ρ = .08, .07; with the reference r = .07, .01; other wordings reached .14, .21). No final
stop: it is joined to other remarks."""
SHORT = {PACKAGED_MODEL_NAME: "a weak judge: on USR r = .08 to .09, length alone .25"}
"""The same where there is room for a few words."""


def caveat_of_model(model: str) -> str:
    """What is known of a model as a judge, "" where nothing is. ``model``: a name, with or without
    its revision."""
    return _CAVEATS.get(model.partition("@")[0], "")


def judge_of(configuration: Any) -> str:
    """The model that a metric's configuration has judge; "" where no language model is asked.

    ``configuration``: a ``Configuration``; what was handed in as scores has neither a metric nor
    options.
    """
    metric = getattr(configuration, "metric", None)
    if metric is None or metric.queue != "llm":
        return ""
    return str(configuration.options.get("model", ""))


def caveat_of(configuration: Any) -> str:
    """What to know before one reads this configuration's scores; "" where there is nothing to
    say."""
    return caveat_of_model(judge_of(configuration))


def caveat_in_short(configuration: Any) -> str:
    return SHORT.get(judge_of(configuration), "")


_FAMILIES: tuple[tuple[str, str], ...] = (
    ("claude", r"claude[\d.]*"),
    ("gemma", r"(?:code|pali|shield)?gemma[\d.]*"),
    ("gemini", r"gemini\d*|bard|palm\d*"),
    ("smollm", r"smollm\d*"),
    ("tinyllama", r"tinyllama"),
    ("llama", r"(?:meta|code)?llama[\d.]*b?|vicuna|alpaca"),
    ("mistral", r"(?:mistral|mixtral|ministral|codestral|devstral|magistral|pixtral)[\d.]*"),
    ("qwen", r"(?:code)?qwen[\d.]*|qwq|qvq"),
    ("deepseek", r"deepseek"),
    ("phi", r"phi\d[\d.]*"),
    ("olmo", r"olmo(?:e|\d*)"),
    ("granite", r"granite[\d.]*"),
    ("falcon", r"falcon\d*"),
    ("bloom", r"bloomz?"),
    ("command", r"aya|cohere"),
    ("dialogpt", r"dialogpt"),
    ("blenderbot", r"blenderbot\d*|blender"),
    ("t5", r"(?:flan|m)?t5"),
    ("bart", r"m?bart"),
    ("gpt-2", r"(?:distil)?gpt2"),
    ("gpt", r"(?:chat)?gpt(?:[3-9][\w.]*)?|davinci"),
)
_PHRASES: tuple[tuple[str, str], ...] = (
    ("gpt-2", r"\bgpt[-_ ]?2(?![.\d])"),
    ("gpt-j", r"\bgpt[-_ ]?(?:j|neox?)\b"),
    ("gpt", r"^(?:openai/)?o[134](?:-(?:mini|preview|pro)[-\w]*)?$"),
    ("phi", r"\bphi[-_ ]?\d"),
    ("command", r"\bcommand[-_ ]?(?:r|a|light|nightly)\b"),
    ("t5", r"\bflan[-_ ]?t5\b"),
)
_WORDS = re.compile(r"[a-z0-9.]+")


def family_of(name: str) -> str:
    """ "gpt" of ``gpt-4-turbo-2024-04-09``, "smollm" of ``HuggingFaceTB/SmolLM2-135M-Instruct``; ""
    where the name says none, or more than one (``gpt4-vs-claude``).

    >>> family_of("Mixtral-8x7B"), family_of("kv-memnn")
    ('mistral', '')
    """
    lowered = name.lower()
    found = {family for family, pattern in _PHRASES if re.search(pattern, lowered)}
    if not found:
        words = [word.strip(".") for word in _WORDS.findall(lowered)]
        found = {
            family for word in words for family, pattern in _FAMILIES if re.fullmatch(pattern, word)
        }
    return found.pop() if len(found) == 1 else ""
