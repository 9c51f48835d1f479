"""What each of two processes does in tests of trainings on several devices; started by
``test_several_processes``.

Writes to FOLDER/RANK.json what this process saw. All that needs both processes is done in one
start: torch takes seconds to load.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import torch

from tests.workers.training.latent_talk import about_one_thing
from tests.workers.training.lines import LineTask
from tests.workers.training.made import plan
from workers.inference import resources
from workers.training.core import processes
from workers.training.core.loop import train
from workers.training.core.making import Plan, help_others, make
from workers.training.core.settings import Abandoned, Progress, TrainingSettings

STOPPED_AT = 3


class Stopped(Exception):
    pass


def stop(progress: Progress) -> None:
    if progress.step == STOPPED_AT:
        raise Stopped


def line(**changed: Any) -> tuple[LineTask, TrainingSettings]:
    """Six batches and no dropout: the weights hang on the data alone."""
    settings = TrainingSettings(
        **{"epochs": 2, "learning_rate": 0.05, "curve_every": 3, "device": "cpu", **changed}
    )
    return LineTask(batches=6, dropout=0.0), settings


def digest(task: LineTask) -> str:
    return hashlib.sha256(
        b"".join(one.detach().numpy().tobytes() for one in task.model.parameters())
    ).hexdigest()


def selection(folder: Path) -> Plan:
    return plan("density", folder / "encoder", epochs=4, curve_every=4)


def main(folder: Path) -> None:
    resources.use(resources.Resources("cpu", 1))
    found: dict[str, Any] = {"count": processes.count(), "helper": processes.is_helper()}
    task, settings = line()
    found["steps"] = train(task, settings, folder / "line").step
    found["weights"] = digest(task)

    task, settings = line()
    try:
        train(task, settings, folder / "stopped", None if processes.is_helper() else stop)
    except (Stopped, Abandoned) as ending:
        found["ending"] = type(ending).__name__
    found["resumed"] = train(task, settings, folder / "stopped").step
    found["resumed weights"] = digest(task)

    if processes.is_helper():
        help_others("cpu")
    else:
        make(selection(folder), about_one_thing(80), folder / "work", folder / "trained" / "two")
        processes.let_go("cpu")
    (folder / f"{torch.distributed.get_rank()}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
