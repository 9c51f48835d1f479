"""Workers that die in the middle of a training, as processes: the next one goes on, to the same
weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.site import Site, kill, wait_until
from tests.workers.trainings.small import encoder_in, talk_file
from workers.training.core import checkpoint

pytestmark = pytest.mark.slow

ENDED = ("done", "failed")
START = """
from pathlib import Path
from workers.training import actions
from workers.training.data import Source
chosen = {{"encoder": {encoder!r}, "contexts": 4, "negatives": 15, "max_tokens": 32, "epochs": 12, "save_every": 25,
    "learning_rate": 0.0005}}
actions.start({name!r}, "density", Source.of_file(Path({talk!r})), chosen)
"""


def row(site: Site, name: str) -> dict[str, Any]:
    names = ("state", "attempts", "error", "progress", "revision")
    (found,) = site.rows(f"SELECT {', '.join(names)} FROM trainings_training WHERE name = '{name}'")
    told = dict(zip(names, found, strict=True))
    if isinstance(told["progress"], str):  # as SQLite gives it
        told["progress"] = json.loads(told["progress"])
    return told


def learned(site: Site, name: str) -> tuple[str, str]:
    files = checkpoint.read(site.home / "trained" / name).config["files"]
    return files["weights.safetensors"], files["gaussian.safetensors"]


def test_a_training_whose_worker_is_killed_ends_with_the_weights_of_one_that_was_not(
    site: Site, tmp_path: Path
) -> None:
    talk, encoder = talk_file(tmp_path / "talk.txt", dialogues=300), encoder_in(tmp_path)
    site.settings["DIALEVAL_THREADS"] = "1"

    def start(name: str) -> None:
        site.python(START.format(name=name, encoder=str(encoder), talk=str(talk)))

    first = site.start_worker()
    start("killed")
    wait_until(
        lambda: row(site, "killed")["progress"].get("step", 0) > 30,
        120,
        "the first worker is on its way",
    )
    kill(first)
    before = row(site, "killed")
    assert before["state"] == "running"
    (work,) = (site.home / "training").iterdir()
    kept = checkpoint.newest(work)
    assert kept is not None
    assert 0 < kept.config["step"] < kept.config["steps"]
    site.start_worker()
    wait_until(lambda: row(site, "killed")["state"] in ENDED, 240, "the second worker completed it")
    assert row(site, "killed")["error"] == ""
    start("whole")
    wait_until(lambda: row(site, "whole")["state"] in ENDED, 240, "one was trained without a fault")
    assert row(site, "whole")["error"] == ""
    assert learned(site, "killed") == learned(site, "whole")
    # Its folder goes after its row says that it has ended
    wait_until(
        lambda: list((site.home / "training").iterdir()) == [], 60, "checkpoints are removed"
    )
