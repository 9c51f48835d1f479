"""What a chat system is told, and what of its answer is an utterance. Pure: no network, no
database."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Literal

from workers.inference.language_models.client import Message

PERSONA_PLACEHOLDER = "{persona}"
DEFAULT_INSTRUCTIONS = (
    "You are talking with someone you have just met. This is you: {persona} Answer the other's "
    "last message in one or two short, natural sentences and, where it fits, ask something back. "
    "Stay who you are, and write only what you say."
)
"""What the form for a new system starts from."""
_NAME = r"(?:(?:speaker|person|persona)\s+)?(?:A|B|you|user|assistant|human|system|me)"
_OWN_NAME = re.compile(rf"^\s*(?:\*\*)?{_NAME}(?:\*\*)?\s*:(?:\*\*)?\s*", re.IGNORECASE)
_NEW_SPEAKER = re.compile(rf"^[ \t]*(?:\*\*)?{_NAME}(?:\*\*)?[ \t]*:", re.IGNORECASE | re.MULTILINE)
_HALF_PAIR = re.compile("[\ud800-\udfff]")

Utterance = tuple[Literal["A", "B"], str]


class EmptyAnswer(ValueError):
    """The model wrote something, but no utterance."""


def chat_messages(
    instructions: str, persona: Sequence[str], utterances: Sequence[Utterance]
) -> list[Message]:
    """The instructions with the persona in its place, then the conversation with the system as
    speaker B.

    The persona goes in as it is: braces in it, or in the instructions, mean nothing.
    """
    system_prompt = instructions.replace(
        PERSONA_PLACEHOLDER, " ".join(sentence.strip() for sentence in persona)
    ).strip()
    opening = [Message("system", system_prompt)] if system_prompt else []
    return opening + [
        Message("user" if speaker == "A" else "assistant", text) for speaker, text in utterances
    ]


def utterance_of(written: str, longest: int) -> str:
    """What the model says in its own role: up to the line where it begins to speak for somebody.

    A name before its own words is left out, as is what a database cannot keep (NUL, half of a
    surrogate pair). A text longer than ``longest`` characters ends at the last whole word. Raises
    ``EmptyAnswer`` where nothing is left.
    """
    clean = _HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", written.replace("\0", "")).replace(
        "\r\n", "\n"
    )
    own = _OWN_NAME.sub("", clean.strip(), count=1)
    spoken = _NEW_SPEAKER.split(own, maxsplit=1)[0].strip()
    if not spoken:
        raise EmptyAnswer(f"the answer holds no utterance: {written[:200]!r}")
    return spoken if len(spoken) <= longest else _whole_text(spoken, longest)


def _whole_text(text: str, longest: int) -> str:
    cut = text[:longest]
    whole = cut if text[longest].isspace() else cut.rpartition(" ")[0]
    return whole.rstrip() or cut


def digest(messages: Sequence[Message]) -> str:
    """The start of the SHA-256 of a prompt: two answers with the same digest were asked for in the
    same words."""
    document = json.dumps([[message.role, message.text] for message in messages], ensure_ascii=True)
    return hashlib.sha256(document.encode()).hexdigest()[:12]


def seed_of(*parts: object) -> int:
    """A seed, 0 to 2³¹ − 1, for one attempt at one utterance: repeatable, and another for every
    other."""
    text = "\n".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) & 0x7FFFFFFF
