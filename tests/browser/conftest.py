"""One Chromium, one site, one worker for all browser tests.

The fixtures live as long as this folder's tests, not as long as the session: Playwright keeps an event loop running in
the thread, in which Django refuses to touch a database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import find_chromium, must_not_skip, options
from tests.browser.stage import Stage, set_up
from tests.browser.visit import Visit
from tests.conftest import made_site

WIDE, NARROW = 1440, 390
PASSWORDS = {"organiser": "demo-organiser", "rater": "demo-rater", "participant": "demo-participant"}


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        reason = "BROWSER TESTS SKIPPED: there is no chromium, chromium-browser or google-chrome on the path"
        if must_not_skip():
            pytest.fail(f"{reason}. CI may not skip them.")
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options())
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def stage(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with made_site(tmp_path_factory.mktemp("browser-site")) as site:
        yield set_up(site)


@pytest.fixture
def visit(chromium: Browser, stage: Stage) -> Iterator[Callable[..., Visit]]:
    """A new visitor: ``visit(width=390, scheme="dark", role="organiser", script=False)``. At the end of the test no
    page that a visitor saw may have complained."""
    visits: list[Visit] = []

    def begin(width: int = WIDE, scheme: str = "light", role: str = "", script: bool = True) -> Visit:
        context = chromium.new_context(
            base_url=stage.address,
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
            java_script_enabled=script,
            has_touch=width < 600,
        )
        context.set_default_timeout(20_000)
        one = Visit(context.new_page(), stage.address, script)
        visits.append(one)
        if role:
            one.log_in(role, PASSWORDS[role])
        return one

    yield begin
    complaints = [complaint for one in visits for complaint in one.complaints]
    for one in visits:
        one.page.context.close()
    assert complaints == []


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Page:
    return visit().page


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
