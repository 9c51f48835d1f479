"""Who may rate what."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.models.campaign import Campaign, Guidelines, random_seed
from annotations.models import System


def random_token() -> str:
    return secrets.token_urlsafe(24)


class Invitation(models.Model):
    """A link that lets whoever holds it join a campaign, while the account that made it may act."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    token = models.CharField(max_length=40, unique=True, default=random_token)
    note = models.CharField(
        max_length=200, blank=True, help_text="For the organiser: whom it was sent to."
    )
    most_uses = models.PositiveIntegerField(null=True, blank=True)
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="None: made by a command. A link goes with the account that made it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(most_uses__isnull=True) | Q(uses__lte=models.F("most_uses")),
                name="invitation_is_not_used_too_often",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class Participation(models.Model):
    """A person as a rater of a campaign. ``position`` makes the pseudonym; ``seed``, ``start`` this
    rater's order."""

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        EXCLUDED = "excluded", _("excluded")

    class Qualification(models.TextChoices):
        OPEN = "open", _("not yet")
        PASSED = "passed", _("passed")
        FAILED = "failed", _("failed")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="participations")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="participations",
    )
    position = models.PositiveIntegerField(help_text="Order of joining, from 0.")
    seed = models.BigIntegerField(default=random_seed)
    start = models.PositiveIntegerField(
        default=0, help_text="Ordinal of the slot where this rater's order begins."
    )
    cursor = models.PositiveIntegerField(
        default=0,
        help_text="Ordinal where the search for this rater's next slot begins. A hint: it goes all "
        "the way round.",
    )
    offered = models.PositiveIntegerField(
        default=0, help_text="How many items this rater has been given."
    )
    rated = models.PositiveIntegerField(
        default=0,
        help_text="How many items this rater has rated: counting them would take longer with each.",
    )
    invitation = models.ForeignKey(Invitation, null=True, blank=True, on_delete=models.SET_NULL)
    guidelines_read = models.ForeignKey(
        Guidelines, null=True, blank=True, on_delete=models.SET_NULL
    )
    qualification = models.CharField(
        max_length=6, choices=Qualification, default=Qualification.OPEN
    )
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE)
    exclusion_reason = models.CharField(max_length=500, blank=True)
    excluded_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Since then without access, whether or not the ratings count (state).",
    )
    joined_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["campaign", "position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="participation_once"),
            models.UniqueConstraint(
                fields=["campaign", "position"], name="participation_position_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["active", "excluded"]), name="participation_state"
            ),
            models.CheckConstraint(
                condition=Q(qualification__in=["open", "passed", "failed"]),
                name="participation_qualification",
            ),
            models.CheckConstraint(
                condition=Q(state="active")
                | (~Q(exclusion_reason="") & Q(excluded_at__isnull=False)),
                name="exclusion_says_why",
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def takes_part(self) -> bool:
        """Gets work and may send it: neither excluded nor removed."""
        return self.state == self.State.ACTIVE and self.removed_at is None

    @property
    def pseudonym(self) -> str:
        return f"rater {self.position + 1}"


class Conflict(models.Model):
    """A person's stake in a system (the own team's): such a system is never given to this person to
    rate."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conflicts"
    )
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="conflicts")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "system"], name="conflict_once")]

    def __str__(self) -> str:
        return f"{self.user_id} and {self.system_id}"
