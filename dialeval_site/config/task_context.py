"""What a worker's lines of the log belong to: the task, its row, and the request that asked for it.

Connected by ``dialeval_site.celery``; Celery's signals are the only hooks there are on both sides
of a message.
"""

from __future__ import annotations

from typing import Any

from celery.signals import before_task_publish, task_postrun, task_prerun

from dialeval_site.operations import log_context


@before_task_publish.connect
def _notify_requester(headers: dict[str, Any] | None = None, **_: Any) -> None:
    if headers is not None and (request_id := log_context.request_id()):
        headers[log_context.REQUEST_HEADER] = request_id


@task_prerun.connect
def _begin(task_id: str = "", task: Any = None, args: Any = (), **_: Any) -> None:
    given = str(task.request.get(log_context.REQUEST_HEADER) or "")
    requested_by = given if log_context.WELL_FORMED.fullmatch(given) else ""
    log_context.begin_task(log_context.Task(task_id, row_of(task.name, args), requested_by))


@task_postrun.connect
def _end(**_: Any) -> None:
    log_context.end_task()


def row_of(task: str, arguments: Any) -> str:
    """``run 17``; of a task without a row its own name."""
    from common.jobs.models import kinds_of_jobs  # no model can be loaded when this module is

    name = next((kind.NAME for kind in kinds_of_jobs() if task == kind.TASK), "")
    return f"{name} {arguments[0]}" if name and arguments else task
