"""What a campaign's ratings were found to say, look by look, and how its next ones are spread."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotations.campaigns.models.campaign import Campaign
from annotations.campaigns.plan.evidence import LOOKS


class Look(models.Model):
    """After each twentieth of the ratings: whether the target is met, and with which probabilities
    systems are drawn from now on. Rows stay: they say of every draw where its probability came
    from. The latest one holds."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="looks", db_index=False
    )
    number = models.PositiveSmallIntegerField(
        help_text="How many twentieths of the ratings were there, 1 to 20."
    )
    ratings = models.PositiveIntegerField(help_text="Those that counted.")
    pairs = models.PositiveIntegerField(help_text="Of systems.")
    separated = models.PositiveIntegerField(help_text="Pairs that are told apart.")
    widest = models.FloatField(
        null=True, blank=True, help_text="Of the systems' intervals, from end to end."
    )
    ratings_left = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Until the target, if nothing changes; None where the campaign has too few.",
    )
    systems = models.JSONField(
        default=list,
        help_text="[{system, ratings, mean, half_width, weight}]: key of the system; None: not "
        "known.",
    )
    chances = models.JSONField(
        null=True,
        blank=True,
        help_text="Of pairs that are chosen adaptively: [[system, second system, probability]].",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="look_once"),
            models.CheckConstraint(
                condition=Q(number__gte=1, number__lte=LOOKS), name="look_number"
            ),
            models.CheckConstraint(
                condition=Q(separated__lte=models.F("pairs")), name="look_pairs"
            ),
        ]

    def __str__(self) -> str:
        return f"look {self.number} at {self.campaign_id}"
