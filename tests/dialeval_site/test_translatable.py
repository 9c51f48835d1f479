"""All that a page of campaigns or challenges says can be said in another language, and nothing
beside it in English."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dialeval_site.visible_words import (
    is_word,
    sentences_of_script,
    untranslated,
    words_of_html,
)
from tests.site import PROJECT

TEMPLATES, SCRIPTS = PROJECT / "templates", PROJECT / "dialeval_site" / "static" / "dialeval"
PAGES = sorted(
    {
        TEMPLATES / "base.html",
        *TEMPLATES.glob("components/*.html"),
        *TEMPLATES.glob("registration/*.html"),
        *TEMPLATES.glob("campaigns/**/*.html"),
        *TEMPLATES.glob("challenges/**/*.html"),
        *TEMPLATES.glob("api/*.html"),
        *TEMPLATES.glob("annotations/*audit*.html"),
        *TEMPLATES.glob("workers/chat*.html"),
        *TEMPLATES.glob("workers/_chat*.html"),
        *TEMPLATES.glob("leaderboard/*campaign*.html"),
        *TEMPLATES.glob("judges/*prompt*.html"),
        *TEMPLATES.glob("judges/*trial*.html"),
    }
)
SAME_EVERYWHERE = re.compile(r"\b(?:OpenAPI|API|USD|SHA-256)\b")
OF_PAGES = sorted(
    path for name in ("rating", "chat", "room", "campaign") for path in SCRIPTS.glob(f"{name}*.js")
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_a_template_says_nothing_that_cannot_be_translated(path: Path) -> None:
    said = untranslated(path.read_text(encoding="utf-8"))
    assert [text for text in said if is_word(SAME_EVERYWHERE.sub("", text))] == []


@pytest.mark.parametrize("path", OF_PAGES, ids=lambda path: path.name)
def test_a_script_takes_its_words_from_the_page(path: Path) -> None:
    assert sentences_of_script(path.read_text(encoding="utf-8")) == []


# --- the checks themselves can fail ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<p>Hello</p>", ["Hello"]),
        ("<p>{% translate 'Hello' %}</p>", []),
        ("<p>{% blocktranslate %}Hello <b>you</b>{% endblocktranslate %}</p>", []),
        ("<p>{{ name }} rated</p>", ["\ue000 rated"]),
        ("<p>{# Hello #}{% comment %}Hello{% endcomment %}{{ name }} · {{ k }}/{{ n }}</p>", []),
        ('<button aria-label="Close">×</button>', ["Close"]),
        ("<button aria-label=\"{% translate 'Close' %}\">×</button>", []),
        ('<div data-waiting-text="One waits"></div>', ["One waits"]),
        ('<input type="submit" value="Send">', ["Send"]),
        ('<input type="hidden" value="Send">', []),
        ("{{ name|default:'nobody yet' }}", ["nobody yet"]),
        ("{{ name|default:_('nobody yet') }}", []),
        ('{% include "x.html" with title="Nothing here" only %}', ["Nothing here"]),
        ('{% include "x.html" with kind="info" title=_("Nothing here") only %}', []),
        ("<p>{% if a %}<b>{% else %}<i class='some words'>{% endif %}</p>", []),
    ],
)
def test_what_counts_as_said_by_a_template(template: str, found: list[str]) -> None:
    assert untranslated(template) == found


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("say('1 rating waits to be sent');", ["1 rating waits to be sent"]),
        ("say(`${n} ratings wait`);", [" ratings wait"]),
        ("say('Saved.');", ["Saved."]),
        ("// one rating waits\nsay(root.dataset.waits); /* or two ratings */", []),
        (
            "'use strict'; node.querySelector('form.rating input[name=score]'); node.className = "
            "'key is-chosen';",
            [],
        ),
        ("if (event.key === 'Enter') go('/rate/');", []),
        ("text.replace(/don't say it/g, '');", []),
    ],
)
def test_what_counts_as_said_by_a_script(script: str, found: list[str]) -> None:
    assert sentences_of_script(script) == found


def test_a_text_with_an_entity_is_a_text() -> None:
    assert words_of_html("<p>&nbsp;&middot; 12</p><p>Rate&nbsp;it</p>") == ["Rate it"]
