"""Markdown as HTML that can do no harm: no HTML of its own, no images, links to named harmless
schemes only."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any, Literal
from urllib.parse import urlsplit

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from common.mathml import mathml

ALLOWED_SCHEMES = ("http", "https", "mailto")
LONGEST_FORMULA = 2_000
"""Characters."""
MOST_LINES = 50
"""Of a formula on lines of its own."""
_FORMULA = re.compile(
    r"""\$\$(?P<dollars>(?:[^$\\]|\\.)+)\$\$
    | \\\[(?P<brackets>(?:(?!\\\[).)+?)\\\]
    | \\\((?P<parentheses>(?:(?!\\\().)+?)\\\)
    # As in Pandoc: no blank inside the signs, no digit behind, so that $5 and $10 are prices
    | \$(?P<dollar>(?!\s)(?:[^$\\`]|\\.)+(?<!\s))\$(?!\d)""",
    re.DOTALL | re.VERBOSE,
)


class SafeMarkdown:
    r"""Lists, emphasis, quotes, tables, code, links, and headings as ``heading`` makes them; with
    ``mathematics`` also LaTeX between ``$``, ``$$``, ``\(`` and ``\)``, ``\[`` and ``\]``. HTML is
    shown as text; images are not loaded."""

    def __init__(self, heading: Callable[[Token], None], *, mathematics: bool = False) -> None:
        self._heading = heading
        self._parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
        self._parser.validateLink = _is_allowed  # type: ignore[method-assign]
        self._parser.core.ruler.push("tame", self._tame)
        if mathematics:
            self._parser.inline.ruler.before("escape", "formula", _formula)
            options = {"alt": ["paragraph", "blockquote", "list"]}
            self._parser.block.ruler.before("fence", "formula", _formula_lines, options)
            self._parser.add_render_rule("formula", _rendered_formula)

    def to_html(self, text: str) -> SafeString:
        # HTML is off, and formulas are known elements, see mathml.
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


def _formula(state: StateInline, silent: bool) -> bool:
    """A formula at this place of a line."""
    if state.src[state.pos] not in "$\\":
        return False
    found = _FORMULA.match(state.src, state.pos, min(state.posMax, state.pos + LONGEST_FORMULA))
    if found is None:
        return False
    if not silent:
        _add_formula(state, found)
    state.pos = found.end()
    return True


def _formula_lines(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula that begins a line and ends one: nothing within it is a list or a heading."""
    begin = state.bMarks[start] + state.tShift[start]
    if state.level or state.is_code_block(start) or not state.src.startswith(("$$", "\\["), begin):
        return False
    last = min(end, start + MOST_LINES)
    found = _FORMULA.match(state.src, begin, min(state.eMarks[last - 1], begin + LONGEST_FORMULA))
    if found is None:
        return False
    line = next((n for n in range(start, last) if state.eMarks[n] >= found.end()), None)
    if line is None or state.src[found.end() : state.eMarks[line]].strip():
        return False
    if not silent:
        state.line = line + 1
        _add_formula(state, found).block = True
    return True


def _add_formula(state: StateInline | StateBlock, found: re.Match[str]) -> Token:
    token = state.push("formula", "", 0)
    token.content, token.markup = found[found.lastgroup or 0], found[0]
    token.meta = {"is_inline": found.lastgroup in ("dollar", "parentheses")}
    return token


def _rendered_formula(
    _renderer: Any, tokens: list[Token], place: int, _options: Any, _env: Any
) -> str:
    """As it was written where no MathML can be made of it."""
    token = tokens[place]
    display: Literal["block", "inline"] = "inline" if token.meta["is_inline"] else "block"
    drawn = mathml(token.content.strip(), display) or escape(token.markup)
    return f"<p>{drawn}</p>\n" if token.block else drawn
