"""The end of scoring: no worker owns it. Each metric run that ends, and each sweep, looks whether
it was the last."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef

from common.jobs.notifications import MAX_NOTIFICATIONS
from leaderboard.challenges.actions.ending import end
from leaderboard.challenges.models import LogLine, Round, Submission
from leaderboard.challenges.queries.downloads import hides_references
from leaderboard.challenges.queries.judge_budget import JUDGES
from workers.metrics.common.configuration import Configuration, ConfigurationError, parse
from workers.models import MetricRun
from workers.runs import actions, queries

State = Submission.State
UNDER_WAY = (MetricRun.State.PENDING, MetricRun.State.RUNNING)
NOT_COUNTED = "It is not counted as an attempt."
LONGEST_ERROR_OF_A_METRIC = 300
LONGEST_ERROR = 2000


class UnknownMetric(Exception):
    """The round asks for a metric that is not known here. ``message`` is for organisers: it may
    name a private one."""

    FOR_THE_TEAM = (
        "the round asks for a metric that is not known here; an organiser must fix its settings"
    )

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(self.FOR_THE_TEAM)


def configurations_of(submission: Submission) -> list[Configuration]:
    """What the submission's round asks for now, public and private, each once. Raises
    ``UnknownMetric``."""
    assert submission.round is not None
    found: list[Configuration] = []
    for written in [*submission.round.metrics, *submission.round.private_metrics]:
        try:
            found.append(parse(written))
        except ConfigurationError as problem:
            raise UnknownMetric(str(problem)) from None
    return list(dict.fromkeys(found))


def settle(submission_id: int) -> bool:
    """Score a submission when every metric of its round is computed; fail it when one failed and
    none is under way.

    The metrics are those that the round names at this moment: one that was added meanwhile, or
    whose run was taken back, is asked for. Scores that exist stay, whatever becomes of the
    submission. False where it goes on waiting, or is not being scored at all.
    """
    with transaction.atomic():
        scoring = Submission.objects.filter(pk=submission_id, state=State.SCORING)
        # Locked: the last two runs of a submission may end at once.
        locked = scoring.select_for_update(of=("self",), no_key=True)
        submission = locked.select_related("round", "system").first()
        if submission is None or submission.system is None or submission.round is None:
            return False
        try:
            configurations = configurations_of(submission)
        except UnknownMetric as problem:
            LogLine.write(submission_id, problem.message, "error", for_organisers=True)
            return end(
                scoring, State.FAILED, f"Failed: {problem}. {NOT_COUNTED}", error=str(problem)
            )
        found = list(
            queries.runs_for(configurations, [submission.system]).defer("turn_scores", "undefined")
        )
        if len(found) < len(configurations):
            actions.request(configurations, [submission.system])
            return False
        if any(run.state in UNDER_WAY for run in found):
            return False
        failed = [run for run in found if run.state == MetricRun.State.FAILED]
        if not failed:
            return end(scoring, State.SCORED, "Scored.", error="")
        for run in failed:
            LogLine.write(
                submission_id, f"{run.configuration}: {run.error}", "error", for_organisers=True
            )
        why = _why(failed, submission.round)
        return end(scoring, State.FAILED, f"Failed: {why}. {NOT_COUNTED}", error=why)


def _why(failed: list[MetricRun], round: Round) -> str:
    """For the team: the metrics that it may know of, each with its error, or what is said in its
    place."""
    public = {parse(written).text for written in round.metrics}
    hidden = hides_references(round)
    named = [
        f"{run.configuration} could not be computed{_because(run, hidden)}"
        for run in failed
        if run.configuration in public
    ]
    private = len(failed) - len(named)
    if private:
        named.append(f"{private} of the organisers' own metrics could not be computed")
    return "; ".join(named)[:LONGEST_ERROR]


def _because(run: MetricRun, hidden: bool) -> str:
    """An error may repeat a text that the metric was computed from, so where a round hides the
    corpus's references it stays with organisers. So does that of a judge: budgets and endpoints are
    no matter of teams."""
    if run.queue == JUDGES:
        return (
            " for now: the judge is not at hand, the organisers see why and can have it tried again"
        )
    return "" if hidden else f" ({run.error[:LONGEST_ERROR_OF_A_METRIC]})"


def settle_all() -> int:
    """Settle submissions whose runs have ended, first those without a run under way: hundreds that
    wait for one judge must not hide one that has ended. Returns how many."""
    at_work = [MetricRun.State.PENDING, MetricRun.State.RUNNING]
    under_way = Exists(MetricRun.objects.filter(system=OuterRef("system"), state__in=at_work))
    scoring = Submission.objects.filter(state=State.SCORING).order_by(under_way.asc(), "scoring_at")
    waiting = list(scoring.values_list("pk", flat=True)[:MAX_NOTIFICATIONS])
    return sum(settle(pk) for pk in waiting)
