"""The README's picture: the demo's metric leaderboard, light and dark, as Chromium draws the real
page.

    make run                                  # in another terminal; wait until the demo's metrics are computed
    .venv/bin/python docs/make_picture.py     # writes docs/figures/leaderboard.png and leaderboard-dark.png

Pictures in docs/figures are the only made ones in the repository. Make this one anew when that page
looks different.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FIGURES = Path(__file__).parent / "figures"
LARGEST = 200_000
WIDTH, HEIGHT = 1280, 1160


def main() -> int:
    options = argparse.ArgumentParser(
        description="Renew the pictures of the README from a running site with the demo."
    )
    options.add_argument("--site", default="http://127.0.0.1:8000", help="where the site runs")
    options.add_argument("--browser", default="/usr/bin/chromium", help="the browser's program")
    asked = options.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=asked.browser, args=["--no-sandbox"])
        sizes = {
            name: picture(browser, asked.site, scheme, FIGURES / name)
            for name, scheme in (("leaderboard.png", "light"), ("leaderboard-dark.png", "dark"))
        }
        browser.close()
    print(", ".join(f"{name} {size // 1000} kB" for name, size in sizes.items()))
    return 0 if all(size < LARGEST for size in sizes.values()) else 1


def picture(browser, site: str, scheme: str, to: Path) -> int:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page.goto(f"{site}/corpora/demo/metrics/", wait_until="load")
    page.locator(".board .lane svg").first.wait_for(state="attached")
    page.evaluate("document.fonts.ready")
    FIGURES.mkdir(exist_ok=True)
    to.write_bytes(page.screenshot(clip={"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT}))
    page.close()
    return to.stat().st_size


if __name__ == "__main__":
    sys.exit(main())
