"""From a submission's row to what becomes of it: claimed, worked on by kind, and whatever goes
wrong written down."""

from __future__ import annotations

import logging

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from annotations.accounts import may_act
from annotations.stored_files import StorageAway
from leaderboard.challenges import validation
from leaderboard.challenges.actions import work
from leaderboard.challenges.actions.finalising import UnknownMetric
from leaderboard.challenges.models import Submission
from workers.jobs import renewing_lease

log = logging.getLogger(__name__)


def process(submission_id: int) -> bool:
    """Claim one submission and do what it asks for. False when there was nothing to do, or nothing
    came of it."""
    claim = work.claim(submission_id)
    if claim is None:
        return False
    submission = Submission.objects.select_related(
        "round__challenge", "team", "version__corpus", "user"
    ).get(pk=submission_id)
    if submission.user is not None and not may_act(submission.user):
        work.fail(claim, "the account that sent it is disabled on this site")
        return False
    try:
        with renewing_lease(lambda: work.keep(claim), f"submission {submission.public_id}"):
            _do(submission, claim)
    except validation.NoLongerOurs:
        log.warning(
            "submission %s was cancelled or taken over by another worker", submission.public_id
        )
        return False
    except UnknownMetric as problem:
        work.log(submission.pk, problem.message, "error", for_organisers=True)
        work.fail(claim, str(problem))
        return False
    except StorageAway:
        work.wait_for_storage(claim)
        return False
    except SoftTimeLimitExceeded:
        work.fail(claim, f"it took longer than {settings.TASK_SECONDS:g} s (DIALEVAL_TASK_SECONDS)")
        return False
    except Exception as problem:
        # What went wrong here is the site's doing, not the team's: its words may name paths or
        # repeat a text.
        log.exception("submission %s failed", submission.public_id)
        work.log(
            submission.pk, f"{type(problem).__name__}: {problem}", "error", for_organisers=True
        )
        work.try_again(claim, "something went wrong on this site; an organiser can read what.")
        return False
    except KeyboardInterrupt:
        work.give_back(claim)
        raise
    return True


def _do(submission: Submission, claim: work.Claim) -> None:
    if submission.kind == Submission.Kind.PROMPT:
        from leaderboard.challenges import generation

        generation.generate(submission, claim)
    elif submission.kind == Submission.Kind.SCORES:
        from leaderboard.challenges import score_intake

        score_intake.take_in(submission, claim)
    else:
        validation.validate(submission, claim)
