"""A large corpus is sent in parts by the page itself, and goes on where the connection broke."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.visit import Visit


def large_file(folder: Path) -> Path:
    """Of 40 MB: two parts of 16 MB and one of 8 MB."""
    turn = {
        "number": 0,
        "context": [{"speaker": "A", "text": "x" * 100_000}],
        "references": ["No."],
    }
    said = {"type": "dialogue", "persona": ["i cook."], "partner_persona": [], "turns": [turn]}
    path = folder / "cooks.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.write('{"type": "corpus", "name": "Cooks"}\n')
        for number in range(400):
            file.write(json.dumps({**said, "id": f"d{number}"}) + "\n")
    return path


@pytest.mark.slow
def test_a_large_file_goes_on_after_the_connection_broke(
    visit: Callable[..., Visit], tmp_path: Path
) -> None:
    one = visit(role="organiser")
    offsets: list[str] = []

    def broken_once(route: Route) -> None:
        offsets.append(route.request.headers["upload-offset"])
        if offsets == ["0", "16000000"]:
            route.abort("connectionreset")
        else:
            route.continue_()

    one.page.route("**/corpora/new/upload/*/", broken_once)
    one.go("/corpora/new/")
    one.page.get_by_label("File", exact=True).set_input_files(large_file(tmp_path))
    one.page.get_by_role("button", name="Check the file").click()
    expect(one.page.get_by_text("What becomes of the file")).to_be_visible(timeout=60_000)
    assert offsets == ["0", "16000000", "16000000", "32000000"]
    one.complaints[:] = [text for text in one.complaints if "ERR_CONNECTION_RESET" not in text]
