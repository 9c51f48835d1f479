"""One number and what makes it believable; or no number and why. Shared by every statistic. No
Django here."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any


class OwnJson:
    """A class that says itself how it stands in JSON (``as_json``, ``from_json``), where that is
    not a key for each field; pydantic reads and writes it so."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        from pydantic_core import core_schema  # not needed by those who compute

        return core_schema.no_info_plain_validator_function(
            cls.from_json,
            serialization=core_schema.plain_serializer_function_ser_schema(cls.as_json),
        )

    def as_json(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Any:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Undefined(OwnJson):
    """A score or coefficient that does not exist, with the reason a person can act on. Never 0,
    never a default."""

    reason: str

    def as_json(self) -> dict[str, Any]:
        return {"value": None, "reason": self.reason}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Undefined:
        if not isinstance(document, dict):  # a number, where either may stand
            raise ValueError("an undefined value has a reason")
        return cls(document["reason"])


BESIDE_ITS_INTERVAL = (
    "the interval that was found does not hold the value: its bias is larger than the interval is "
    "wide"
)
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate(OwnJson):
    """A statistic: ``value`` with its interval and p-value, or ``value=None`` with a ``reason``.

    An interval holds its value. Where a procedure finds one that does not, it has not described
    this statistic, and there is no interval, with that reason.
    """

    value: float | None
    ci: tuple[float, float] | None = None
    p: float | None = None
    reason: str = ""
    """Why ``value`` is None; or, when there is a value, why ``ci`` is None."""
    p_reason: str = ""
    """Why a test that was made gives no ``p``; "" where none was asked for."""
    ci_remark: str = ""
    """Why the interval may not hold its 95 %."""

    def __post_init__(self) -> None:
        if self.ci is None or self.value is None:
            return
        low, high = self.ci
        if low <= self.value <= high:
            return
        slack = ROUNDING * max(abs(low), abs(self.value), abs(high))
        if math.isfinite(slack) and low - slack <= self.value <= high + slack:
            object.__setattr__(self, "ci", (min(low, self.value), max(high, self.value)))
        else:
            object.__setattr__(self, "ci", None)
            object.__setattr__(self, "reason", BESIDE_ITS_INTERVAL)

    @classmethod
    def undefined(cls, reason: str) -> Estimate:
        return cls(value=None, reason=reason)

    @property
    def is_defined(self) -> bool:
        return self.value is not None

    def __neg__(self) -> Estimate:
        """With the opposite sign; an undefined one as it is."""
        if self.value is None:
            return self
        ci = None if self.ci is None else (-self.ci[1], -self.ci[0])
        return replace(self, value=-self.value, ci=ci)

    def as_json(self) -> dict[str, Any]:
        """``{"value", "p"?, "ci"?}`` when defined, ``{"value": null, "reason"}`` when not.

        ``ci`` is left out where no interval was asked for, and null with ``ci_reason`` where it
        does not exist; ``p`` likewise, with ``p_reason``.
        """
        if self.value is None:
            return {"value": None, "reason": self.reason}
        document: dict[str, Any] = {"value": self.value}
        if self.p is not None:
            document["p"] = self.p
        elif self.p_reason:
            document["p"] = None
            document["p_reason"] = self.p_reason
        if self.ci is not None:
            document["ci"] = list(self.ci)
        elif self.reason:
            document["ci"] = None
            document["ci_reason"] = self.reason
        if self.ci_remark:
            document["ci_remark"] = self.ci_remark
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Estimate:
        """What ``as_json`` wrote."""
        if document["value"] is None:
            return cls(None, reason=document["reason"])
        ci = document.get("ci")
        return cls(
            document["value"],
            (ci[0], ci[1]) if ci else None,
            document.get("p"),
            document.get("ci_reason", ""),
            document.get("p_reason", ""),
            document.get("ci_remark", ""),
        )
