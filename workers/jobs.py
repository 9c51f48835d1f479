"""How a worker runs a job: claims it, renews its lease beside the work, and writes how it ended."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded
from celery import current_task
from django.conf import settings
from django.db import close_old_connections, connection

from common.jobs.models import JobQuerySet, Reaped, kinds_of_jobs
from workers.runs import presence

log = logging.getLogger(__name__)


class JobEnded(Exception):
    """How the work on a job ends without a result."""


class LeaseLost(JobEnded):
    """The job was stopped or deleted, or another worker has it: what came of the work is not
    wanted."""


class ReleaseJob(JobEnded):
    """The work is to go on later, as if it had not been begun."""


class RetryJob(JobEnded):
    """The work is to be tried again. The message is the reason why it fails where no attempt is
    left."""


class FailJob(JobEnded):
    """Trying again would not help. The message says why."""


def works_on(
    jobs: JobQuerySet, together: bool = False
) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Make of a function that does the work of a job one that is called with the job's key.

    1. Claim the job; nothing happens where somebody else has it or there is nothing to do.
    2. Call the function with the job and its claim, while a thread renews the lease.
    3. Write how it ended, where it did not: a function that comes to its end calls ``finish``
       itself, and returns whether it did. The exceptions of this module say how else; any other is
       the job's failure, and so is the end of the task's time.

    Args:
        jobs: The kind of job, and how to read one.
        together: The function gets a list of claims in place of the one. What it adds to it (jobs
            that it works on together with the first) is renewed and ends with it.

    Returns:
        The decorator. What it makes returns whether the job has come to its end.
    """

    def decorate(work: Callable[..., bool]) -> Callable[..., bool]:
        @wraps(work)
        def run(pk: int, *arguments: Any) -> bool:
            claim = jobs.model.objects.claim(pk)
            job = None if claim is None else jobs.filter(pk=pk).first()
            if claim is None or job is None:
                return False
            name, held = f"{job._meta.verbose_name} {pk}", [claim]

            def owned() -> JobQuerySet:
                return jobs.model.objects.owned(*held)

            try:
                with renewing_lease(lambda: bool(owned().renew()), name):
                    return bool(work(job, held if together else claim, *arguments))
            except LeaseLost:
                log.info("%s was stopped, deleted or taken over", name)
            except ReleaseJob:
                owned().release()
            except RetryJob as problem:
                log.info("%s could not be done now", name)
                owned().retry(str(problem))
            except FailJob as problem:
                log.info("%s failed", name)
                owned().fail(str(problem))
            except SoftTimeLimitExceeded:
                owned().fail(took_too_long())
            except (KeyboardInterrupt, SystemExit):
                owned().release()
                raise
            # Whatever goes wrong belongs in the row, where people read it
            except Exception as problem:
                log.exception("%s failed", name)
                owned().fail(f"{type(problem).__name__}: {problem}")
            return False

        return run

    return decorate


def took_too_long() -> str:
    return f"it took longer than {settings.TASK_SECONDS:g} s (DIALEVAL_TASK_SECONDS)"


@contextmanager
def renewing_lease(renew_once: Callable[[], bool], what: str) -> Iterator[None]:
    """Renew the lease from a thread, so that work that is silent for long (a model loading) keeps
    its row.

    ``renew_once`` says whether the row is still ours; ``what`` names it in logs.
    """
    stop = threading.Event()
    is_worker = bool(current_task)  # and no command that computes in its own process

    def renew() -> None:
        while not stop.wait(settings.LEASE_SECONDS / 3):
            try:
                close_old_connections()
                if not renew_once():
                    return
                if is_worker:
                    # with all its processes at work for hours it does no sweep
                    presence.note_own_queues()
            except Exception:
                log.exception("the lease of %s could not be renewed, or its worker not noted", what)
        connection.close()

    # A caller's own transaction (tests, --inline): there is nobody to race with
    if connection.in_atomic_block:
        yield
        return
    thread = threading.Thread(target=renew, daemon=True, name=f"lease of {what}")
    thread.start()
    try:
        yield
    finally:
        stop.set()


def reap_all() -> dict[str, Reaped]:
    """Reap the jobs of every kind. One kind that fails holds up no other.

    Returns:
        What was done, by the kind's label (``workers.MetricRun``).
    """
    reaped = {}
    for kind in kinds_of_jobs():
        try:
            reaped[kind._meta.label] = kind.objects.reap()
        except Exception:
            log.exception("the jobs %s could not be reaped", kind._meta.label)
    return reaped
