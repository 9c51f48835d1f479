"""Words that a template or a script would show in English whatever the reader's language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, Token, TokenType

WORD = re.compile(r"[A-Za-z]{2,}")
LABELS = {
    "aria-label",
    "aria-description",
    "aria-valuetext",
    "aria-roledescription",
    "title",
    "placeholder",
    "alt",
}
UNSEEN = {"script", "style", "code", "pre", "kbd"}
"""No text, or what stands in files and on keys."""
FILLED = "\ue000"
"""Stands where the template puts a value: no letter, so a text made of values has no word of its
own."""
NAMES = re.compile(r"dialeval|mt-metrics-eval|CSV|JSON|PNG|SVG|UTF-8|UTC")
"""The same in every language."""
CLASSES = {"width", "body_attributes"}
"""Blocks of ``base.html`` that hold classes and attributes."""
CLASS = re.compile(r"""class=("[^"]*"|'[^']*')""")
LITERAL = re.compile(r"""(?P<marked>_\()?(?P<quote>["'])(?P<text>(?:(?!(?P=quote)).)*)(?P=quote)""")
SHOWN_BY_FILTER = re.compile(
    r"""\|\s*(?:default|default_if_none|yesno|add)\s*:\s*(_\()?(["'])(.*?)\2"""
)


def is_word(text: str) -> bool:
    return bool(WORD.search(NAMES.sub("", text)))


class Texts(HTMLParser):
    """Text between tags, and attributes that are read out or shown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in UNSEEN
        given = {name: value or "" for name, value in attributes}
        shown = [
            value for name, value in given.items() if name in LABELS or _is_text_for_scripts(name)
        ]
        if tag == "input" and given.get("type") in ("submit", "button", "reset"):
            shown.append(given.get("value", ""))
        if tag == "meta" and given.get("name") == "description":
            shown.append(given.get("content", ""))
        self.found.extend(shown)

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in UNSEEN

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.found.append(data)


def _is_text_for_scripts(name: str) -> bool:
    return name.startswith("data-") and name.endswith(("-text", "-label", "-message"))


def words_of_html(html: str) -> list[str]:
    texts = Texts()
    texts.feed(html)
    texts.close()
    return [" ".join(text.split()) for text in texts.found if is_word(text)]


def untranslated(template: str) -> list[str]:
    """What the template says by itself, outside ``translate`` and ``blocktranslate``."""
    return words_of_html("".join(_html_of(template))) + list(
        _literals_shown(CLASS.sub("", template))
    )


def _html_of(template: str) -> Iterator[str]:
    closing = ""
    for token in Lexer(template).tokenize():
        if closing:
            closing = (
                ""
                if token.token_type is TokenType.BLOCK and token.contents.split()[0] == closing
                else closing
            )
        elif token.token_type is TokenType.TEXT:
            yield token.contents
        elif token.token_type is TokenType.VAR:
            yield FILLED
        elif token.token_type is TokenType.BLOCK:
            name = token.contents.split()[0]
            closing = _end_of_what_is_no_text(token)
            yield (
                FILLED
                if name in ("blocktranslate", "blocktrans", "translate", "trans", "url")
                else " "
            )


def _end_of_what_is_no_text(token: Token) -> str:
    name, *arguments = token.contents.split()
    if name in ("blocktranslate", "blocktrans", "comment"):
        return f"end{name}"
    return "endblock" if name == "block" and arguments[0] in CLASSES else ""


def _literals_shown(template: str) -> Iterator[str]:
    """Words handed to a part as they are, or shown where a value is missing."""
    for token in Lexer(template).tokenize():
        if token.token_type is TokenType.VAR:
            yield from _of_filters(token)
        elif token.token_type is TokenType.BLOCK and token.contents.split()[0] in (
            "include",
            "with",
        ):
            yield from _of_filters(token)
            arguments = token.contents.partition(" with ")[2] or token.contents
            values = (match["text"] for match in LITERAL.finditer(arguments) if not match["marked"])
            yield from (
                value for value in values if is_word(value) and (" " in value or value[0].isupper())
            )


def _of_filters(token: Token) -> Iterator[str]:
    for marked, _, text in SHOWN_BY_FILTER.findall(token.contents):
        if not marked and is_word(text) and not text.startswith("/"):
            yield text


# --- scripts --------------------------------------------------------------------------------------

SCRIPT_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"""
    r"""|(?P<pattern>(?<=[(,=:\[!&|?{};\n])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)""",
    re.DOTALL,
)
SENTENCE = re.compile(r"[A-Za-z]{2,}[,.:;]? +[A-Za-z]{2,}|[A-Za-z]{2,}[.?!…]$")
NO_SENTENCE = re.compile(
    r"use strict|[\[\]#=<>{}()]|^\.|[\s,]\.[a-z]|^[a-z]+(?: [a-z-]+)*-[a-z-]+(?: [a-z-]+)*$"
)
"""Selectors, media queries and lists of classes hold spaces, too."""


def sentences_of_script(script: str) -> list[str]:
    """String literals that read as English. Filled-in places of template strings are no words."""
    found = []
    for match in SCRIPT_TOKENS.finditer(script):
        if script[: match.start()].rstrip().endswith(("className =", "className +=", "className:")):
            continue
        text = re.sub(r"\$\{[^}]*\}", "", (match["text"] or "  ")[1:-1])
        if SENTENCE.search(text) and not NO_SENTENCE.search(text):
            found.append(text)
    return found
