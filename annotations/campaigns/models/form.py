"""The questions that a campaign asks, where they are data: each version of its form."""

from __future__ import annotations

import threading
from typing import Any

from cachetools import LRUCache, cached
from django.db import models
from django.db.models import Q

from annotations.campaigns.models.campaign import Campaign
from annotations.questions.reading import form_of
from annotations.questions.schema import Form

FORMS_IN_MEMORY = 64
"""Parsed, in each process."""


class FormVersion(models.Model):
    """One version of a campaign's form (``annotations.questions``). While the campaign is a draft
    there is one, and it may change; after that a changed form is a new row, and a rating names the
    row that it answers."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="form_versions", db_index=False
    )
    number = models.PositiveIntegerField()
    schema = models.JSONField(help_text="The questions, as annotations.questions.schema has them.")
    digest = models.CharField(max_length=64, help_text="Of the schema: the same form again.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="form_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="form_number_from_1"),
            models.CheckConstraint(condition=~Q(digest=""), name="form_has_a_digest"),
        ]

    def __str__(self) -> str:
        return f"form {self.number} of {self.campaign_id}"

    def parsed(self) -> Form:
        """What it asks. Parsed once per process: the same object for everybody, who cannot change
        it."""
        return _parsed((self.digest, self.schema.get("version")), self.schema)


@cached(LRUCache(FORMS_IN_MEMORY), key=lambda version, _: version, lock=threading.Lock())
def _parsed(_version: tuple[str, Any], schema: dict[str, Any]) -> Form:
    return form_of(schema)
