"""Whether a judge at work should stop: nobody wants it any more, its task's time is nearly up, or a
rater waits."""

from __future__ import annotations

import time

from common.jobs import tasks
from workers.judges.core.clients import BillingContext
from workers.judges.core.response_cache import Stopped
from workers.judges.models import Trial
from workers.judges.response_cache import calls_paid_here
from workers.models import MetricRun
from workers.runs.presence import LEAST_SECONDS, LOOK_SECONDS, raters_wait

SHARE_OF_TASK = 0.8
"""Of the longest time of a task: then nothing new is sent, and what is in flight has the rest to
end."""


class Watch:
    """Call it about every second; raises ``Stopped``. Made when the work begins."""

    def __init__(self, billing: BillingContext | None) -> None:
        self.billing = billing
        self.begun_at = time.monotonic()
        self.paid_before = calls_paid_here()
        self.looked_at = 0.0

    def __call__(self) -> None:
        if tasks.used() > SHARE_OF_TASK:
            raise Stopped(
                "the time that a worker may take for one task (DIALEVAL_TASK_SECONDS) is nearly up"
            )
        if not is_wanted(self.billing):
            raise Stopped("the run was stopped, or another worker has it")
        if self._a_rater_waits():
            raise Stopped("it makes way for people who rate")

    def _a_rater_waits(self) -> bool:
        now = time.monotonic()
        has_its_share = now - self.begun_at > LEAST_SECONDS and calls_paid_here() > self.paid_before
        if not tasks.is_within_a_task() or not has_its_share or now - self.looked_at < LOOK_SECONDS:
            return False
        self.looked_at = now
        return raters_wait(LOOK_SECONDS)


def is_wanted(billing: BillingContext | None) -> bool:
    """Whether anything that is paid for is still under way. A script that asks for itself wants
    what it asks."""
    if billing is None:
        return True
    if billing.trial_id is not None:
        return Trial.objects.filter(pk=billing.trial_id, state=Trial.State.RUNNING).exists()
    if not billing.system_ids:
        return True
    runs = MetricRun.objects.filter(
        system__in=billing.system_ids, configuration=billing.configuration
    )
    return runs.filter(state=MetricRun.State.RUNNING).exists()
