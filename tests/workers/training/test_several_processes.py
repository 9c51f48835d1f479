"""A training in two processes, as ``torchrun`` and ``accelerate launch`` start them: over gloo, on
the CPU."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.site import PROJECT
from tests.workers.training.latent_talk import save_tiny_encoder
from tests.workers.training.several import STOPPED_AT, line
from workers.training.core import checkpoint
from workers.training.core.loop import train

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In which two processes have done what ``several`` says."""
    folder = tmp_path_factory.mktemp("several")
    save_tiny_encoder(folder / "encoder")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": "1",
    }
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.workers.training.several", str(folder)],
            cwd=PROJECT,
            env={
                **os.environ,
                **shared,
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "LOCAL_WORLD_SIZE": "2",
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        said = [process.communicate(timeout=300)[1] for process in started]
    finally:
        for process in started:
            process.kill()
    assert [process.returncode for process in started] == [0, 0], said
    return folder


@pytest.fixture(scope="module")
def seen(folder: Path) -> list[dict[str, Any]]:
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_one_of_the_two_helps(seen: list[dict[str, Any]]) -> None:
    assert [(one["count"], one["helper"]) for one in seen] == [(2, False), (2, True)]


def test_both_end_with_the_same_weights(seen: list[dict[str, Any]]) -> None:
    assert seen[0]["weights"] == seen[1]["weights"]


def test_they_learn_what_one_process_does_with_two_batches_a_step(
    folder: Path, seen: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Two epochs of 6 batches, two at a time, are 6 steps; what the processes average is what one
    accumulates."""
    task, settings = line(accumulate=2)
    assert train(task, settings, tmp_path).step == seen[0]["steps"] == 6
    alone, together = (checkpoint.newest(one) for one in (tmp_path, folder / "line"))
    assert alone is not None
    assert together is not None
    weights, others = alone.weights(), together.weights()
    assert all(
        torch.allclose(weights[name], others[name], rtol=1e-5, atol=1e-6) for name in weights
    )


def test_what_ends_the_first_ends_both(seen: list[dict[str, Any]]) -> None:
    assert [one["ending"] for one in seen] == ["Stopped", "Abandoned"]


def test_stopped_they_go_on_to_the_same_weights(seen: list[dict[str, Any]]) -> None:
    """Without dropout nothing is drawn that differs."""
    assert STOPPED_AT < seen[0]["resumed"] == 6
    assert {one["resumed weights"] for one in seen} == {seen[0]["weights"]}


def test_a_selection_model_is_made_and_published_once(folder: Path) -> None:
    model = checkpoint.read(folder / "trained" / "two")
    assert model.config["run"]["processes"] == 2
    losses = [one["loss"] for one in model.config["curves"]]
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]
    assert model.config["model"]["fit"]["points"] == model.config["model"]["pairs"]
