"""Text that comes in, and the numbers that go out."""

from __future__ import annotations

from typing import Annotated

from ninja import Schema
from pydantic import AfterValidator, Field

from annotations.importers.texts import text_fault


def _storable(text: str) -> str:
    if fault := text_fault(text, len(text) + 1, may_be_empty=True):
        raise ValueError(fault)
    return text


Text = Annotated[str, AfterValidator(_storable)]
"""Without what no database keeps: NUL and halves of surrogate pairs."""


class Given(Schema):
    """What a client sends: a field that nobody knows is an error, not a wish unheard."""

    model_config = {"extra": "forbid"}


class Figure(Schema):
    """A statistic: its value with interval, or null with the reason."""

    value: float | None = Field(description="Null where it is undefined.")
    ci: tuple[float, float] | None = Field(
        None, description="95 % interval over dialogues, lowest and highest."
    )
    p: float | None = Field(None, description="Its p-value, where it has one.")
    p_reason: str | None = Field(
        None, description="Why p is null: fewer than six systems, of which alone it would speak."
    )
    reason: str | None = Field(None, description="Why the value is null.")
    ci_reason: str | None = Field(None, description="Why there is a value without an interval.")
    ci_remark: str | None = Field(None, description="Why the interval may not hold its 95 %.")
