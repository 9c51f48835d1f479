"""Somebody at a browser who types one address, the site's own, and from there follows links and
presses buttons."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.visit import Visit

PASSWORD = "a lamp in the forest"
A_WORKER_S_TIME = 240_000
"""Milliseconds that people wait for what a worker does, on a machine that does much else."""


class Person:
    def __init__(self, visit: Visit, name: str) -> None:
        self.visit, self.name = visit, name
        self.page: Page = visit.page
        self.page.goto("/")

    def follow(self, link: str | re.Pattern[str], within: str = "body") -> None:
        """The first link of these words, in the page or in a part of it. On a phone the header's
        are behind a button."""
        menu = self.page.get_by_role("button", name="Menu", exact=True)
        if within == "header" and menu.is_visible():
            menu.click()
        self.page.locator(within).get_by_role(
            "link", name=link, exact=isinstance(link, str)
        ).first.click()
        self.page.wait_for_load_state("load")

    def press(self, button: str | re.Pattern[str], within: str = "body") -> None:
        self.page.locator(within).get_by_role(
            "button", name=button, exact=isinstance(button, str)
        ).first.click()
        self.page.wait_for_load_state("load")

    def write(self, **fields: str) -> None:
        """``write(Name_of_the_team="Owls")``: an underscore is a blank of the label."""
        for label, text in fields.items():
            self.field(label.replace("_", " ")).fill(text)

    def field(self, label: str) -> Locator:
        """Some labels go on with "(optional)"."""
        return self.page.get_by_label(re.compile(rf"^{re.escape(label)}(\s*\(optional\))?$")).first

    def choose(self, label: str, words: str) -> None:
        """The option that holds these words."""
        field = self.field(label)
        field.select_option(
            value=field.locator("option", has_text=words).first.get_attribute("value")
        )

    def give(self, label: str, name: str, text: str) -> None:
        file = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        self.field(label).set_input_files(file)  # type: ignore[arg-type]

    def sees(self, words: str | re.Pattern[str], milliseconds: int = 60_000) -> None:
        expect(self.page.locator("main")).to_contain_text(words, timeout=milliseconds)

    def sees_heading(self, words: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_contain_text(words)

    def sees_row(self, of: str, table: str = "main") -> Locator:
        row = self.page.locator(table).get_by_role("row", name=re.compile(re.escape(of))).first
        expect(row).to_be_visible(timeout=A_WORKER_S_TIME)
        return row

    def waits_for(self, words: str | re.Pattern[str]) -> None:
        """For what a worker makes; the page shows it by itself."""
        self.sees(words, A_WORKER_S_TIME)

    def downloads(self, press: Callable[[], None]) -> str:
        """The text of the file that comes."""
        with self.page.expect_download() as coming:
            press()
        return Path(coming.value.path()).read_text(encoding="utf-8-sig")

    def logs_in(self) -> None:
        self.follow("Log in", "header")
        self.write(Username=self.name, Password=PASSWORD)
        self.press("Log in", "main")

    def signs_up(self) -> None:
        """On the form that the page led to."""
        self.write(Name=self.name, Password=PASSWORD, Password_again=PASSWORD)
        self.press(re.compile("^Create account"))
