"""``{% load site_help %}``: help within reach of what it explains."""

from __future__ import annotations

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dialeval_site.help.documents import document, names

register = template.Library()


@register.simple_tag
def term(anchor: str, words: str) -> SafeString:
    """A word of the glossary, explained on focus and tap: ``{% term "severity" "Severity" %}``. A
    page names each term once. Where the documents did not come with the site, the word alone."""
    if "glossary" not in names():
        return format_html("{}", words)
    text = {one.anchor: one.text for one in document("glossary").sections}[anchor]
    return format_html(
        '{0} <button type="button" class="why" popovertarget="term-{1}" aria-label="{2}">?</button>'
        '<span popover class="tip" id="term-{1}">{3} <a href="{4}#{1}">{5}</a></span>',
        words,
        anchor,
        f"What is {words}?",
        text,
        reverse("help-page", args=["glossary"]),
        "Glossary",
    )
