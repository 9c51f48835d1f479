"""One number and what makes it believable; or no number and why. Shared by every statistic. No Django here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Undefined:
    """A score or coefficient that does not exist, with the reason a person can act on. Never 0, never a default."""

    reason: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic: ``value`` with its interval and p-value, or ``value=None`` with a ``reason``."""

    value: float | None
    ci: tuple[float, float] | None = None
    p: float | None = None
    reason: str = ""
    """Why ``value`` is None; or, when there is a value, why ``ci`` is None."""

    @classmethod
    def undefined(cls, reason: str) -> Estimate:
        return cls(value=None, reason=reason)

    @property
    def is_defined(self) -> bool:
        return self.value is not None

    def as_json(self) -> dict[str, Any]:
        """``{"value", "p"?, "ci"?}`` when defined, ``{"value": null, "reason"}`` when not.

        ``ci`` is left out where no interval was asked for, and null with ``ci_reason`` where it does not exist.
        """
        if self.value is None:
            return {"value": None, "reason": self.reason}
        document: dict[str, Any] = {"value": self.value}
        if self.p is not None:
            document["p"] = self.p
        if self.ci is not None:
            document["ci"] = list(self.ci)
        elif self.reason:
            document["ci"] = None
            document["ci_reason"] = self.reason
        return document
