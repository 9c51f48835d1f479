"""A visitor's window: goes to pages, logs in, and notes whatever the browser complains about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

from playwright.sync_api import Browser, CDPSession, ConsoleMessage, Error, Page, Response, Route

from tests.site import wait_until

WIDE, NARROW, HEIGHT = 1440, 390, 900
PHONE = 600
"""Windows below this width are touched."""
LOG_IN = "/accounts/login/"
COMPUTED_WITHIN = 240_000
"""A worker may have just been started, or have other things to do."""
PASSWORDS = {
    "organiser": "demo-organiser",
    "rater": "demo-rater",
    "participant": "demo-participant",
}


UNFOLD = """() => {
  for (const fold of document.querySelectorAll("details:has([data-chart])")) fold.open = true;
}"""


class Visit:
    def __init__(self, page: Page, address: str, script: bool = True) -> None:
        self.script = script
        self.page = page
        self.address = address
        self.complaints: list[str] = []
        self.expected_status: set[int] = set()
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))

    def _note(self, message: ConsoleMessage) -> None:
        """Violations of the content security policy come this way too, as errors."""
        if message.type not in ("error", "warning"):
            return
        if any(f"status of {status}" in message.text for status in self.expected_status):
            return
        if "htmx:afterRequest" in message.text or "htmx:sendAbort" in message.text:
            # a newer question took its place (hx-sync); of one that fails htmx says sendError or
            # timeout, too
            return
        self.complaints.append(f"{self.page.url}: {message.type}: {message.text}")

    def go(self, path: str, status: int = 200) -> Page:
        self.expected_status = {status} - {200}
        response = self.page.goto(path, wait_until="load")
        assert isinstance(response, Response)
        assert response.status == status, f"{path} answered {response.status}"
        self.see_numbers()
        if self.script:
            for fragment in self.page.locator("[hx-trigger=load], [hx-trigger=revealed]").all():
                fragment.scroll_into_view_if_needed()
                fragment.locator("[data-chart], .empty").first.wait_for(
                    state="attached", timeout=COMPUTED_WITHIN
                )
            self.see_numbers()  # of the parts that came
        return self.page

    def resize(self, width: int) -> None:
        """The page that is there, in a window of another width; a narrow one is a phone's, which
        has no mouse."""
        self.page.set_viewport_size({"width": width, "height": HEIGHT})
        touched = width < PHONE
        self._browser.send("Emulation.setTouchEmulationEnabled", {"enabled": touched})
        coarse = "matchMedia('(pointer: coarse)').matches && innerWidth"
        wait_until(
            lambda: self.page.evaluate(coarse) == (touched and width), 20, f"a window of {width} px"
        )

    @cached_property
    def _browser(self) -> CDPSession:
        return self.page.context.new_cdp_session(self.page)

    def see_numbers(self) -> None:
        """Statistics that nobody has looked at yet are computed by the worker; the page comes by
        itself, and once more when a part of it has come."""
        waiting = ".waiting.of-page, .analysis-state[hx-get]" if self.script else ".waiting.of-page"
        settled = (
            "waiting => document.readyState === 'complete' && !document.querySelector(waiting)"
        )
        for _ in range(COMPUTED_WITHIN // 500):
            # Of a page that is half there nobody knows what it waits for
            self.page.wait_for_load_state("load")
            with suppress(Error):  # the page that was asked has just given way to the next
                if self.page.evaluate(settled, waiting):
                    break
            self.page.wait_for_timeout(500)
            if not self.script:
                self.page.reload(wait_until="load")

    def log_in(self, name: str, password: str) -> None:
        """What the form sends, without the form: it is filled in by the tests of logging in
        (``test_roles.py``, ``test_behind_links_made_once.py``, the walk)."""
        context = self.page.context
        context.request.get(LOG_IN)
        token = next(
            cookie["value"] for cookie in context.cookies() if cookie["name"] == "csrftoken"
        )
        given = {"username": name, "password": password, "csrfmiddlewaretoken": token}
        answer = context.request.post(LOG_IN, form=given, max_redirects=0)
        assert answer.status == 302, f"{name} is not let in: {answer.status}"

    def log_in_again(self, name: str, password: str) -> None:
        """In another tab, after the session ended; the page that is open knows nothing of it."""
        self.page.context.clear_cookies(name="sessionid")
        self.log_in(name, password)

    def see_everything(self) -> None:
        """Unfold what holds charts and scroll to the end once, so that every chart has come into
        view and is drawn."""
        self.page.wait_for_load_state("load")
        self.page.evaluate(UNFOLD)
        for chart in self.page.locator("[data-chart]:has([data-chart-canvas])").all():
            chart.scroll_into_view_if_needed()
            chart.locator(".main-svg").first.wait_for(state="attached")
            # The frame is there before the points.
            chart.and_(self.page.locator("[data-drawn]")).wait_for(state="attached")
        self.page.evaluate("scrollTo(0, 0)")

    def scroll_width(self) -> int:
        self.page.wait_for_load_state("load")
        return int(self.page.evaluate("document.documentElement.scrollWidth"))


class Held:
    """Requests that are kept from going on, until the test lets them:
    ``held.request(0).continue_()``."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.page = page
        self.routes: list[Route] = []
        page.route(pattern, lambda route: self.routes.append(route))

    def request(self, number: int) -> Route:
        """The browser tells of it when it likes, and only while something waits for the browser."""
        for _ in range(1200):
            if len(self.routes) > number:
                break
            self.page.wait_for_timeout(100)
        return self.routes[number]


def organise(page: Page, link: str) -> None:
    """Follow a link of the organiser's desk."""
    page.get_by_role("link", name="Desk", exact=True).click()
    page.get_by_role("navigation", name="Organise").get_by_role("link", name=link).click()
    page.wait_for_load_state("load")


@contextmanager
def visitors(
    chromium: Browser, address: str, sessions: dict[str, Any] | None = None
) -> Iterator[Callable[..., Visit]]:
    """Yields what brings a new visitor: ``visit(width=390, scheme="dark", role="organiser",
    script=False)``. At the end no page that a visitor saw may have complained.

    The first of a role logs in, and its cookies are kept in ``sessions`` for the next: one's own
    log-in has who logs out.
    """
    visits: list[Visit] = []
    kept = {} if sessions is None else sessions

    def begin(
        width: int = WIDE, scheme: str = "light", role: str = "", script: bool = True
    ) -> Visit:
        context = chromium.new_context(
            base_url=address,
            viewport={"width": width, "height": HEIGHT},
            color_scheme=scheme,  # type: ignore[arg-type]
            java_script_enabled=script,
            has_touch=width < PHONE,
        )
        context.set_default_timeout(60_000)
        one = Visit(context.new_page(), address, script)
        visits.append(one)
        if role in kept:
            context.add_cookies(kept[role])
        elif role:
            one.log_in(role, PASSWORDS[role])
            kept[role] = context.cookies()
        return one

    yield begin
    complaints = [complaint for one in visits for complaint in one.complaints]
    for one in visits:
        one.page.context.close()
    assert complaints == [], "\n".join(complaints)
