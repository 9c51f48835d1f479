"""Rows as the documents of ``schemas``, for one caller."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from annotations.corpora.queries import visible_corpora
from common.api.schemas import Paging, page_of
from leaderboard.challenges.access import team_of
from leaderboard.challenges.actions.work import may_cancel
from leaderboard.challenges.models import Challenge, LogLine, Round, Submission, Team, Track
from leaderboard.challenges.phase import is_released, phase_of
from leaderboard.challenges.queries import submissions as submission_queries
from leaderboard.challenges.queries.attempts import attempts_left
from leaderboard.challenges.queries.board import RoundBoard, sees_private_board
from leaderboard.challenges.queries.challenges import (
    leader_of,
    members_of,
    size_of,
    why_no_invitation,
)
from leaderboard.results.kinds import json_form


def challenge_row(challenge: Challenge) -> dict[str, Any]:
    """``challenge`` carries ``team_count``."""
    return {
        **{
            name: getattr(challenge, name)
            for name in ("slug", "name", "summary", "state", "created_at")
        },
        "teams": challenge.team_count,
    }


def challenge_document(challenge: Challenge, user: Any) -> dict[str, Any]:
    team = team_of(user, challenge)
    rounds = challenge.rounds.select_related("version__corpus", "challenge")
    return {
        **challenge_row(challenge),
        "rules": challenge.rules,
        "largest_team": challenge.largest_team,
        "rounds": [round_document(round, user, team) for round in rounds],
        "team": team_document(team, challenge) if team else None,
    }


def team_document(team: Team, challenge: Challenge) -> dict[str, Any]:
    leader = leader_of(team)
    invitation = None if why_no_invitation(team) else team.invitation
    return {
        "id": team.public_id,
        "name": team.name,
        "challenge": challenge.slug,
        "members": [member.user.get_username() for member in members_of(team)],
        "leader": leader.user.get_username() if leader else None,
        "largest": challenge.largest_team,
        "invitation": invitation,
        "invitation_url": settings.SITE_URL + reverse("team-join", args=[invitation])
        if invitation
        else None,
        "invitation_expires_at": team.invitation_expires_at if invitation else None,
        "disqualified": _disqualification(team.disqualified_at, team.disqualification),
    }


def _disqualification(at: datetime | None, reason: str) -> dict[str, Any] | None:
    return {"at": at, "reason": reason} if at is not None else None


PROMPT_LIMITS = ("calls_per_utterance", "input_tokens_per_dialogue", "output_tokens_per_dialogue")
SAME = (
    "slug",
    "name",
    "opens_at",
    "closes_at",
    "tracks",
    "references",
    "daily_limit",
    "total_limit",
    "metrics",
    "ranking_metric",
    "entry",
    "public_share",
    "release_at",
)


def round_document(round: Round, user: Any, team: Team | None) -> dict[str, Any]:
    """``round`` carries its challenge and its version's corpus."""
    now = timezone.now()
    sees_corpus = visible_corpora(user).filter(pk=round.version.corpus_id).exists()
    dialogues, turns = size_of(round)
    return {
        **{name: getattr(round, name) for name in SAME},
        "phase": phase_of(round.opens_at, round.closes_at, round.challenge.state, now),
        "corpus": round.version.corpus.slug if sees_corpus else None,
        "corpus_version": round.version.label if sees_corpus else None,
        "dialogues": dialogues,
        "turns": turns,
        "private_metrics": round.private_metrics if sees_private_board(round, user, now) else None,
        "is_released": is_released(round.release_at, now),
        "prompt": {name: getattr(round, name) for name in PROMPT_LIMITS}
        if Track.PROMPT in round.tracks
        else None,
        "attempts": attempts_document(round, team),
    }


def attempts_document(round: Round | None, team: Team | None) -> dict[str, Any] | None:
    if round is None or team is None:
        return None
    left = attempts_left(round, team, timezone.now())
    return {name: getattr(left, name) for name in left.__slots__}


# --- submissions ----------------------------------------------------------------------------------


def submission_page(rows: QuerySet[Submission], paging: Paging) -> dict[str, Any]:
    """Newest first. What the runs of those at scoring are at is read for the whole page, not for
    each."""
    page = page_of(rows, "-pk", paging, lambda submission: submission)
    submissions: list[Submission] = page["items"]
    at_scoring = (one for one in submissions if one.state == Submission.State.SCORING)
    runs = submission_queries.run_states(at_scoring)
    lines = [submission_row(one, submission_queries.progress_of(one, runs)) for one in submissions]
    return {**page, "items": lines}


def submission_row(
    submission: Submission, progress: submission_queries.Progress | None
) -> dict[str, Any]:
    round, team = submission.round, submission.team
    return {
        "id": submission.public_id,
        "kind": submission.kind,
        "track": submission.track or None,
        "challenge": round.challenge.slug if round else None,
        "round": round.slug if round else None,
        "team": team.name if team else None,
        "corpus": None if round else submission.version.corpus.slug,
        "name": submission.name,
        "state": submission.state,
        "times": {
            name: getattr(submission, name)
            for name in ("received_at", "validating_at", "generating_at", "scoring_at", "ended_at")
        },
        "progress": {"done": progress.done, "total": progress.total}
        if progress
        else _whole(submission),
        "error": submission.error,
        "url": submission_queries.address_of(submission),
    }


def _whole(submission: Submission) -> dict[str, int]:
    """Where nothing is counted: before a worker has it, and after its end."""
    done = 1 if submission.state == Submission.State.SCORED else 0
    return {"done": done, "total": done}


def submission_document(submission: Submission, user: Any) -> dict[str, Any]:
    standing = submission_queries.standing_of(submission, user)
    is_prompt = submission.kind == Submission.Kind.PROMPT
    return {
        **submission_row(submission, submission_queries.progress_of(submission)),
        "description": submission.description,
        "file": {
            "name": submission.file_name,
            "size": submission.size,
            "sha256": submission.sha256,
        },
        "problems": [
            {name: str(problem.get(name, "")) for name in ("where", "field", "message")}
            for problem in submission.problems
        ],
        "more_problems": submission.more_problems,
        "scores": own_scores(submission, user),
        "rank": standing.rank if standing else None,
        "rank_reason": _why_no_rank(standing) if submission.round_id else METRIC_SCORES,
        "is_settling": standing is not None and standing.is_provisional,
        "attempts": attempts_document(submission.round, submission.team),
        "usage": {
            "calls": submission.calls,
            "input_tokens": submission.input_tokens,
            "output_tokens": submission.output_tokens,
            "cost": float(submission.cost) if submission.cost is not None else None,
        }
        if is_prompt
        else None,
        "is_baseline": submission.is_baseline,
        "disqualified": _disqualification(submission.disqualified_at, submission.disqualification),
        "may_cancel": may_cancel(submission, user),
    }


def board_document(board: RoundBoard) -> dict[str, Any]:
    """``board``: computed, or not released to this person."""
    round = board.round
    document: dict[str, Any] = {"reason": board.reason, "metrics": [], "entries": []}
    if board.answer is not None:
        document = json_form(board.answer)
    entries = zip(document["entries"], board.entries, strict=True)
    return {
        **document,
        "challenge": round.challenge.slug,
        "round": round.slug,
        "name": round.name,
        "part": board.part,
        "phase": board.phase,
        "closes_at": round.closes_at,
        "release_at": round.release_at,
        "is_released": board.is_released,
        "unreleased": board.unreleased,
        "ranking_metric": round.ranking_metric,
        "entry": round.entry,
        "public_share": round.public_share,
        "entries": [{**written, "own": board.is_own(entry)} for written, entry in entries],
        "updated": board.updated,
        "stale": board.state != "present",
    }


def own_scores(submission: Submission, user: Any) -> list[dict[str, Any]]:
    """Its means on the boards that this person may see; never a turn's."""
    return [
        {
            "metric": column.metric,
            "part": part.name,
            "higher_is_better": column.higher_is_better,
            "value": score.mean.value,
            "ci": score.mean.ci,
            "reason": None if score.mean.is_defined else score.mean.reason or None,
            "ci_reason": score.mean.reason or None if score.mean.is_defined else None,
        }
        for part in submission_queries.parts_of(submission, user)
        for column, score in part.by_metric()
    ]


METRIC_SCORES = "a metric's scores have no rank"


def _why_no_rank(standing: submission_queries.Standing | None) -> str | None:
    if standing is None:
        return "it is not scored"
    if standing.rank is not None:
        return None
    if standing.other:
        return f"submission {standing.other} counts for the team"
    if standing.is_provisional:
        return "the board is being computed"
    return standing.reason or "it is not on the board"


def log_document(line: LogLine) -> dict[str, Any]:
    return {
        "at": line.at,
        "level": line.level,
        "text": line.text,
        "for_organisers": line.for_organisers,
    }
