"""Messages and responses as pages show them: Markdown and mathematics as harmless HTML, system
prompts, tool results and tool calls folded."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString
from markdown_it.token import Token

from annotations.formats.records import ASSISTANT, TARGET_SPEAKER, UNSPOKEN_ROLES
from common.markdown import SafeMarkdown

LONGEST_MARKDOWN = 20_000
"""Characters. Longer texts are shown as they are: parsing them would hold up the page."""
SHOWN_AT_ONCE = 50
"""Messages of a conversation; the others are folded."""
LONGEST_PART = 20_000
NO_HTML = SafeString("")
_MARKED = re.compile(r"[*_`#|\[>~\n$]|\\[(\[]|^\s*(?:[-+]|\d+[.)])\s", re.MULTILINE)
"""What a text must hold for Markdown to make anything of it."""


@dataclass(frozen=True, slots=True)
class ShownPart:
    """What is not text, such as a tool call."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text as it is, and as ``html`` where Markdown makes something of it ("" else)."""

    text: str
    html: SafeString = NO_HTML
    parts: tuple[ShownPart, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownMessage:
    speaker: str
    is_target: bool
    """Whether the system that is evaluated says it."""
    is_folded: bool
    """Of messages that no participant says."""
    content: ShownText


def shown_text(
    text: str, parts: Sequence[Mapping[str, Any]] = (), *, markdown: bool = True
) -> ShownText:
    """``markdown`` is False to show it as it is."""
    is_marked = markdown and len(text) <= LONGEST_MARKDOWN and _MARKED.search(text)
    return ShownText(
        text,
        _MESSAGES.to_html(text) if is_marked else NO_HTML,
        tuple(_shown_part(part) for part in parts),
    )


def shown_message(
    message: Mapping[str, Any], *, markdown: bool = True, blind: bool = False
) -> ShownMessage:
    """One of a dialogue's stored messages. ``blind``: without the name of a system."""
    role, name = message["role"], message.get("name", "")
    if blind and role == ASSISTANT and name != TARGET_SPEAKER:
        name = ""
    content = shown_text(message["text"], message.get("parts", ()), markdown=markdown)
    return ShownMessage(
        f"{name} ({role})" if name and name not in ("A", TARGET_SPEAKER) else name or role,
        is_target=role == ASSISTANT,
        is_folded=role in UNSPOKEN_ROLES,
        content=content,
    )


def shown_metadata(metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(key, value as text), in the order of keys."""
    return [(key, _as_text(value)) for key, value in sorted(metadata.items())]


def _shown_part(part: Mapping[str, Any]) -> ShownPart:
    named = part.get("name")
    title = f"{part['type']}: {named}" if isinstance(named, str) and named else part["type"]
    others = {key: value for key, value in part.items() if key not in ("type", "name")}
    return ShownPart(title, _as_text(others) if others else "")


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text if len(text) <= LONGEST_PART else f"{text[:LONGEST_PART]} …"


def _as_paragraph(heading: Token) -> None:
    """A message's headings are none of the page's outline."""
    heading.tag = "p"
    if heading.nesting == 1:
        heading.attrs["class"] = "markdown-heading"


_MESSAGES = SafeMarkdown(_as_paragraph, mathematics=True)
