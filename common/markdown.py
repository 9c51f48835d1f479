"""Markdown as HTML that can do no harm: no HTML of its own, no images, links to named harmless
schemes only."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

ALLOWED_SCHEMES = ("http", "https", "mailto")


class SafeMarkdown:
    """Lists, emphasis, quotes, tables, code, links, and headings as ``heading`` makes them. HTML is
    shown as text; images are not loaded."""

    def __init__(self, heading: Callable[[Token], None]) -> None:
        self._heading = heading
        self._parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
        self._parser.validateLink = _is_allowed  # type: ignore[method-assign]
        self._parser.core.ruler.push("tame", self._tame)

    def to_html(self, text: str) -> SafeString:
        # Html is off.
        return mark_safe(  # noqa: S308
            self._parser.render(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))
        )

    def _tame(self, state: StateCore) -> None:
        """Links open beside the page and vouch for nothing; table cells are without the style
        attribute that the site's security policy refuses."""
        for token in state.tokens:
            if token.type in ("heading_open", "heading_close"):
                self._heading(token)
            elif token.type in ("th_open", "td_open"):
                token.attrs.pop("style", None)
            for part in token.children or ():
                if part.type == "link_open":
                    part.attrs.update({"rel": "nofollow noopener noreferrer", "target": "_blank"})


def _is_allowed(address: str) -> bool:
    """Only addresses with a named, harmless scheme: a relative one would lead into this site."""
    try:
        return urlsplit(address).scheme.lower() in ALLOWED_SCHEMES
    except ValueError:
        return False
