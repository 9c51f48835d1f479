"""A prompt and a place in a dialogue become messages for a judge; a made-up dialogue shows a prompt
filled in, and what is odd about one that can be used is said. Pure.

Plain replacement: nothing in the texts is run. Every text of a dialogue goes in as one line: its
line breaks and other control characters become blanks. So nothing that a system says can begin a
line of its own, as a section's heading or a line of the answer's form would.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotations.formats.records import Utterance, letter_of
from workers.inference.language_models.client import Message
from workers.judges.core.placeholders import MARKS, filled
from workers.judges.core.prompt_file import JudgePromptFile
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


OF_THE_SYSTEM = ("response", "responses", "turn_scores")
"""Placeholders whose text is another for every system."""
LONG_TAIL = 400
"""Characters after the first of them: what stands there is read anew for every system."""


def remarks(prompt: JudgePromptFile) -> list[str]:
    """One line each."""
    return [
        *_unnamed_labels(prompt),
        *_long_tail(prompt),
        *_response_at_line_start(prompt),
        *_two_digits(prompt),
    ]


def _unnamed_labels(prompt: JudgePromptFile) -> list[str]:
    text = f"{prompt.system}\n{prompt.user}".casefold()
    return [
        f'the text never names the label "{label}": will a judge write it?'
        for label in prompt.labels
        if label.casefold() not in text
    ]


def _long_tail(prompt: JudgePromptFile) -> list[str]:
    place = next((mark for mark in MARKS.finditer(prompt.user) if mark[1] in OF_THE_SYSTEM), None)
    if place is None or len(prompt.user) - place.end() < LONG_TAIL:
        return []
    return [
        (
            f"{len(prompt.user) - place.end():,} of {len(prompt.user):,} characters come after "
            f"{place[0]}: an endpoint with a prompt cache reads what comes before it once for "
            "all systems of a turn, and the rest for each"
        )
    ]


def _response_at_line_start(prompt: JudgePromptFile) -> list[str]:
    if prompt.step != "turn" or not any(
        line.startswith("{response}") for line in prompt.user.split("\n")
    ):
        return []
    return [
        '{response} begins a line, so a response can pass for a heading; "B: {response}" cannot'
    ]


def _two_digits(prompt: JudgePromptFile) -> list[str]:
    high = prompt.scale[1]
    return (
        []
        if high <= 9
        else [f"a scale up to {high} has no expected score; use it with scoring=answer"]
    )


NO_HISTORY = "(nothing was said before)"
NO_FACT = "(nothing is known)"
NO_REFERENCE = "(there is none)"
NO_RESPONSE = "(no words)"
NO_SCORE = "(none)"
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]+")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def render(prompt: JudgePromptFile, example: Example) -> tuple[Message, ...]:
    """What a judge of one response is asked.

    ``{history}``: an utterance a line, ``A: …`` or ``B: …``. ``{fact}``: the persona of the speaker
    who is judged, a sentence a line. ``{reference}``: the references, a line each. ``{response}``:
    the response.
    """
    return _messages(
        prompt,
        {
            "history": history_utterances(example.context),
            "fact": _lines(example.persona) or NO_FACT,
            "reference": _lines(example.references) or NO_REFERENCE,
            "response": one_line(example.response) or NO_RESPONSE,
        },
    )


def render_dialogue(
    prompt: JudgePromptFile, examples: Sequence[Example], turn_scores: Sequence[float | None]
) -> tuple[Message, ...]:
    """What a judge of one system's responses in one dialogue is asked, given the scores of its
    turns, in their order.

    ``{turn_scores}``: ``Turn 1 Score - 4.33`` and so on, with at most two decimals.
    ``{responses}``: ``Turn 1: …``. ``{history}``: what was said before the last turn. ``{fact}``:
    the persona of the speaker who is judged. Raises ``ValueError`` for no turns, and for another
    number of scores than of turns.
    """
    if not examples:
        raise ValueError("a dialogue without turns cannot be judged")
    scores = zip(examples, turn_scores, strict=True)
    return _messages(
        prompt,
        {
            "turn_scores": "\n".join(
                f"Turn {turn} Score - {_written(score)}"
                for turn, (_, score) in enumerate(scores, start=1)
            ),
            "responses": "\n".join(
                f"Turn {turn}: {one_line(one.response) or NO_RESPONSE}"
                for turn, one in enumerate(examples, start=1)
            ),
            "history": history_utterances(examples[-1].context),
            "fact": _lines(examples[-1].persona) or NO_FACT,
        },
    )


def begun(prompt: JudgePromptFile, label: str) -> str:
    """The answer begun for the judge, up to where the label's number stands: ``- Humanness: ``."""
    return f"{prompt.begin}{label}{prompt.separator}"


def history_utterances(context: Sequence[Utterance]) -> str:
    """One utterance a line with its speaker."""
    return (
        "\n".join([f"{letter_of(one.speaker)}: {one_line(one.text)}" for one in context])
        or NO_HISTORY
    )


def one_line(text: str) -> str:
    """The text in one line, without blanks at its ends. Half of a surrogate pair, which no endpoint
    takes, becomes the replacement character."""
    if not text.isprintable():
        text = _HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", _CONTROL.sub(" ", text))
    return text.strip()


def _lines(texts: Sequence[str]) -> str:
    return "\n".join([line for text in texts if (line := one_line(text))])


def _written(score: float | None) -> str:
    return NO_SCORE if score is None else f"{score:.2f}".rstrip("0").rstrip(".")


def _messages(prompt: JudgePromptFile, values: dict[str, str]) -> tuple[Message, ...]:
    user = Message("user", filled(prompt.user, values))
    return (Message("system", filled(prompt.system, values)), user) if prompt.system else (user,)
