"""How people and programs act as an account beside its password: tokens, and identities that a
provider of OpenID Connect confirms. And which tours a person has seen."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class ApiToken(models.Model):
    """Known by its digest only: the token itself is shown once, when it is made."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token.")
    start = models.CharField(
        max_length=12, help_text="Its first letters, so that one can be told from another."
    )
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["user", "-created_at"]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="token_has_a_name")]

    def __str__(self) -> str:
        return self.name


class LinkedIdentity(models.Model):
    """A person of the provider who logs in as this account."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="linked_identities"
    )
    issuer = models.CharField(max_length=300)
    subject = models.CharField(
        max_length=255, help_text="What the provider calls the person; it never changes."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user", "created_at"]
        verbose_name_plural = "linked identities"
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_has_one_account")
        ]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


class SeenTour(models.Model):
    """A role's first steps, finished or dismissed: they are not shown again."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="seen_tours"
    )
    role = models.CharField(max_length=20)
    seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user", "role"]
        constraints = [models.UniqueConstraint(fields=["user", "role"], name="tour_is_seen_once")]

    def __str__(self) -> str:
        return f"{self.role} of {self.user}"
