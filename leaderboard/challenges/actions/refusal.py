"""What an organiser is told when a step is not taken, and how a change is written into the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import models

from annotations.importers.texts import text_fault

LONGEST_REASON = 500


class Refused(Exception):
    """Nothing was changed. The message says why, in the organiser's language; ``field`` names what it is about, as the
    form does, or is empty."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.message, self.field = message, field


def checked_text(text: str, limit: int, field: str, say: Callable[[str], str], may_be_empty: bool = False) -> str:
    """The text without space at its ends and with plain line ends. Raises ``Refused`` with what ``say`` makes of the
    fault."""
    text = text.replace("\r\n", "\n").strip()
    if fault := text_fault(text, limit, may_be_empty):
        raise Refused(say(fault), field)
    return text


def as_noted(row: models.Model, names: Iterable[str]) -> dict[str, Any]:
    """Fields of a row as the audit log keeps them: JSON, with rows by what they are called."""
    return {name: _noted(getattr(row, name)) for name in names}


def changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[Any]]:
    """{field: [before, after]} of those that differ."""
    return {name: [before[name], after[name]] for name in after if before[name] != after[name]}


def _noted(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"  # the form's 0.5 and the row's 0.5000 are one price
    if isinstance(value, models.Model):
        return str(value)
    return value
