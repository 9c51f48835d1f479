"""From a trial's row to its scores: the judge is asked as the metric asks it, so what it answers
here is in the store when the whole corpus is judged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from common.estimates import Undefined
from common.jobs.models import Claim
from common.text import storable
from workers.jobs import FailJob, LeaseLost, ReleaseJob, RetryJob, works_on
from workers.judges import trial_queries
from workers.judges.core.clients import BillingContext
from workers.judges.core.response_cache import BudgetSpent, EndpointFailed, Stopped
from workers.judges.models import Trial
from workers.judges.response_cache import calls_paid_here
from workers.metrics.base import Account, Score
from workers.metrics.common import configuration
from workers.runs import scoring

PROGRESS_SECONDS = 1.0


@works_on(Trial.objects.select_related("version__corpus"))
def compute(trial: Trial, claim: Claim) -> bool:
    """Do one trial. What was answered is kept: where it has to stop, no attempt is used up, unless
    nothing came of this one, for it would go on for ever."""
    paid_before = calls_paid_here()
    try:
        results = _results(trial, claim)
    except Stopped as pause:
        if calls_paid_here() > paid_before:
            raise ReleaseJob from pause
        raise RetryJob(f"it made no progress before it had to stop: {pause}") from pause
    except (BudgetSpent, EndpointFailed) as problem:
        raise FailJob(str(problem)) from problem
    return bool(Trial.objects.owned(claim).finish(results=results, examples_done=len(results)))


def _results(trial: Trial, claim: Claim) -> list[dict[str, Any]]:
    responses = trial_queries.responses_of(trial)
    examples = trial_queries.examples_of(trial, responses)
    scorer = scoring.scorer_of(configuration.parse(trial.configuration).text)
    systems = tuple(sorted({one.system_id for one in responses}))
    scorer.paid_by(BillingContext(trial.version_id, trial.configuration, systems, trial.pk))
    scores = list(scorer.score(examples, _Reporter(claim).progress))
    return results_of(scores, scoring.account_of(scorer))


def results_of(scores: Sequence[Score], account: Account) -> list[dict[str, Any]]:
    """A document for each response: its score or why there is none, what to know of it, how it came
    about."""
    found: list[dict[str, Any]] = []
    for place, score in enumerate(scores):
        is_undefined = isinstance(score, Undefined)
        found.append(
            {
                "score": None if is_undefined else float(score),
                "reason": storable(score.reason) if is_undefined else "",
                "remark": storable(account.remarks.get(place, "")),
                "trace": account.traces.get(place, {}),
            }
        )
    return found


class _Reporter:
    """Writes to the row how many responses are judged, at most once a second, and notices when it
    is not ours."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.last = time.monotonic()

    def progress(self, done: int) -> None:
        if time.monotonic() - self.last < PROGRESS_SECONDS:
            return
        self.last = time.monotonic()
        if not Trial.objects.owned(self.claim).renew(examples_done=done):
            raise LeaseLost
