"""One number and what makes it believable; or no number and why. Shared by every statistic. No
Django here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Undefined:
    """A score or coefficient that does not exist, with the reason a person can act on. Never 0,
    never a default."""

    reason: str


BESIDE_ITS_INTERVAL = (
    "the interval that was found does not hold the value: its bias is larger than the interval is "
    "wide"
)
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
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
        return document
