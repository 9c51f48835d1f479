"""From a trial's row to its scores: the judge is asked as the metric asks it, so what it answers
here is in the store when the whole corpus is judged."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from annotations.estimates import Undefined
from annotations.importers.texts import storable
from workers import scoring
from workers.claims import Claim
from workers.judges import trial_queries, trials
from workers.judges.models import Trial
from workers.judges.response_cache import calls_paid_here
from workers.judging.judge_client import BillingContext
from workers.judging.response_cache import BudgetSpent, EndpointFailed, Stopped
from workers.leases import renewing_lease
from workers.metrics import configuration as configurations
from workers.metrics.base import Account, Score

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 1.0
LONGEST_ERROR = 2_000


class NoLongerOurs(Exception):
    """The trial was stopped or deleted, or another worker has it: whatever we asked is stored, and
    nobody waits."""


def compute(trial_id: int) -> bool:
    """Claim and do one trial. False when there was nothing to do, or nothing came of it."""
    claim = trials.claim(trial_id)
    if claim is None:
        return False
    trial = Trial.objects.select_related("version__corpus").filter(pk=trial_id).first()
    if trial is None:
        return False
    paid_before = calls_paid_here()
    try:
        with renewing_lease(lambda: trials.keep(claim), f"trial {trial_id}"):
            return trials.finish(claim, _results(trial, claim))
    except NoLongerOurs:
        log.info("trial %s was stopped, deleted or taken over", trial_id)
        return False
    except Stopped as pause:
        _paused(claim, paid_before, pause)
        return False
    except (KeyboardInterrupt, SystemExit):
        trials.give_back(claim)
        raise
    except SoftTimeLimitExceeded:
        _fail(claim, f"it took longer than {settings.TASK_SECONDS:g} s (DIALEVAL_TASK_SECONDS)")
    except (BudgetSpent, EndpointFailed) as problem:
        _fail(claim, str(problem))
    # Whatever goes wrong belongs in the row, where the organiser reads it
    except Exception as problem:
        log.exception("trial %s failed", trial_id)
        _fail(claim, f"{type(problem).__name__}: {problem}")
    return False


def _results(trial: Trial, claim: Claim) -> list[dict[str, Any]]:
    responses = trial_queries.responses_of(trial)
    examples = trial_queries.examples_of(trial, responses)
    scorer = scoring.scorer_of(configurations.parse(trial.configuration).text)
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


def _paused(claim: Claim, paid_before: int, pause: Stopped) -> None:
    """What was answered is kept. No attempt is used up, unless nothing came of this one: it would
    go on for ever."""
    if calls_paid_here() > paid_before:
        trials.give_back(claim)
    elif claim.attempt < settings.MAX_ATTEMPTS:
        trials.wait_again(claim)
    else:
        _fail(claim, f"it made no progress before it had to stop: {pause}")


def _fail(claim: Claim, why: str) -> None:
    """What a spent budget says ends with these words already, in its own way."""
    said = storable(why)[:LONGEST_ERROR].rstrip(". ")
    trials.fail(
        claim, f"{said}." if "What was answered" in said else f"{said}. {trials.NOTHING_LOST}"
    )


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
        if not trials.keep(self.claim, examples_done=done):
            raise NoLongerOurs
