"""Text that comes in, numbers that go out, and lists in pages.

A list's cursor says after which row the next page begins, so rows that come meanwhile
shift nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar

from django.db.models import QuerySet
from ninja import Schema
from pydantic import AfterValidator, Field

from common.api.problems import Refused
from common.text import text_fault


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


MOST, USUAL = 200, 50
LARGEST_KEY = 2**63 - 1
LONGEST_CURSOR = 400
T = TypeVar("T")
Row = TypeVar("Row", bound=Any)


class Paging(Schema):
    cursor: str | None = Field(
        None,
        max_length=LONGEST_CURSOR,
        description="`next` of the page before; without it the list begins.",
    )
    limit: int = Field(USUAL, ge=1, le=MOST, description="Most items of a page.")


class Page(Schema, Generic[T]):
    items: list[T] = Field(description="In the list's order.")
    next: str | None = Field(description="Cursor of the next page; null where this is the last.")


def page_of(
    rows: QuerySet[Row],
    key: str,
    paging: Paging,
    document: Callable[[Row], Any],
    version: int | None = None,
) -> dict[str, Any]:
    """A page of ``rows``, ordered by ``key``: a field that no two rows share, with a minus before
    it to go down. ``version``: of the corpus, where the rows are one's: no list begins in one
    version and goes on in another.

    Raises ``Refused`` (422) for a cursor that is not of this list.
    """
    field = key.lstrip("-")
    listed = key if version is None else f"{key} of version {version}"
    if paging.cursor is not None:
        direction = "lt" if key.startswith("-") else "gt"
        rows = rows.filter(
            **{f"{field}__{direction}": _place(paging.cursor, listed, _is_text(rows, field))}
        )
    found = list(rows.order_by(key)[: paging.limit + 1])
    shown = found[: paging.limit]
    more = len(found) > paging.limit
    return {
        "items": [document(row) for row in shown],
        "next": _cursor(listed, _value(shown[-1], field)) if more else None,
    }


def _value(row: Any, field: str) -> Any:
    for part in field.split("__"):
        row = getattr(row, part)
    return row


def _cursor(listed: str, value: str | int) -> str:
    return base64.urlsafe_b64encode(json.dumps([listed, value]).encode()).decode().rstrip("=")


def _place(cursor: str, listed: str, is_text: bool) -> str | int:
    try:
        name, value = json.loads(
            base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        )
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise _unknown() from None
    if name != listed:
        raise _unknown()
    if is_text and isinstance(value, str) and "\0" not in value and value.isprintable():
        return value
    if not is_text and type(value) is int and 0 <= value <= LARGEST_KEY:
        return value
    raise _unknown()


def _is_text(rows: QuerySet[Any], field: str) -> bool:
    model = rows.model
    *path, last = field.split("__")
    for part in path:
        model = model._meta.get_field(part).related_model
    name = model._meta.pk.name if last == "pk" else last
    return model._meta.get_field(name).get_internal_type() in (
        "CharField",
        "SlugField",
        "TextField",
    )


def _unknown() -> Refused:
    message = (
        "This cursor is not of this list, or of another version of it. Begin without one, or name "
        "its version."
    )
    return Refused(422, message, errors=[{"field": "query.cursor", "message": message}])
