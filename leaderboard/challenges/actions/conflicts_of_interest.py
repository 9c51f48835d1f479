"""Nobody rates what their own team handed in: members have a conflict with each of the team's
systems."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from annotations.campaigns.models import Conflict
from annotations.models import System
from leaderboard.challenges.models import Member


def exclude_members_from_rating(team_id: int) -> None:
    """Now, and once more when the transaction is committed: who joins while a system is being
    accepted, and the system that is accepted while somebody joins, do not see each other before."""
    _note_conflicts(team_id)
    transaction.on_commit(partial(_note_conflicts, team_id))


def _note_conflicts(team_id: int) -> None:
    members = list(Member.objects.filter(team=team_id).values_list("user_id", flat=True))
    systems = list(System.objects.filter(submission__team=team_id).values_list("pk", flat=True))
    known = set(
        Conflict.objects.filter(user__in=members, system__in=systems).values_list(
            "user_id", "system_id"
        )
    )
    missing = [
        Conflict(user_id=user, system_id=system)
        for user in members
        for system in systems
        if (user, system) not in known
    ]
    Conflict.objects.bulk_create(missing, ignore_conflicts=True)
