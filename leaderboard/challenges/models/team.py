"""Teams: who hands in together."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from leaderboard.challenges.models.challenge import Challenge, public_id

INVITATION_DAYS = 14


def invitation_token() -> str:
    return secrets.token_urlsafe(24)


def invitation_expiry() -> datetime:
    return timezone.now() + timedelta(days=INVITATION_DAYS)


class Team(models.Model):
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="teams")
    public_id = models.CharField(max_length=24, unique=True, default=public_id)
    name = models.CharField(max_length=80)
    invitation = models.CharField(
        max_length=40,
        unique=True,
        null=True,
        blank=True,
        default=invitation_token,
        help_text="In the link that lets members in; null where it was revoked.",
    )
    invitation_expires_at = models.DateTimeField(null=True, blank=True, default=invitation_expiry)
    disqualified_at = models.DateTimeField(null=True, blank=True)
    disqualification = models.CharField(
        max_length=500, blank=True, help_text="The reason; the team reads it."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["challenge", "name"]
        constraints = [
            models.UniqueConstraint("challenge", Lower("name"), name="team_name_once"),
            models.CheckConstraint(
                condition=Q(disqualified_at__isnull=True) | ~Q(disqualification=""),
                name="team_disqualified_with_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Member(models.Model):
    """A person in a team. ``challenge`` is the team's: one person is in one team of a challenge."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["team", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["challenge", "user"], name="one_team_of_a_challenge")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.team_id}"


class Ban(models.Model):
    """A person whom an organiser has banned from a challenge: no team of it takes this person in.
    Nobody is banned and a member: both are written under the lock of the challenge's row."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="bans")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="challenge_bans"
    )
    reason = models.CharField(max_length=500, help_text="For organisers.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["challenge", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["challenge", "user"], name="banned_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="ban_says_why"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} banned from {self.challenge_id}"
