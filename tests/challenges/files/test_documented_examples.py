"""The examples of challenges' files in docs/formats.md are what the page says they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leaderboard.challenges.files.formats import FORMATS
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.layout_file import layout_of
from leaderboard.challenges.files.responses import check_responses
from leaderboard.challenges.files.scores import check_scores
from tests.challenges.files.helpers import written
from tests.site import PROJECT
from workers.baselines.dialogue_file import read_dialogues

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = {
    (kind, name): text
    for kind, name, text in re.findall(r"<!-- (\w+): (\w+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    if kind in ("responses", "scores", "dialogues")
}
CAFE = Layout.of([("cafe-1", 0), ("cafe-1", 1)])


@pytest.mark.parametrize("format", FORMATS)
def test_responses_of_each_format(tmp_path: Path, format: str) -> None:
    found = check_responses(written(tmp_path, EXAMPLES["responses", format]), CAFE)
    assert (found.problems, found.counts.format) == ((), format)


def test_scores_with_one_that_is_missing(tmp_path: Path) -> None:
    found = check_scores(written(tmp_path, EXAMPLES["scores", "turn"]), "turn", CAFE, ["parrot"])
    assert (found.problems, found.coverage.given, found.coverage.possible) == ((), 1, 2)


def test_hidden_dialogues(tmp_path: Path) -> None:
    path = written(tmp_path, EXAMPLES["dialogues", "hidden"])
    assert list(layout_of(path)) == list(CAFE)
    (dialogue,) = read_dialogues(path)
    assert [line.text for line in dialogue.turns[1].history][1] is None


@pytest.mark.parametrize(
    "message",
    [
        "found dialogue_id, expected dialog_id",
        "is null: the template is not filled in here",
        "begins a quoted cell that never ends",
        "is a zip archive (or an office file: save it as CSV UTF-8)",
    ],
)
def test_documented_messages_are_said(message: str) -> None:
    folders = (
        PROJECT / "leaderboard" / "challenges" / "files",
        PROJECT / "annotations" / "formats" / "importers",
    )
    code = "".join(
        path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py")
    )
    assert f"`{message}`" in PAGE
    assert message in code
