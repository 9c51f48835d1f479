"""What axe-core finds on a page: WCAG 2.0 to 2.2, levels A and AA, and its best practices; light
in a wide window, dark in a narrow one, and both in both with ``DIALEVAL_LONG=1``: what is where
depends on the width, and a colour on the theme."""

from __future__ import annotations

import os
from collections import Counter
from typing import Final, Literal
from zlib import crc32

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.visit import NARROW, WIDE
from tests.ci import IS_LONG

ALL_RULES: Final = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
    "preload": False,  # of style sheets, for rules that are in none of these groups
}
CHECKED: Final = (
    "options => axe.run(document, options).then(found => found.violations.map(one => "
    + ("`${one.id}: ${one.nodes.slice(0, 3).map(node => node.target.join(' ')).join(' | ')}`))")
)


def violations(page: Page) -> list[str]:
    """At the page's present width; it is light afterwards."""
    page.wait_for_load_state("load")
    assert page.viewport_size
    own: Literal["light", "dark"] = "light" if page.viewport_size["width"] == WIDE else "dark"
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark") if IS_LONG else (own,)
    found = []
    for scheme in schemes:
        # a colour on its way is none
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {fault}" for fault in violations_as_it_is(page)]
    page.emulate_media(color_scheme="light")
    return found


def violations_as_it_is(page: Page) -> list[str]:
    """Of a page that has come in the theme that it is looked at in."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(CHECKED, ALL_RULES)
    return found


_looks: Counter[str] = Counter()
"""At pages, by test."""


def assert_everybody_can_use(page: Page) -> None:
    """A page that only one test comes to: nothing reaches out, wide and narrow, and axe looks at it
    in one of the two, in turn from page to page of a test; with ``DIALEVAL_LONG=1`` in both."""
    test = os.environ["PYTEST_CURRENT_TEST"]
    own = (WIDE, NARROW)[(crc32(test.encode()) + _looks[test]) % 2]
    _looks[test] += 1
    before = page.viewport_size
    assert before
    for width in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": before["height"]})
        # A chart is drawn anew for another width, a moment after the window has it.
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
        if IS_LONG or width == own:
            found = violations(page)
            assert found == [], f"{page.url} at {width} px: {found}"
    page.set_viewport_size(before)
