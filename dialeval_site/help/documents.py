"""The documents in ``docs/`` as HTML: headings with anchors, links that lead to help pages, no
markup of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

FOLDER = Path(__file__).resolve().parents[2] / "docs"
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Guides", ("organiser", "rater", "participant", "metric_author", "operators")),
    ("Words", ("glossary",)),
    (
        "In depth",
        (
            "campaigns",
            "questions",
            "challenges",
            "judges",
            "training",
            "papers",
            "formats",
            "metrics",
            "demo",
        ),
    ),
)
"""What is listed first; then statistics, then what is left."""
EXTERNAL_SCHEMES = ("http", "https", "mailto")


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading. ``anchor`` is "" before the first."""

    document: str
    title: str
    anchor: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """``headings``: (anchor, text) of the second level."""

    name: str
    title: str
    html: SafeString
    headings: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]

    @property
    def anchors(self) -> frozenset[str]:
        return frozenset(section.anchor for section in self.sections)


@cache
def names() -> tuple[str, ...]:
    """Of all documents that came with the site."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.md")))


def grouped() -> list[tuple[str, list[Document]]]:
    """All documents under the name of their group."""
    listed = {name for _, members in GROUPS for name in members}
    statistics = tuple(name for name in names() if name.startswith("statistics"))
    others = tuple(name for name in names() if name not in listed and name not in statistics)
    groups = (*GROUPS, ("Statistics", statistics), ("For operators and developers", others))
    return [
        (title, found)
        for title, members in groups
        if (found := [document(name) for name in members if name in names()])
    ]


@cache
def title_of(name: str) -> str:
    """Its first heading, on its first line."""
    with (FOLDER / f"{name}.md").open(encoding="utf-8") as file:
        return file.readline().removeprefix("#").strip() or name


@cache
def document(name: str) -> Document:
    """One document, rendered once.

    Args:
        name: one of ``names()``.

    Raises:
        KeyError: there is no document of that name.
    """
    if name not in names():
        raise KeyError(name)
    tokens = _PARSER.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    html = _PARSER.renderer.render(_without_title(tokens), _PARSER.options, {})
    headings = tuple(
        (str(one.attrs["id"]), _plain(tokens[at + 1]))
        for at, one in enumerate(tokens)
        if one.type == "heading_open" and one.tag == "h2"
    )
    # No markup of a document passes ``_site_links``.
    return Document(
        name,
        title_of(name),
        mark_safe(html),  # noqa: S308
        headings,
        tuple(_sections(name, title_of(name), tokens)),
    )


def slug_of(heading: str) -> str:
    """As GitHub makes it, so that links between documents hold there and here."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _is_title(token: Token) -> bool:
    return token.type == "heading_open" and token.tag == "h1"


def _without_title(tokens: Sequence[Token]) -> list[Token]:
    at = next((at for at, one in enumerate(tokens) if _is_title(one)), None)
    return list(tokens) if at is None else [*tokens[:at], *tokens[at + 3 :]]


def _sections(name: str, title: str, tokens: Sequence[Token]) -> Iterator[Section]:
    anchor, heading, texts = "", title, list[str]()
    for at, one in enumerate(tokens):
        if one.type == "heading_open" and not _is_title(one):
            yield Section(name, title, anchor, heading, " ".join(texts))
            anchor, heading, texts = str(one.attrs["id"]), _plain(tokens[at + 1]), []
        elif one.type == "inline" and tokens[at - 1].type != "heading_open":
            texts.append(_plain(one))
        elif one.type in ("fence", "code_block"):
            texts.append(one.content)
    yield Section(name, title, anchor, heading, " ".join(texts))


def _plain(inline: Token) -> str:
    return "".join(
        " " if one.type in ("softbreak", "hardbreak") else one.content
        for one in inline.children or ()
    )


def _site_links(state: StateCore) -> None:
    """Anchors on headings; links to other documents lead to their help pages, links to other files
    are text; raw HTML (the documents have comments for their tests) and style attributes go."""
    state.tokens = [one for one in state.tokens if one.type != "html_block"]
    seen: dict[str, int] = {}
    for at, one in enumerate(state.tokens):
        if one.type == "heading_open":
            slug = slug_of(_plain(state.tokens[at + 1]))
            seen[slug] = seen.get(slug, -1) + 1
            one.attrs["id"] = slug if not seen[slug] else f"{slug}-{seen[slug]}"
        elif one.type in ("th_open", "td_open"):
            one.attrs.pop("style", None)
            if one.type == "th_open" and not state.tokens[at + 1].content:
                one.tag = state.tokens[at + 2].tag = "td"
        elif one.type == "inline":
            one.children = list(_tamed(one.children or ()))


def _tamed(parts: Sequence[Token]) -> Iterator[Token]:
    is_unlinked = False
    for part in parts:
        if part.type == "html_inline":
            continue
        if part.type == "image":
            yield Token("text", "", 0, content=part.content)
            continue
        if part.type == "link_open":
            address = _address(str(part.attrs.get("href", "")))
            is_unlinked = address is None
            if address is not None:
                part.attrs = {"href": address}
                if urlsplit(address).scheme:
                    part.attrs["rel"] = "noopener noreferrer"
        if is_unlinked and part.type in ("link_open", "link_close"):
            is_unlinked = part.type == "link_open"
            continue
        named = part.content.removesuffix(".md")
        if part.type == "text" and named != part.content and named in names():
            part.content = title_of(named)
        yield part


def _address(href: str) -> str | None:
    if href.startswith("#") or urlsplit(href).scheme in EXTERNAL_SCHEMES:
        return href
    path, _, anchor = href.partition("#")
    name = path.removesuffix(".md")
    if name == path or name not in names():
        return None
    return reverse("help-page", args=[name]) + (f"#{anchor}" if anchor else "")


def _table_open(_self: RendererHTML, *_arguments: object) -> str:
    return '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_close(_self: RendererHTML, *_arguments: object) -> str:
    return "</table></div>\n"


def _code(_self: RendererHTML, tokens: Sequence[Token], at: int, *_arguments: object) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[at].content)}</code></pre>\n'


_PARSER = MarkdownIt("commonmark").enable("table")
_PARSER.core.ruler.push("site_links", _site_links)
for _rule, _render in (
    ("table_open", _table_open),
    ("table_close", _table_close),
    ("fence", _code),
    ("code_block", _code),
):
    _PARSER.add_render_rule(_rule, _render)
