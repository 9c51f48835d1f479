"""What calls to a language model used, and what one may use at most. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workers.inference.language_models.client import Completion, Message

TOKENS_A_MESSAGE = 8
"""What a chat template puts around a message."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls that were answered, and the tokens that the endpoint counted in them."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


def most_of(messages: Iterable[Message], max_tokens: int) -> Usage:
    """What one call may use: no tokenizer makes more tokens than there are bytes."""
    sizes = (len(one.text.encode("utf-8", "surrogatepass")) for one in messages)
    return Usage(1, sum(size + TOKENS_A_MESSAGE for size in sizes), max_tokens)


def counted(completion: Completion) -> Usage | None:
    """What the endpoint counted; None where it did not count both prompt and answer."""
    if not completion.input_tokens or completion.output_tokens is None:
        return None
    return Usage(1, completion.input_tokens, completion.output_tokens)
