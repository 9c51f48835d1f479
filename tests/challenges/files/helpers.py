"""Small layouts and files for tests of the formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.responses import Checked, check_responses

SMALL = (("d1", 0), ("d1", 1), ("d2", 0), ("d2", 1))
"""Two dialogues of two turns."""


def small_layout() -> Layout:
    return Layout.of(SMALL)


def good_list() -> list[dict[str, Any]]:
    return [
        {"dialog_id": name, "turn_0": f"{name} a", "turn_1": f"{name} b"} for name in ("d1", "d2")
    ]


def good_lines() -> list[dict[str, Any]]:
    return [{"dialog_id": name, "turn": turn, "response": f"{name} {turn}"} for name, turn in SMALL]


def good_csv() -> str:
    return "dialog_id,turn,response\n" + "".join(
        f"{name},{turn},{name} {turn}\n" for name, turn in SMALL
    )


def written(folder: Path, content: Any, name: str = "file") -> Path:
    """Bytes and text as they are, a tuple as JSON lines, anything else as JSON."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
        return path
    if isinstance(content, tuple):
        content = "".join(json.dumps(line) + "\n" for line in content)
    path.write_text(
        content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline=""
    )
    return path


def checked(folder: Path, content: Any, layout: Layout | None = None) -> Checked:
    return check_responses(written(folder, content), layout or small_layout())


def faults(folder: Path, content: Any, layout: Layout | None = None) -> list[str]:
    """What is wrong, as people read it, without the file's name."""
    found = checked(folder, content, layout)
    lines = [
        str(problem).removeprefix("file:").removeprefix("file").strip(" :")
        for problem in found.problems
    ]
    return [*lines, "and more"] if found.more else lines
