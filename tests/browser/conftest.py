"""One Chromium, one site, one worker for all browser tests.

The fixtures live as long as this folder's tests, not as long as the session: Playwright keeps an
event loop running in the thread, in which Django refuses to touch a database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import find_chromium, options
from tests.browser.stage import Stage, set_up
from tests.browser.visit import Visit, visitors
from tests.ci import is_ci

expect.set_options(timeout=60_000)
"""As long as clicks wait: five seconds, Playwright's own, are short where a machine builds other
things beside."""


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        reason = (
            "BROWSER TESTS SKIPPED: there is no chromium, chromium-browser or google-chrome on "
            "the path"
        )
        if is_ci():
            pytest.fail(f"{reason}. CI may not skip them.")
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options())
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def stage(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    own = tmp_path_factory.getbasetemp()
    of_all_processes = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with set_up(
        of_all_processes / "stage", tmp_path_factory.mktemp("browser-site") / "home"
    ) as stage:
        yield stage


@pytest.fixture
def visit(chromium: Browser, stage: Stage) -> Iterator[Callable[..., Visit]]:
    """See ``visitors``."""
    with visitors(chromium, stage.address, stage.sessions) as begin:
        yield begin


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Page:
    return visit().page


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
