"""docs/participant.md, "A challenge in ten minutes", followed to the letter: in Chromium, then with
``dialeval``."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.stage import Stage
from tests.browser.visit import Visit
from tests.dialeval_site.documents import sections, text_of
from tests.site import PROJECT

SECTIONS = sections(text_of("participant.md"))
BY_CLICKING, BY_COMMAND = (
    SECTIONS["A challenge in ten minutes"],
    SECTIONS["The same from the command line"],
)
PASSWORD = "a lamp in the forest"
CLICKING, COMMANDING = "ten-minutes-clicking", "ten-minutes-commanding"


@pytest.fixture(autouse=True)
def the_challenge_is_left_as_it_was(stage: Stage) -> Iterator[None]:
    yield
    stage.python(
        f"""
from django.contrib.auth import get_user_model
from annotations.models import System
from leaderboard.challenges.models import Submission, Team
from leaderboard.models import Analysis
handed_in = Submission.objects.filter(user__username__in={[CLICKING, COMMANDING]!r})
systems = list(handed_in.values_list("system", flat=True))
handed_in.delete()
System.objects.filter(pk__in=systems).delete()
Team.objects.filter(created_by__username__in={[CLICKING, COMMANDING]!r}).delete()
Analysis.objects.filter(kind="board").delete()
get_user_model().objects.filter(username__in={[CLICKING, COMMANDING]!r}).delete()
"""
    )


@pytest.mark.slow
def test_ten_minutes_of_clicking(visit: Callable[..., Visit], stage: Stage, tmp_path: Path) -> None:
    page = visit().go("/")
    page.get_by_role("link", name="Challenges").first.click()
    page.get_by_role("link", name="Try it: answer as B").first.click()
    page.locator(".step-panel").get_by_role("link", name="Sign up").click()
    page.get_by_label("Name", exact=True).fill(CLICKING)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Try it: answer as B")
    page.locator(".step-panel").get_by_role("link", name="rules").click()
    expect(page.get_by_role("heading", name="What is allowed")).to_be_visible()
    page.go_back()
    page.get_by_label("Name of the team").fill("Ten minutes")
    page.get_by_role("button", name="Create team").click()
    expect(page.get_by_label("Invitation link")).to_be_visible()

    page.get_by_role("link", name="Overview").click()
    page.get_by_role("link", name="To the task").click()
    expect(page.locator(".attempts")).to_contain_text("5 of 5")
    with page.expect_download() as download:
        page.locator(".files").get_by_role("link", name="JSON", exact=True).first.click()
    name = download.value.suggested_filename
    download.value.save_as(tmp_path / name)

    (command,) = commands_in(BY_CLICKING)
    assert name in command
    run(command, tmp_path)
    assert "56 responses" in BY_CLICKING
    assert (tmp_path / "retrieval.json").read_text(encoding="utf-8").count('"turn_') == 56

    page.get_by_label("File of responses").set_input_files(tmp_path / "retrieval.json")
    page.get_by_label("Name of the system").fill("Nearest answer")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#submission-status")).to_have_text("scored", timeout=240_000)
    # When its board is computed
    expect(page.locator(".standing")).to_contain_text("Rank 1", timeout=240_000)
    page.get_by_role("link", name="See the leaderboard").click()
    expect(page.get_by_role("row", name=re.compile("Ten minutes"))).to_be_visible()
    expect(
        page.get_by_role("row", name=re.compile("Baselines of the project")).first
    ).to_be_visible()


@pytest.mark.slow
def test_ten_minutes_of_commands(stage: Stage, tmp_path: Path) -> None:
    stage.python(
        "from django.contrib.auth import get_user_model\n"
        f"get_user_model().objects.create_user({COMMANDING!r}, password={PASSWORD!r})\n"
    )
    said = {}
    for line in commands_in(BY_COMMAND):
        here = [
            COMMANDING if word == "NAME" else word.replace("http://127.0.0.1:8000", stage.address)
            for word in line
        ]
        said[line[1]] = run(here, tmp_path, typed=f"{PASSWORD}\n" if "login" in here else "")
    assert COMMANDING in said["login"]
    assert "practice" in said["challenges"]
    assert "valid: 56 responses" in said["check"]
    assert "scored" in said["submit"]
    line = next(line for line in said["leaderboard"].splitlines() if "First team" in line)
    assert line.split()[0] == "1", said["leaderboard"]


def commands_in(text: str) -> list[list[str]]:
    """The lines of the text's blocks of shell."""
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]


def run(command: list[str], folder: Path, typed: str = "") -> str:
    """As in the project's folder, but with its files in ``folder``; returns all that it said."""
    program, *arguments = command
    programs = {
        ".venv/bin/python": [sys.executable],
        ".venv/bin/dialeval": [sys.executable, "-m", "leaderboard.client"],
    }
    finished = subprocess.run(
        [*programs[program], *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "XDG_CONFIG_HOME": str(folder)},
        input=typed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=180,
        start_new_session=True,  # no terminal: the password is read from standard input
    )
    assert finished.returncode == 0, f"{command}: {finished.stdout}"
    return finished.stdout
