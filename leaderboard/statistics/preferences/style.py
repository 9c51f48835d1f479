"""What style control holds constant: how long a response is, and how it is dressed."""

from __future__ import annotations

from dataclasses import dataclass

import regex

_MARKDOWN = regex.compile(
    r"^ {0,3}#{1,6} |^ {0,3}(?:```|~~~)|^\s*(?:[-*+]|\d{1,3}[.)]) |(\*\*|__)(?=\S).{1,500}?\1",
    regex.MULTILINE,
)
_EMOJI = regex.compile(r"\p{Emoji_Presentation}|\p{Emoji}\uFE0F")
FEATURES = ("length", "Markdown", "emoji")


@dataclass(frozen=True)
class Style:
    """``words``: whitespace tokens. ``markdown``: headings, list items, fences of code and bold
    passages. ``emoji``: characters that are one."""

    words: int
    markdown: int
    emoji: int

    def __add__(self, other: Style) -> Style:
        return Style(
            self.words + other.words, self.markdown + other.markdown, self.emoji + other.emoji
        )


def style_of(text: str) -> Style:
    """Count words, Markdown and emoji.

    Args:
        text: a response.

    Returns:
        The counts.
    """
    return Style(
        len(text.split()),
        sum(1 for _ in _MARKDOWN.finditer(text)),
        sum(1 for _ in _EMOJI.finditer(text)),
    )
