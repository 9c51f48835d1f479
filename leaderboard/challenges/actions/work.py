"""A worker's writes to a submission but for those of every job: report, begin, accept, refuse.
People's are in ``interventions``, the end of scoring in ``finalising``; both are to be had from
here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from annotations.formats.importers.problems import Problem
from annotations.models import CorpusVersion, Response, System
from common.jobs.models import NO_LEASE, Claim
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
from leaderboard.challenges.models import LogLine, Submission
from leaderboard.models import SubmittedMetric
from workers.metrics.common.unicode_folding import folding_report, foldings
from workers.runs import actions

__all__ = [
    "CannotDo",
    "accept",
    "begin_generating",
    "cancel",
    "finish_scores",
    "may_cancel",
    "re_evaluate",
    "refuse",
    "report",
    "retry",
    "settle",
    "wait_for_storage",
]

RESPONSES_A_BATCH = 5_000
LONGEST_SYSTEM_NAME = 200
State = Submission.State


def report(claim: Claim, done: int | None = None, total: int | None = None) -> bool:
    """Renew the lease and report progress. False when the submission is no longer ours: stop
    working on it."""
    changes: dict[str, object] = {}
    if done is not None:
        changes["progress_done"] = done
    if total is not None:
        changes["progress_total"] = total
    return bool(Submission.objects.owned(claim).renew(**changes))


def begin_generating(claim: Claim) -> bool:
    """The prompt is sound; its responses are being written."""
    return bool(
        Submission.objects.owned(claim).update(state=State.GENERATING, generating_at=timezone.now())
    )


def refuse(claim: Claim, problems: Iterable[Problem], more: bool = False) -> bool:
    """The file is invalid: the team reads what is wrong with it and gets the attempt back."""
    report = [{"where": one.where, "field": one.field, "message": one.message} for one in problems]
    count = (
        f"{len(report)} "
        f"{'problem' if len(report) == 1 else 'problems'}{' and more' if more else ''}"
    )
    with transaction.atomic():
        return end(
            Submission.objects.owned(claim),
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
        if not Submission.objects.owned(claim).renew():
            return False
        submission = Submission.objects.select_related("round", "team").get(pk=claim.row_id)
        configurations = configurations_of(submission)
        system = _system_of(submission)
        folded: Counter[str] = Counter()
        count, waiting = 0, _counting_foldings(responses, folded)
        while batch := list(_responses(system, islice(waiting, RESPONSES_A_BATCH))):
            Response.objects.bulk_create(batch)
            count += len(batch)
        Submission.objects.owned(claim).update(
            state=State.SCORING, scoring_at=timezone.now(), system=system, error="", **NO_LEASE
        )
        exclude_members_from_rating(submission.team_id)
        LogLine.write(
            claim.row_id,
            f"Accepted: {count:,} responses. The metrics of the round are being computed.",
        )
        for sentence in folding_report(folded):
            LogLine.write(claim.row_id, sentence)
        actions.request(configurations, [system])
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
    wanted = f"{submission.team.name}: {submission.name}"
    name, number = wanted[:LONGEST_SYSTEM_NAME].rstrip(), 1
    while version.systems.filter(name=name).exists():
        number += 1
        ending = f" ({number})"
        name = wanted[: LONGEST_SYSTEM_NAME - len(ending)].rstrip() + ending
    return System.objects.create(
        version=version,
        position=0 if last is None else last + 1,
        name=name,
        kind=System.Kind.AGENT,
        description=submission.description,
        withheld=True,
    )


def _responses(system: System, pairs: Iterable[tuple[int, str]]) -> Iterator[Response]:
    for turn_id, text in pairs:
        yield Response(system=system, turn_id=turn_id, text=text)


def finish_scores(claim: Claim, store: Callable[[Submission], SubmittedMetric]) -> bool:
    """The file of metric scores is sound: ``store`` writes them, in the transaction that ends the
    submission as scored. False, and nothing stored, when the submission is no longer ours."""
    with transaction.atomic():
        if not Submission.objects.owned(claim).renew():
            return False
        submission = Submission.objects.select_related("version__corpus", "user").get(
            pk=claim.row_id
        )
        metric = store(submission)
        return end(
            Submission.objects.owned(claim),
            State.SCORED,
            f"The scores are stored as {metric.name}.",
            metric=metric,
            error="",
        )


def wait_for_storage(claim: Claim) -> bool:
    """That the storage of files is away is no attempt. Workers are told again, less and less often;
    the log says it once."""
    reason = "The site cannot read its files at the moment. It goes on by itself."
    with transaction.atomic():
        waits = Submission.objects.owned(claim).update(
            state=State.RECEIVED, attempts=F("attempts") - 1, **NO_LEASE
        )
        if waits and not LogLine.objects.filter(submission=claim.row_id, text=reason).exists():
            LogLine.write(claim.row_id, reason, "warning")
    return bool(waits)
