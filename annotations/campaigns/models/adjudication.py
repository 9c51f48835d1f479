"""Items whose raters differ: by which rule, and what was decided of each."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotations.campaigns.models.assignment import LONGEST_COMMENT, Assignment, Item
from annotations.campaigns.models.campaign import Campaign
from annotations.campaigns.models.form import FormVersion


class AdjudicationRule(models.Model):
    """Which items of a campaign are adjudicated: those whose scores lie ``points`` apart or more,
    and those whose answers to a nominal question are not all the same."""

    campaign = models.OneToOneField(
        Campaign, on_delete=models.CASCADE, related_name="adjudication_rule"
    )
    points = models.FloatField()
    by_raters = models.BooleanField(
        default=False,
        db_default=False,
        help_text="A further rater of the campaign decides; without it, organisers alone.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(points__gt=0), name="adjudication_points_above_0")
        ]

    def __str__(self) -> str:
        return f"{self.points:g} points in {self.campaign_id}"


class Adjudication(models.Model):
    """The value decided for an item whose raters differ, as a score or as answers to the campaign's
    form; of a pair, as if its first system were shown first. It is no rating: it counts in no mean
    and in no agreement. ``assignment``: of the further rater who gave it; None where an organiser
    did."""

    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="adjudication")
    assignment = models.OneToOneField(
        Assignment, null=True, blank=True, on_delete=models.SET_NULL, related_name="adjudication"
    )
    points = models.FloatField(help_text="Of the rule that asked for it.")
    score = models.PositiveSmallIntegerField(null=True, blank=True)
    form = models.ForeignKey(FormVersion, null=True, blank=True, on_delete=models.PROTECT)
    answers = models.JSONField(null=True, blank=True)
    comment = models.TextField(blank=True, max_length=LONGEST_COMMENT)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["item"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    form__isnull=True,
                    answers__isnull=True,
                    score__isnull=False,
                    score__gte=1,
                    score__lte=5,
                )
                | Q(form__isnull=False, answers__isnull=False, score__isnull=True),
                name="adjudication_is_a_score_or_answers",
            ),
        ]

    def __str__(self) -> str:
        return f"adjudication of {self.item_id}"
