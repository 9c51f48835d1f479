"""One training in several processes, one for each device, as ``accelerate launch`` and ``torchrun``
start them.

The first process does what a lone one does: it has the row, the data, the folder. The others help:
they wait for word (``heard``), train along on their share of the batches, and wait again, until
they are let go.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from workers.inference.encoders.devices import device_for

LONGEST_WAIT = timedelta(days=2)
"""Of one process for another: the first one compares data, validates and lays the Gaussian
alone."""
_SHARED: dict[str, bool] = {"waiting": True}
"""Of the first process: whether the others wait for word. In the midst of a training they do
not."""


def count() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def are_several() -> bool:
    return count() > 1


def is_helper() -> bool:
    """Whether this is one of several, and not the first."""
    return are_several() and int(os.environ.get("RANK", "0")) > 0


def join(device: str) -> None:
    """Waits until all processes are there; once in a process. A lone one has nobody to wait for."""
    if not are_several():
        return
    from accelerate import PartialState

    if not PartialState._shared_state:
        PartialState(cpu=device_for(device).type == "cpu", timeout=LONGEST_WAIT)


def tell(message: Any, device: str) -> None:
    """The first process's word to the helpers, whatever can be pickled; None lets them go. Not
    while they train."""
    if not are_several():
        return
    _exchanged(message, device)
    _SHARED["waiting"] = False


def heard(device: str) -> Any:
    """A helper's: what the first one says next."""
    return _exchanged(None, device)


def helpers_wait_again() -> None:
    """Said by the first process when a training has ended in all of them."""
    _SHARED["waiting"] = True


def let_go(device: str) -> None:
    """At the first process's end. Where a training broke off within a step the helpers cannot hear:
    the launcher ends them when this process fails."""
    if are_several() and _SHARED["waiting"]:
        tell(None, device)


def _exchanged(message: Any, device: str) -> Any:
    from accelerate.utils import broadcast_object_list

    join(device)
    return broadcast_object_list([message])[0]
