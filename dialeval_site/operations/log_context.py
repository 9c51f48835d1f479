"""What the present line of the log belongs to: a request and its user, or a worker's task and its
row."""

from __future__ import annotations

import re
import secrets
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Any

WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}")
REQUEST_HEADER = "dialeval_request"
"""Of a worker's message: the request that asked for the work."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    id: str
    request: Any


@dataclass(frozen=True, slots=True)
class Task:
    id: str
    row: str
    """``run 17``"""
    request_id: str
    """Of the request that caused it; empty where a sweep or a command did."""


_current: ContextVar[RequestContext | None] = ContextVar(
    "the request that is being answered", default=None
)
_task: Task | None = None
"""A worker process has one task at a time, and the threads that renew leases or ask models belong
to it, too."""


def new_id() -> str:
    return secrets.token_hex(8)


def begin_request(request_id: str, request: Any) -> Token[RequestContext | None]:
    return _current.set(RequestContext(request_id, request))


def end_request(before: Token[RequestContext | None]) -> None:
    _current.reset(before)


def begin_task(task: Task) -> None:
    global _task
    _task = task


def end_task() -> None:
    global _task
    _task = None


def request_id() -> str:
    """Of what is under way: the request, or the one that asked for this task. Empty where there is
    none."""
    params = _current.get()
    if params is not None:
        return params.id
    return _task.request_id if _task else ""


def fields() -> dict[str, Any]:
    """For a line of the log: ``request_id``, ``user_id``, ``task_id`` and ``row``, as far as there
    are any."""
    found: dict[str, Any] = {"request_id": request_id()}
    params = _current.get()
    if params is not None:
        found["user_id"] = _user_of(params.request)
    if _task is not None:
        found |= {"task_id": _task.id, "row": _task.row}
    return {name: value for name, value in found.items() if value}


def _user_of(request: Any) -> int | None:
    """Never asks the database: only who is known already, from a session or from a token."""
    user = getattr(request, "_cached_user", None) or getattr(
        getattr(request, "api_caller", None), "user", None
    )
    return getattr(user, "pk", None)
