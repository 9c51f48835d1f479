"""What pages of judges' prompts and trials say to a reader, and what a browser sends them."""

from __future__ import annotations

import html
import re
from typing import Any

from tests.judges.written import TEXT

HTMX = {"HX-Request": "true"}
OF_DIALOGUES = TEXT.replace("step: turn", "step: dialogue").replace(
    "{response}", "{responses} {turn_scores}"
)
MARKUP = '<script>alert(1)</script> & "quoted" {{ x }} {% now %}'


def words(answer: Any) -> str:
    """What a reader sees, tags taken out."""
    text = re.sub(
        r"<textarea.*?</textarea>|<head>.*?</head>", "", answer.content.decode(), flags=re.DOTALL
    )
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))


def area(answer: Any) -> str:
    return html.unescape(
        re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", answer.content.decode(), re.DOTALL)[1]
    )


def sent(**fields: str) -> dict[str, str]:
    return {"title": "Kind words", "slug": "", "text": TEXT, **fields}
