"""Which family of models a name belongs to: gpt, claude, llama, … Pure.

A family is a maker's line of models that learned from much the same texts. A name that says none is
unknown: nothing is guessed, and a system called "north" is of no family that anybody here knows.
"""

from __future__ import annotations

import re

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
