"""What every metric with a model says: why it cannot run here, and with what its scores were
made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from workers.metrics.base import Account, OptionValue
from workers.model_files import ModelFiles, why_missing


class LoadedModel(Protocol):
    @property
    def files(self) -> ModelFiles: ...
    @property
    def device_label(self) -> str: ...
    @property
    def dtype_name(self) -> str: ...


def missing_model(options: Mapping[str, OptionValue]) -> str:
    """Why the model that the options name cannot be had on this machine, or ""."""
    return why_missing(str(options["model"]))


def account_of(
    model: LoadedModel, remarks: Mapping[int, str], facts: tuple[tuple[str, str], ...] = ()
) -> Account:
    """``remarks`` by the example's place; ``facts`` stand in the signature after the model's
    own."""
    own = (("dtype", model.dtype_name),)
    return Account(
        model=model.files.label, device=model.device_label, facts=own + facts, remarks=remarks
    )
