"""Judge prompt templates that have a name instead of a file: those that organisers wrote on the
site. Pure; the site says where they are (``workers.judges.apps``).
"""

from __future__ import annotations

from collections.abc import Callable

PromptRegistry = Callable[[str], str | None]
"""Given ``slug@number``, the text of the prompt file, or None where there is no such prompt."""


def _no_prompts(_: str) -> str | None:
    return None


_registry: PromptRegistry = _no_prompts


def text_of(name: str) -> str | None:
    return _registry(name)


def use(registry: PromptRegistry) -> None:
    global _registry
    _registry = registry
