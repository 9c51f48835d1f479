"""The whole way through ``dialeval`` alone, on a real site with its web server and worker."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.site import PROJECT, Site

SETUP = """
from tests.challenges.sets import made_user, open_challenge, open_round, small_version
from django.contrib.auth.models import User
version = small_version(dialogues=10, turns=2)
open_round(version, open_challenge("cup"), slug="one", daily_limit=2)
open_round(version, open_challenge("secret"), slug="one", references="hidden")
User.objects.create_user("ada", "ada@example.org", "a long pass word 9")
"""


class Participant:
    def __init__(self, site: Site) -> None:
        self.site = site

    def runs(self, *arguments: str | Path, typed: str = "", status: int = 0) -> str:
        """What the command prints on standard output, or, where it fails as it should, on standard
        error."""
        finished = subprocess.run(
            [sys.executable, "-m", "leaderboard.client", *map(str, arguments)],
            cwd=PROJECT,
            env={**self.site.environment, "XDG_CONFIG_HOME": str(self.site.home / "config")},
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert finished.returncode == status, (
            f"{arguments}:\n{finished.stdout}\n{finished.stderr}\n{self.site.logs()}"
        )
        return finished.stderr if status else finished.stdout

    def document(self, *arguments: str | Path, status: int = 0) -> Any:
        return json.loads(self.runs(*arguments, "--format", "json", status=status))


@pytest.mark.slow
def test_from_login_to_a_rank(site: Site) -> None:
    site.python(SETUP)
    site.start_worker()
    address, ada = site.start_web(), Participant(site)

    assert "as ada" in ada.runs("login", address, "--username", "ada", typed="a long pass word 9\n")
    assert {one["slug"] for one in ada.document("challenges")} == {"cup", "secret"}
    assert ada.document("challenges", "cup")["rounds"][0]["phase"] == "open"
    assert ada.runs("join", "cup", "--team", "Lovelace") == "in team Lovelace of cup\n"

    # The project's own baseline answers the downloaded dialogues.
    dialogues, template, responses = (
        site.home / name for name in ("dialogues.json", "template.csv", "responses.json")
    )
    ada.runs("dialogues", "cup", "one", "--to", dialogues)
    ada.runs("template", "cup", "one", "--format", "csv", "--to", template)
    baseline = [
        sys.executable,
        "-m",
        "workers.baselines",
        dialogues,
        "--baseline",
        "echo",
        "--to",
        responses,
    ]
    subprocess.run(baseline, cwd=PROJECT, check=True, capture_output=True, timeout=60)
    assert ada.runs("check", responses, "cup", "one") == "valid: 20 responses in 10 dialogues\n"

    # A file that the checker refuses is refused by the site for the same reason, and costs no
    # attempt.
    assert "1 problem" in ada.runs("check", template, "--template", dialogues, status=1)
    said = ada.runs("submit", "cup", "one", template, "--name", "Nothing", "--watch", status=1)
    assert said.endswith("dialeval: the file is invalid: 1 problem\n")

    scored = ada.document("submit", "cup", "one", responses, "--name", "Echo", "--watch")
    assert (scored["state"], scored["rank"], scored["attempts"]["day_left"]) == ("scored", 1, 1)
    assert [score["metric"] for score in scored["scores"]] == ["word_f1", "bleu_4"]

    # The same bytes again are the same submission and cost nothing.
    again = ada.document("submit", "cup", "one", responses, "--name", "Echo", "--watch")
    assert (again["id"], again["attempts"]["day_left"]) == (scored["id"], 1)
    assert [one["state"] for one in ada.document("status")] == ["scored", "invalid"]

    (entry,) = ada.document("leaderboard", "cup", "one")["entries"]
    assert (entry["rank"], entry["team"], entry["name"]) == (1, "Lovelace", "Echo")
    assert "Lovelace" in ada.runs("leaderboard", "cup", "one")

    # A hidden round's dialogues hold nothing of speaker B, and a baseline answers them all the
    # same.
    ada.runs("join", "secret", "--team", "Lovelace")
    ada.runs("dialogues", "secret", "one", "--to", dialogues)
    places = [
        line
        for turn in json.loads(dialogues.read_text())[0].values()
        if isinstance(turn, dict)
        for line in turn["dialogue"]
    ]
    assert {line["text"] for line in places if line["persona_id"] == "B"} <= {None}
    assert "gold" not in dialogues.read_text()
    subprocess.run(baseline, cwd=PROJECT, check=True, capture_output=True, timeout=60)
    assert ada.runs("check", responses, "secret", "one") == "valid: 20 responses in 10 dialogues\n"

    assert ada.runs("logout") == "logged out\n"
    assert "dialeval login" in ada.runs("status", status=1)
