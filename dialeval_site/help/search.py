"""Full-text search over the headings and paragraphs of the documents. 350 kB: read whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dialeval_site.help.documents import Section, grouped

LONGEST_QUERY = 200
MOST_RESULTS = 30
HEADING_WEIGHT, TITLE_WEIGHT, MOST_TIMES = 10, 3, 5
BEFORE, AFTER = 80, 160
"""Letters of the excerpt around the first word that was found."""


@dataclass(frozen=True, slots=True)
class Result:
    section: Section
    excerpt: SafeString

    @property
    def address(self) -> str:
        page = reverse("help-page", args=[self.section.document])
        return f"{page}#{self.section.anchor}" if self.section.anchor else page


def find_sections(query: str) -> list[Result]:
    """Sections that hold every word of the query, or words that begin with it; first those with it
    in the heading, of equal ones the guides'.

    Args:
        query: what a reader typed; longer than ``LONGEST_QUERY`` it is cut.

    Returns:
        At most ``MOST_RESULTS``; none for a query without a letter or digit.
    """
    words = re.findall(r"\w+", query[:LONGEST_QUERY].casefold())
    if not words:
        return []
    patterns = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in words]
    ranked = []
    for _title, documents in grouped():
        for section in (one for document in documents for one in document.sections):
            weights = [_weight(section, pattern) for pattern in patterns]
            if all(weights):
                is_named = section.heading.casefold().split() == words
                ranked.append((sum(weights) + HEADING_WEIGHT * is_named, section))
    ranked.sort(key=lambda one: -one[0])
    return [
        Result(section, _excerpt(section.text, patterns)) for _, section in ranked[:MOST_RESULTS]
    ]


def _weight(section: Section, pattern: re.Pattern[str]) -> int:
    return (
        HEADING_WEIGHT * bool(pattern.search(section.heading))
        + TITLE_WEIGHT * bool(pattern.search(section.title))
        + min(len(pattern.findall(section.text)), MOST_TIMES)
    )


def _excerpt(text: str, patterns: Sequence[re.Pattern[str]]) -> SafeString:
    found = [match.start() for pattern in patterns if (match := pattern.search(text))]
    start = max(0, min(found, default=0) - BEFORE)
    end = min(len(text), start + BEFORE + AFTER)
    shown = text[start:end]
    either = re.compile(
        "|".join(f"(?:{pattern.pattern}\\w*)" for pattern in patterns), re.IGNORECASE
    )
    parts, at = [], 0
    for match in either.finditer(shown):
        parts.append((shown[at : match.start()], match.group()))
        at = match.end()
    return format_html(
        "{}{}{}{}",
        "… " if start else "",
        format_html_join("", "{}<mark>{}</mark>", parts),
        shown[at:],
        " …" if end < len(text) else "",
    )
