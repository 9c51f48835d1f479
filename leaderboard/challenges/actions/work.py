"""A worker's writes to a submission: claim, keep, begin, accept, refuse, fail, give back. People's
are in ``interventions``, the end of scoring in ``settling``; both are to be had from here.

How a worker owns a submission for a while: ``workers.claims``. Who was cancelled lost it, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from annotations.importers.problems import Problem
from annotations.importers.texts import storable
from annotations.models import CorpusVersion, Response, System
from leaderboard.challenges.actions.conflicts_of_interest import exclude_members_from_rating
from leaderboard.challenges.actions.ending import end
from leaderboard.challenges.actions.finalising import configurations_of, settle
from leaderboard.challenges.actions.interventions import (
    CannotDo,
    cancel,
    may_cancel,
    re_evaluate,
    retry,
)
from leaderboard.challenges.actions.maintenance import Swept, sweep
from leaderboard.challenges.actions.telling import log, notify_on_commit, send_hints
from leaderboard.challenges.models import OWNED, LogLine, Submission
from leaderboard.models import SubmittedMetric
from workers import claims, runs
from workers.claims import NO_OWNER, WAITS_ANEW, Claim
from workers.metrics.unicode_folding import folding_report, foldings

__all__ = [
    "CannotDo",
    "Claim",
    "Swept",
    "accept",
    "begin_generating",
    "cancel",
    "claim",
    "fail",
    "finish_scores",
    "give_back",
    "keep",
    "log",
    "may_cancel",
    "notify_on_commit",
    "re_evaluate",
    "refuse",
    "retry",
    "send_hints",
    "settle",
    "sweep",
    "try_again",
    "wait_for_storage",
]

RESPONSES_A_BATCH = 5_000
LONGEST_SYSTEM_NAME = 200
State = Submission.State


def claim(submission_id: int) -> Claim | None:
    """Take a submission that was received, or whose worker fell silent. None when somebody else has
    it or it ended."""
    submissions = Submission.objects.filter(attempts__lt=settings.MAX_ATTEMPTS)
    begun = {
        "state": State.VALIDATING,
        "validating_at": timezone.now(),
        "progress_done": 0,
        "progress_total": 0,
    }
    with transaction.atomic():
        claim = claims.take(submissions, submission_id, Q(state=State.RECEIVED), OWNED, **begun)
        if claim is not None:
            _log_reading(claim)
    return claim


def _log_reading(claim: Claim) -> None:
    if claim.attempt > 1:
        log(claim.row_id, f"Reading the file, attempt {claim.attempt}.")
    elif Submission.objects.filter(pk=claim.row_id, generating_at=None).exists():
        # Else a prompt's run that was paused goes on, which its log says
        log(claim.row_id, "Reading the file.")


def keep(claim: Claim, done: int | None = None, total: int | None = None) -> bool:
    """Renew the lease and report progress. False when the submission is no longer ours: stop
    working on it."""
    changes: dict[str, object] = {}
    if done is not None:
        changes["progress_done"] = done
    if total is not None:
        changes["progress_total"] = total
    return claims.keep(_owned(claim), **changes)


def begin_generating(claim: Claim) -> bool:
    """The prompt is sound; its responses are being written."""
    return bool(_owned(claim).update(state=State.GENERATING, generating_at=timezone.now()))


def refuse(claim: Claim, problems: Iterable[Problem], more: bool = False) -> bool:
    """The file is invalid: the team reads what is wrong with it and gets the attempt back."""
    report = [{"where": one.where, "field": one.field, "message": one.message} for one in problems]
    count = (
        f"{len(report)} "
        f"{'problem' if len(report) == 1 else 'problems'}{' and more' if more else ''}"
    )
    with transaction.atomic():
        return end(
            _owned(claim),
            State.INVALID,
            f"Invalid: {count}. It is not counted as an attempt.",
            problems=report,
            more_problems=more,
        )


def accept(claim: Claim, responses: Iterable[tuple[int, str]]) -> bool:
    """The responses (primary key of the turn, text) become a system of the round's corpus version,
    withheld from its pages, and every metric of the round is asked for. The team reads which
    characters of them metrics read as others. All of it in one transaction: a worker that dies
    leaves nothing.

    False, and nothing stored, when the submission is no longer ours. Raises ``UnknownMetric`` where
    the round names a metric that is not known here.
    """
    with transaction.atomic():
        # Holds the row: nobody cancels or takes it over while its responses are stored
        if not keep(claim):
            return False
        submission = Submission.objects.select_related("round", "team").get(pk=claim.row_id)
        configurations = configurations_of(submission)
        system = _system_of(submission)
        folded: Counter[str] = Counter()
        count = _store_responses(system, _counting_foldings(responses, folded))
        _owned(claim).update(
            state=State.SCORING, scoring_at=timezone.now(), system=system, error="", **NO_OWNER
        )
        exclude_members_from_rating(submission.team_id)
        log(
            claim.row_id,
            f"Accepted: {count:,} responses. The metrics of the round are being computed.",
        )
        for sentence in folding_report(folded):
            log(claim.row_id, sentence)
        runs.request(configurations, [system])
    settle(claim.row_id)  # a round without metrics has nothing to wait for
    return True


def _counting_foldings(
    responses: Iterable[tuple[int, str]], counts: Counter[str]
) -> Iterator[tuple[int, str]]:
    for turn, text in responses:
        counts.update(foldings(text))
        yield turn, text


def _system_of(submission: Submission) -> System:
    """Positions and names are found under a lock of the version: two submissions may be accepted at
    once."""
    assert submission.team is not None
    version = CorpusVersion.objects.select_for_update(no_key=True).get(pk=submission.version_id)
    last = version.systems.aggregate(last=Max("position"))["last"]
    return System.objects.create(
        version=version,
        position=0 if last is None else last + 1,
        name=_free_name(version, f"{submission.team.name}: {submission.name}"),
        kind=System.Kind.AGENT,
        description=submission.description,
        withheld=True,
    )


def _free_name(version: CorpusVersion, wanted: str) -> str:
    """``wanted``, or the first of ``wanted (2)``, ``wanted (3)``, … that no system of the version
    has."""
    name, number = wanted[:LONGEST_SYSTEM_NAME].rstrip(), 1
    while version.systems.filter(name=name).exists():
        number += 1
        ending = f" ({number})"
        name = wanted[: LONGEST_SYSTEM_NAME - len(ending)].rstrip() + ending
    return name


def _store_responses(system: System, responses: Iterable[tuple[int, str]]) -> int:
    count, waiting = 0, iter(responses)
    while batch := list(_responses(system, islice(waiting, RESPONSES_A_BATCH))):
        Response.objects.bulk_create(batch)
        count += len(batch)
    return count


def _responses(system: System, pairs: Iterable[tuple[int, str]]) -> Iterator[Response]:
    for turn_id, text in pairs:
        yield Response(system=system, turn_id=turn_id, text=text)


def finish_scores(claim: Claim, store: Callable[[Submission], SubmittedMetric]) -> bool:
    """The file of metric scores is sound: ``store`` writes them, in the transaction that ends the
    submission as scored. False, and nothing stored, when the submission is no longer ours."""
    with transaction.atomic():
        if not keep(claim):
            return False
        submission = Submission.objects.select_related("version__corpus", "user").get(
            pk=claim.row_id
        )
        metric = store(submission)
        return end(
            _owned(claim),
            State.SCORED,
            f"The scores are stored as {metric.name}.",
            metric=metric,
            error="",
        )


def fail(claim: Claim, error: str) -> bool:
    """Give up. ``error`` is for the team to read: it names no path, no machine and nothing of a
    hidden round."""
    words = _reason(error)
    with transaction.atomic():
        return end(
            _owned(claim),
            State.FAILED,
            f"Failed: {words}. It is not counted as an attempt.",
            error=words,
        )


def try_again(claim: Claim, error: str) -> bool:
    """Another attempt, as long as there are attempts left; else ``fail``."""
    if claim.attempt >= settings.MAX_ATTEMPTS:
        return fail(claim, error)
    with transaction.atomic():
        waits = _owned(claim).update(state=State.RECEIVED, **WAITS_ANEW)
        if waits:
            said = storable(error)
            log(
                claim.row_id,
                f"Attempt {claim.attempt} of {settings.MAX_ATTEMPTS} failed: {said}",
                "warning",
            )
            submission = Submission.objects.get(pk=claim.row_id)
            notify_on_commit(submission)
    return bool(waits)


def give_back(claim: Claim) -> bool:
    """Leave a submission to whoever takes it next, as if it had not been begun."""
    return claims.give_back(_owned(claim), State.RECEIVED)


def wait_for_storage(claim: Claim) -> bool:
    """That the storage of files is away is no attempt. Workers are told again, less and less often;
    the log says it once."""
    said = "The site cannot read its files at the moment. It goes on by itself."
    with transaction.atomic():
        waits = _owned(claim).update(state=State.RECEIVED, attempts=F("attempts") - 1, **NO_OWNER)
        if waits and not LogLine.objects.filter(submission=claim.row_id, text=said).exists():
            log(claim.row_id, said, "warning")
    return bool(waits)


def _owned(claim: Claim) -> QuerySet[Submission]:
    return Submission.objects.filter(pk=claim.row_id, state__in=OWNED, lease_token=claim.token)


def _reason(words: str) -> str:
    return storable(words).strip().rstrip(".")[:2000] or "no reason was given"
