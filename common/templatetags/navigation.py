"""``{% load navigation %}``: where one is. The header's links and the breadcrumb mark the place
that the page is."""

from __future__ import annotations

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag(takes_context=True)
def place(context: template.Context, sections: str, url_name: str, words: str) -> SafeString:
    """A link of the header as ``<li>``. It is marked where the page is of one of these sections,
    which blanks separate: "page" where it leads to the page itself, else "true"."""
    address = reverse(url_name)
    current = ""
    if context.get("section") in sections.split():
        is_here = "request" in context and context["request"].path == address
        current = format_html(' aria-current="{}"', "page" if is_here else "true")
    return format_html('<li><a href="{}"{}>{}</a></li>', address, current, words)


@register.simple_block_tag
def steps_to_here(content: str) -> SafeString:
    """The ``<li>``s of a breadcrumb, of which the last is the page itself."""
    before, item, last = content.rpartition("<li>")
    if not item:
        return mark_safe(content)  # noqa: S308  the page's own template wrote it
    return mark_safe(f'{before}<li aria-current="page">{last}')  # noqa: S308
