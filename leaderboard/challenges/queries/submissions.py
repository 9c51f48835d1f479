"""Reads of submissions: a team's list of them, and all that one submission's page says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from common.roles import is_organiser
from leaderboard.challenges.board.answer import SystemScores
from leaderboard.challenges.board.split import PartName
from leaderboard.challenges.models import AT_WORK, LogLine, Round, Submission, Team
from leaderboard.challenges.models.challenge import BOARD
from leaderboard.challenges.queries.board import has_private_board, round_board, sees_private_board
from leaderboard.challenges.queries.board_entries import scores_of_system
from leaderboard.results import look
from workers.metrics.common.configuration import Configuration, ConfigurationError, parse
from workers.models import MetricRun
from workers.runs.queries import runs_for

State, Kind = Submission.State, Submission.Kind
ROWS_SHOWN = 200
"""Of the log; a prompt that is run on hundreds of dialogues may write more."""


def address_of(submission: Submission) -> str:
    """Of its page, whole, as it is sent to others."""
    return settings.SITE_URL + reverse("submission", args=[submission.public_id])


def submissions_of(team: Team, round: Round | None = None) -> list[Submission]:
    """What a team has handed in, to this round or to any, newest first."""
    found = _with_all().filter(team=team)
    return list(found.filter(round=round) if round is not None else found)


def own_submissions(user: Any) -> list[Submission]:
    """What a person's teams have handed in, and the metric scores they sent; newest first. Of
    organisers, too."""
    return list(_with_all().filter(is_own(user)))


def _with_all() -> QuerySet[Submission]:
    heavy = ("problems", "description", "error")
    return Submission.objects.select_related(
        "round__challenge", "team", "user", "version__corpus"
    ).defer(*heavy)


# --- the steps of one submission ------------------------------------------------------------------

Mark = Literal["done", "now", "later", "stopped"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A state on the way to a score. ``mark``: passed, where it is now, still to come, or where it
    ended."""

    state: str
    label: str | Promise
    mark: Mark
    at: datetime | None


LABELS: dict[str, Any] = {
    State.RECEIVED: _("received"),
    State.VALIDATING: _("being checked"),
    State.GENERATING: _("being run"),
    State.SCORING: _("being scored"),
}
PASSED: dict[str, Any] = {
    State.RECEIVED: _("received"),
    State.VALIDATING: _("checked"),
    State.GENERATING: _("run"),
    State.SCORING: _("metrics computed"),
}


def stages_of(submission: Submission) -> list[Stage]:
    """The states that it has passed, is in, and will come to. One that ended without a score stops
    there."""
    path = [State.RECEIVED, State.VALIDATING]
    path += [State.GENERATING] if submission.kind == Kind.PROMPT else []
    path += [State.SCORING] if submission.kind != Kind.SCORES else []
    times = {
        State.RECEIVED: submission.received_at,
        State.VALIDATING: submission.validating_at,
        State.GENERATING: submission.generating_at,
        State.SCORING: submission.scoring_at,
    }
    if submission.ended_at is not None:
        reached = [
            state for state in path if times[state] is not None or submission.state == State.SCORED
        ]
        ended = Stage(
            submission.state,
            submission.get_state_display(),
            "done" if submission.state == State.SCORED else "stopped",
            submission.ended_at,
        )
        # Others ended in the middle of their last stage
        finished = submission.state in (State.SCORED, State.INVALID)
        return [
            *(
                _passed(
                    state, times[state], finished or state != reached[-1] or state == State.RECEIVED
                )
                for state in reached
            ),
            ended,
        ]
    here = path.index(State(submission.state)) if submission.state in path else 0
    stages = [
        _passed(state, times[state], True)
        if place < here
        else Stage(
            state,
            LABELS[state],
            "now" if place == here else "later",
            times[state] if place == here else None,
        )
        for place, state in enumerate(path)
    ]
    return [*stages, Stage(State.SCORED, State.SCORED.label, "later", None)]


def _passed(state: State, at: datetime | None, is_complete: bool) -> Stage:
    return Stage(state, PASSED[state] if is_complete else LABELS[state], "done", at)


# --- how far it is --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    total: int
    of: Literal["rows", "turns", "metrics"]


RunStates = dict[tuple[int, str], str]
"""State by system and configuration."""


def progress_of(submission: Submission, runs: RunStates | None = None) -> Progress | None:
    """None where nothing can be counted: before a worker has it, and after its end. ``runs`` where
    they are read."""
    if submission.state == State.SCORING and submission.system_id is not None:
        states = [state for _, state in metric_states(submission, runs)]
        return Progress(states.count(MetricRun.State.DONE), len(states), "metrics")
    if submission.state in (State.VALIDATING, State.GENERATING) and submission.progress_total:
        of = "turns" if submission.state == State.GENERATING else "rows"
        return Progress(
            min(submission.progress_done, submission.progress_total), submission.progress_total, of
        )
    return None


def metric_states(submission: Submission, runs: RunStates | None = None) -> list[tuple[str, str]]:
    """(metric, state of its run) for the metrics that the round asks for and everybody sees, in its
    order."""
    if submission.system is None or submission.round is None:
        return []
    texts = [one.text for one in _configurations_of(submission.round)]
    states = run_states([submission]) if runs is None else runs
    return [
        (text, states.get((submission.system.pk, text), MetricRun.State.PENDING)) for text in texts
    ]


def run_states(submissions: Iterable[Submission]) -> RunStates:
    """Of the systems of these, by what their rounds ask for and everybody sees: read at once, for a
    list of them."""
    found = [one for one in submissions if one.system is not None and one.round is not None]
    if not found:
        return {}
    rounds = {one.round_id: one.round for one in found}
    configurations = [one for round in rounds.values() for one in _configurations_of(round)]
    runs = runs_for(configurations, [one.system for one in found])
    return {
        (system, text): state
        for system, text, state in runs.values_list("system", "configuration", "state")
    }


def _configurations_of(round: Round) -> list[Configuration]:
    found = []
    for text in round.metrics:
        try:
            found.append(parse(text))
        except ConfigurationError:  # no longer installed
            continue
    return found


def log_of(submission: Submission, viewer: Any) -> list[LogLine]:
    """Oldest first, the last 200; lines for organisers are shown to them alone."""
    lines = (
        submission.log.all()
        if is_organiser(viewer)
        else submission.log.filter(for_organisers=False)
    )
    return list(lines.order_by("-pk")[:ROWS_SHOWN])[::-1]


# --- what came out --------------------------------------------------------------------------------


def parts_of(submission: Submission, viewer: Any) -> list[SystemScores]:
    """The scores on the boards that the viewer may see now; none before it is scored."""
    round, system = submission.round, submission.system
    if submission.state != State.SCORED or system is None or round is None:
        return []
    names: list[PartName] = ["public"]
    if has_private_board(round) and sees_private_board(round, viewer):
        names.append("private")
    return [scores_of_system(round, system, name) for name in names]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where it stands on the public leaderboard. ``rank`` is None with a ``reason`` where it has
    none; ``entries`` are those that have one. ``other`` is the public id of the team's submission
    that stands there in its place, as its best or as its latest. ``is_provisional``: the board is
    still being computed."""

    rank: int | None
    worst_rank: int | None
    reason: str
    entries: int
    other: str = ""
    is_provisional: bool = False
    other_is_best: bool = False


def standing_of(submission: Submission, viewer: Any) -> Standing | None:
    """None before it is scored."""
    if submission.state != State.SCORED or submission.round is None or submission.team is None:
        return None
    board = round_board(submission.round, viewer)
    provisional = board.state in ("waiting", "stale")
    if board.state == "failed" and not board.entries:
        return Standing(None, None, board.reason.rstrip("."), 0)
    ranked = sum(entry.rank is not None for entry in board.entries)
    entry = next((one for one in board.entries if one.submission == submission.public_id), None)
    if entry is not None:
        return Standing(
            entry.rank, entry.worst_rank, entry.reason, ranked, is_provisional=provisional
        )
    # An older board may hold the team's other submission where this one is the better.
    other = ""
    if not provisional:
        competing = (
            one.submission or ""
            for one in board.entries
            if one.team_id == submission.team.public_id
            and not (one.is_baseline or one.disqualified)
        )
        other = next(competing, "")
    # With a reason it counts nothing
    by_score = submission.round.entry == Round.Entry.BEST and not board.reason
    return Standing(None, None, "", ranked, other, provisional, other_is_best=by_score)


def is_at_work(submission: Submission) -> bool:
    return submission.state in AT_WORK


def data_version_of(submission: Submission) -> str:
    """Changes whenever the page of a submission would say something else: a browser that has this
    one needs no more."""
    last_line = submission.log.order_by("-pk").values_list("pk", flat=True).first() or 0
    progress = progress_of(submission)
    done = f"{progress.done}-{progress.total}" if progress else ""
    if submission.state == State.SCORING:
        done += "-" + "".join(state[0] for _, state in metric_states(submission))
    board = ""
    if submission.state == State.SCORED and submission.round is not None:
        # The board tells the place of what is scored
        board = look(submission.round.version, BOARD, round=submission.round.pk, part="public").mark
    return f"{submission.state}.{submission.attempts}.{last_line}.{done}.{submission.calls}.{board}"


def submissions_seen_by(user: Any) -> QuerySet[Submission]:
    """All for organisers; else one's own."""
    found = Submission.objects.select_related(
        "round__challenge", "team", "version__corpus", "user", "system"
    )
    if is_organiser(user):
        return found
    if not user.is_authenticated:
        return found.none()
    return found.filter(is_own(user))


def is_own(user: Any) -> Q:
    """Of submissions: what one's teams handed in, and what one sent oneself that is no team's."""
    return Q(team__members__user=user) | Q(team__isnull=True, user=user)
