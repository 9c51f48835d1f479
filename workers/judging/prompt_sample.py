"""A made-up dialogue, to show a prompt filled in. Pure."""

from __future__ import annotations

from annotations.formats.records import Utterance
from workers.judging.prompt_file import JudgePromptFile
from workers.judging.render import render, render_dialogue
from workers.language_models.client import Message
from workers.metrics.base import Example

_PERSONA = ("I repair clocks.", "I have a dog called Biscuit.")
_PARTNER = ("I teach chemistry.", "I have just moved here.")
_SAMPLE = (
    Utterance("A", "Is that a clock you are carrying through the rain?"),
    Utterance("B", "It is. Somebody left it at my door this morning."),
    Utterance("A", "Can you make it go again?"),
)
FIRST = Example(
    "example",
    0,
    _PERSONA,
    _PARTNER,
    _SAMPLE[:1],
    ("Yes, an old one. I repair them.",),
    "Yes, and I hope it stays dry until I am home.",
)
SECOND = Example(
    "example",
    1,
    _PERSONA,
    _PARTNER,
    _SAMPLE,
    ("I think so, it only wants a new spring.",),
    "Sure, clocks are my trade.",
)


def sample_messages(prompt: JudgePromptFile) -> tuple[Message, ...]:
    """What the prompt asks about the made-up dialogue."""
    if prompt.step == "dialogue":
        return render_dialogue(prompt, (FIRST, SECOND), (4.0, 3.5))
    return render(prompt, SECOND)
