"""Challenges with rounds, teams and submissions for tests, as rows; and their way to a score
without any worker."""

from __future__ import annotations

import json
from dataclasses import fields as fields_of
from itertools import count
from typing import Any

from leaderboard.challenges import execution
from leaderboard.challenges.actions.receiving import receive
from leaderboard.challenges.actions.rounds import RoundParams
from leaderboard.challenges.models import Challenge, Member, Round, Submission, Team
from leaderboard.challenges.uploads import Upload, upload_from_bytes
from tests.campaigns.sets import made_user, made_version
from workers.models import MetricRun
from workers.runs import execution as metric_execution

_numbers = count(1)


def small_version(dialogues: int = 3, turns: int = 2, systems: tuple[str, ...] = (), **fields: Any):
    """A private corpus version with references and, unless named, no systems. Dialogues are file-0,
    file-1, …"""
    return made_version(systems, dialogues, turns, **fields)


def open_challenge(slug: str = "", **fields: Any) -> Challenge:
    number = next(_numbers)
    fields = {
        "name": f"Challenge {number}",
        "rules": "One account a person.",
        "state": "open",
        **fields,
    }
    return Challenge.objects.create(slug=slug or f"challenge-{number}", **fields)


def open_round(version: Any = None, challenge: Challenge | None = None, **fields: Any) -> Round:
    """A round without dates, in both tracks, ranked by word_f1, five submissions a day."""
    challenge = challenge or open_challenge()
    number = challenge.rounds.count() + 1
    given = {
        "slug": f"round-{number}",
        "name": f"Round {number}",
        "position": number,
        "tracks": ["gpu", "prompt"],
        "metrics": ["word_f1", "bleu_4"],
        "ranking_metric": "word_f1",
        "daily_limit": 5,
        "total_limit": 100,
        "split_seed": 7,
        **fields,
    }
    return Round.objects.create(challenge=challenge, version=version or small_version(), **given)


def as_requested(round: Round) -> RoundParams:
    """What a round asks now: for changing one thing of it."""
    return RoundParams(**{one.name: getattr(round, one.name) for one in fields_of(RoundParams)})


def team_with_member(challenge: Challenge, username: str = "", name: str = "") -> tuple[Team, Any]:
    """The team and its one member."""
    user = made_user(username or f"member-{next(_numbers)}", "participant")
    team = Team.objects.create(
        challenge=challenge, name=name or f"Team of {user.username}", created_by=user
    )
    Member.objects.create(team=team, challenge=challenge, user=user)
    return team, user


def upload_of(data: bytes, file_name: str = "responses.jsonl") -> Upload:
    return upload_from_bytes(data, file_name)


def good_file(version: Any, answer: str = "I went out by bicycle {turn}.") -> bytes:
    """JSON lines with one response a turn. ``answer`` may hold {turn} and {dialogue}."""
    lines = [
        json.dumps(
            {
                "dialog_id": dialogue.external_id,
                "turn": turn.number,
                "response": answer.replace("{turn}", str(turn.number)).replace(
                    "{dialogue}", dialogue.external_id
                ),
            }
        )
        for dialogue in version.dialogues.order_by("position")
        for turn in dialogue.turns.order_by("number")
    ]
    return ("\n".join(lines) + "\n").encode()


def submit(
    round: Round, team: Team, user: Any = None, data: bytes | None = None, **fields: Any
) -> Submission:
    """Hand in ``data`` (a good file that no other call hands in) for the team, by its first member.
    No worker hears of it in a test with a transaction of its own: see ``taken_in`` and
    ``scored``."""
    user = user or team.members.first().user
    number = next(_numbers)
    given = {"track": "gpu", "name": f"system {number}", "description": "", **fields}
    data = (
        data
        if data is not None
        else good_file(round.version, f"Answer {number} to turn {{turn}} in talk 0.")
    )
    return receive(round, team, user, upload=upload_of(data), **given).submission


def taken_in(submission: Submission) -> Submission:
    """As it is after a worker has looked at it once."""
    execution.process(submission.pk)
    return Submission.objects.get(pk=submission.pk)


def computed(submission: Submission) -> Submission:
    """As it is after workers have computed every run of its system."""
    for pk in MetricRun.objects.filter(system=submission.system, state="pending").values_list(
        "pk", flat=True
    ):
        metric_execution.compute(pk)
    # What the signal does on a commit, which a test may not have
    execution.work.settle(submission.pk)
    return Submission.objects.get(pk=submission.pk)


def scored(round: Round, team: Team, **fields: Any) -> Submission:
    """A submission that went all the way."""
    done = computed(taken_in(submit(round, team, **fields)))
    assert done.state == Submission.State.SCORED, (done.state, done.error, done.problems)
    return done
