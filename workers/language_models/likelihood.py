"""How likely a causal language model finds a continuation of a text. Torch and transformers, in this process.

Continuations of the same prefix share its computation: what 99 systems answer to one context costs one context.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workers.model_files import PACKAGED_LANGUAGE_MODEL, ModelFiles


@dataclass(frozen=True, slots=True)
class Continuation:
    prefix: str
    text: str


@dataclass(frozen=True, slots=True)
class Likelihood:
    log_probability: float
    """Natural logarithm of p(text | prefix), summed over tokens."""
    tokens: int
    cut: bool
    """Whether the prefix's beginning was cut because the model takes no more tokens."""

    @property
    def per_token(self) -> float:
        return self.log_probability / self.tokens


class CausalModel:
    """Loads a model on a device. Raises ``ModelError``. float32 on a CPU without AMX, else bfloat16."""

    files: ModelFiles
    device_label: str
    dtype_name: str
    max_tokens: int

    def __init__(self, files: ModelFiles, device: str = "auto") -> None:
        raise NotImplementedError

    def as_chat(self, messages: Sequence[tuple[str, str]]) -> str | None:
        """(role, text) messages in the model's chat template with the beginning of an answer; None without one."""
        raise NotImplementedError

    def likelihoods(
        self, continuations: Sequence[Continuation], progress: Callable[[int], None] | None = None
    ) -> list[Likelihood]:
        """One each, in order; equal ones are computed once. Raises ``ValueError`` for an empty text."""
        raise NotImplementedError


def causal_model_for(name: str = PACKAGED_LANGUAGE_MODEL) -> CausalModel:
    """The model of this process; loaded at the first call. Raises ``ModelError``."""
    raise NotImplementedError
