"""What every metric with a model says: why it cannot run here, and with what its scores were
made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from workers.metrics.base import Account, OptionValue
from workers.model_files import ModelFiles, why_missing


class LoadedModel(Protocol):
    """A model that is loaded, as far as run metadata needs to know it."""

    @property
    def files(self) -> ModelFiles:
        """Its files, whose ``label`` is name and revision."""
        ...

    @property
    def device_label(self) -> str:
        """Where it computes, for people."""
        ...

    @property
    def dtype_name(self) -> str:
        """Number format of its computation, such as ``float32``."""
        ...


def missing_model(options: Mapping[str, OptionValue]) -> str:
    """Why the model that the options name is not available on this machine.

    Args:
        options: with ``model``.

    Returns:
        The reason; "" where it is available. A hub id is not looked up.
    """
    return why_missing(str(options["model"]))


def account_of(
    model: LoadedModel, remarks: Mapping[int, str], facts: tuple[tuple[str, str], ...] = ()
) -> Account:
    """Run metadata of a scorer that uses one model.

    Args:
        remarks: by the example's index in the call.
        facts: signature fields, which follow the model's own (``dtype``).

    Returns:
        An account with the model's label, its device, the fields and the remarks.
    """
    own = (("dtype", model.dtype_name),)
    return Account(
        model=model.files.label, device=model.device_label, facts=own + facts, remarks=remarks
    )
