"""Thin: a message says which row to look at."""

from __future__ import annotations

from annotations import orphans
from common.jobs.tasks import row_task
from workers import imports
from workers.chats import execution as answering
from workers.jobs import reap_all
from workers.models import MetricRun
from workers.runs import execution, presence
from workers.runs.presence import LOOK_SECONDS, waiting_answers
from workers.signals import run_begins


@row_task
def compute(run_id: int) -> None:
    """A judge's run that made way is behind its siblings in the queue, and so is the chat for which
    it did: each of them would have its share first. So who waits is answered before a judge
    begins."""
    if MetricRun.objects.filter(pk=run_id, queue="llm").exists():
        for message_id in waiting_answers(LOOK_SECONDS):
            answering.answer(message_id)
    run_begins.send_robust(sender=MetricRun, run_id=run_id)
    execution.compute(run_id)


@row_task
def reply(message_id: int) -> None:
    answering.answer(message_id)


@row_task
def import_corpus(import_id: int) -> None:
    imports.store(import_id)


@row_task
def sweep() -> None:
    presence.note_own_queues()
    reap_all()
    orphans.collect_if_due()
