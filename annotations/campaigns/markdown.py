"""Guidelines as HTML. What an organiser writes is text for raters, never code for their
browsers."""

from __future__ import annotations

from django.utils.safestring import SafeString
from markdown_it.token import Token

from common.markdown import SafeMarkdown

HEADINGS_BELOW = 1
"""The page has its own h1, so a text's first heading is an h2."""


def to_html(text: str) -> SafeString:
    """Headings, lists, emphasis, quotes, tables, code and links. HTML is shown as text; images are
    not loaded."""
    return _GUIDELINES.to_html(text)


def _one_level_down(heading: Token) -> None:
    heading.tag = f"h{min(int(heading.tag[1:]) + HEADINGS_BELOW, 6)}"


_GUIDELINES = SafeMarkdown(_one_level_down)
