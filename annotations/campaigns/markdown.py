"""Guidelines as HTML. What an organiser writes is text for raters, never code for their
browsers."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

HEADINGS_BELOW = 1
"""The page has its own h1, so a text's first heading is an h2."""
ALLOWED_SCHEMES = ("http", "https", "mailto")


def to_html(text: str) -> SafeString:
    """Headings, lists, emphasis, quotes, tables, code and links. HTML is shown as text; images are
    not loaded."""
    # Html is off.
    return mark_safe(_PARSER.render(text.replace("\0", "\N{REPLACEMENT CHARACTER}")))  # noqa: S308


def _is_allowed(address: str) -> bool:
    """Only addresses with a named, harmless scheme: a relative one would lead into this site."""
    try:
        return urlsplit(address).scheme.lower() in ALLOWED_SCHEMES
    except ValueError:
        return False


def _tame(state: StateCore) -> None:
    """Headings one level down; links that open beside the page and vouch for nothing; table cells
    without the style attribute that the site's security policy refuses."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + HEADINGS_BELOW, 6)}"
        elif token.type in ("th_open", "td_open"):
            token.attrs.pop("style", None)
        for part in token.children or ():
            if part.type == "link_open":
                part.attrs.update({"rel": "nofollow noopener noreferrer", "target": "_blank"})


_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_PARSER.validateLink = _is_allowed  # type: ignore[method-assign]
_PARSER.core.ruler.push("tame", _tame)
