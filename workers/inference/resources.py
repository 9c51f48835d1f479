"""What metrics with a model may use in this process: a device, threads, a folder for what they
remember.

Pure code: the site says it once at its start (``workers.apps``), a test or a script for itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workers.training.core.checkpoint import TrainedModel

AUTO = "auto"


class RemoteModels(Protocol):
    """Trained models that other machines made and that can be fetched from where all look."""

    def models(self) -> list[TrainedModel]: ...

    def model(self, name: str) -> TrainedModel | None: ...

    def fetch(self, model: TrainedModel) -> None:
        """Its folder is whole then."""


@dataclass(frozen=True, slots=True)
class Resources:
    device: str = AUTO
    """``auto``, or a device as PyTorch names it: ``cpu``, ``cuda:1``, ``mps``."""
    precision: str = AUTO
    """What models compute in: ``auto`` (bfloat16 where the device is made for it), or
    ``float32``."""
    threads: int = 0
    """PyTorch's threads in this process; 0: half of the cores, shared among ``processes``. The web
    wants the others; threads that wait for a busy core make everything several times slower."""
    processes: int = 1
    """How many processes like this one share the machine."""
    feature_folder: Path | None = None
    """Where features are remembered between processes and runs; None: in this process only."""
    feature_bytes: int = 1_000_000_000
    """Most space they may take there."""
    trained_folder: Path | None = None
    """Where trained models are, each in a folder of its name; None: nowhere."""
    remote_models: RemoteModels | None = None
    """Those of other machines; None: there are none to be had."""

    @property
    def threads_to_use(self) -> int:
        return self.threads or max(1, (os.cpu_count() or 1) // (2 * self.processes))


_at_hand = Resources()


def at_hand() -> Resources:
    return _at_hand


def use(resources: Resources) -> None:
    """From now on. What is loaded already stays where it is."""
    global _at_hand
    _at_hand = resources
