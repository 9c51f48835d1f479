"""From a submission's row to what becomes of it: claimed, worked on by kind, and whatever goes
wrong written down."""

from __future__ import annotations

import logging

from billiard.exceptions import SoftTimeLimitExceeded

from annotations.accounts import may_act
from common.jobs.models import Claim
from common.storage import StorageAway
from leaderboard.challenges import validation
from leaderboard.challenges.actions import work
from leaderboard.challenges.actions.finalising import UnknownMetric
from leaderboard.challenges.models import LogLine, Submission
from workers.jobs import FailJob, JobEnded, RetryJob, works_on

log = logging.getLogger(__name__)


@works_on(Submission.objects.select_related("round__challenge", "team", "version__corpus", "user"))
def process(submission: Submission, claim: Claim) -> bool:
    """Do what one submission asks for."""
    if submission.user is not None and not may_act(submission.user):
        raise FailJob("the account that sent it is disabled on this site")
    try:
        if submission.kind == Submission.Kind.PROMPT:
            from leaderboard.challenges import generation

            generation.generate(submission, claim)
        elif submission.kind == Submission.Kind.SCORES:
            from leaderboard.challenges import score_intake

            score_intake.take_in(submission, claim)
        else:
            validation.validate(submission, claim)
    except (JobEnded, SoftTimeLimitExceeded):
        raise
    except UnknownMetric as problem:
        LogLine.write(submission.pk, problem.message, "error", for_organisers=True)
        raise FailJob(str(problem)) from problem
    except StorageAway:
        work.wait_for_storage(claim)
        return False
    except Exception as problem:
        # What went wrong here is the site's doing, not the team's: its words may name paths or
        # repeat a text.
        log.exception("submission %s failed", submission.public_id)
        LogLine.write(
            submission.pk, f"{type(problem).__name__}: {problem}", "error", for_organisers=True
        )
        raise RetryJob(
            "something went wrong on this site; an organiser can read what."
        ) from problem
    return True
