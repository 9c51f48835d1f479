"""A campaign and its guidelines."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Literal

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.scale import (
    HIGHEST_RATING_WIDTH,
    HIGHEST_WIDTH,
    default_axes,
    default_labels,
)
from annotations.models import CorpusVersion, System

MOST_RATERS_PER_ITEM = 50


def random_seed() -> int:
    return secrets.randbelow(2**31)


PAIRED = ("pair", "dialogue_pair")
"""Kinds of campaigns whose items are pairs of two systems."""
COMPARED = (*PAIRED, "systems")
"""Kinds of campaigns whose results are preferences between systems."""


class PresentCampaigns(models.Manager["Campaign"]):
    """All but those whose rows are being removed, step by step (``setup.delete``): they are in
    no list and under no address."""

    def get_queryset(self) -> models.QuerySet[Campaign]:
        return super().get_queryset().filter(is_removed=False)


class Campaign(models.Model):
    """A rating task on one corpus version, or the writing of new dialogues by pairs of raters.

    What is asked is settled when the campaign opens: from then on its items and slots exist and its
    level, systems, scale, axes and k stay as they are. Guidelines and form may get a new version,
    dates may move.
    """

    class Kind(models.TextChoices):
        TURN = "turn", _("responses, one at a time")
        DIALOGUE = "dialogue", _("a system's responses in a whole dialogue")
        PAIR = "pair", _("two responses, side by side")
        DIALOGUE_PAIR = (
            "dialogue_pair",
            _("two systems' responses in a whole dialogue, side by side"),
        )
        SYSTEMS = "systems", _("all systems' responses, ranked")
        INTERACTIVE = "interactive", _("a chat with a system, then its rating")
        COLLECTION = "collection", _("new dialogues between two raters")

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    class Allocation(models.TextChoices):
        UNIFORM = "uniform", _("evenly")
        ADAPTIVE = "adaptive", _("where the order of systems is least sure")

    class Target(models.TextChoices):
        NONE = "none", _("all ratings")
        PAIRS = "pairs", _("until enough pairs of systems are told apart")
        WIDTH = "width", _("until every system's interval is narrow enough")

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=16, choices=Kind)
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    version = models.ForeignKey(
        CorpusVersion,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="campaigns",
        help_text="What is rated; of a chat, the dialogues whose personas are played. Collections "
        "have none.",
    )
    systems = models.ManyToManyField(System, blank=True, related_name="campaigns")
    chat_systems = models.ManyToManyField(
        "campaigns.ChatSystem", blank=True, related_name="campaigns"
    )
    scale_labels = models.JSONField(default=default_labels, help_text="What 1, 2, 3, 4 and 5 mean.")
    axes = models.JSONField(default=default_axes, help_text="[{key, name, question}, …]")
    axes_below = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Axes are asked for scores below this; never where it is empty.",
    )
    form = models.ForeignKey(
        "campaigns.FormVersion",
        null=True,
        blank=True,
        on_delete=models.RESTRICT,
        related_name="+",
        help_text="The version of its form that raters answer now. Empty: the scale and the axes.",
    )
    raters_per_item = models.PositiveSmallIntegerField(
        default=2, validators=[MinValueValidator(1), MaxValueValidator(MOST_RATERS_PER_ITEM)]
    )
    dialogues_per_system = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="How many dialogues are drawn; all where it is empty. Of a collection: how many "
        "are wanted.",
    )
    pairs = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="How many pairs are drawn, so that they connect all systems; all where it is "
        "empty.",
    )
    budget = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="How many comparisons are made at most; of all pairs where it is empty.",
    )
    utterances = models.PositiveSmallIntegerField(
        default=14,
        help_text="Of a chat or a collected dialogue, both speakers together: how many it has at "
        "most.",
    )
    seed = models.BigIntegerField(
        default=random_seed, help_text="Draws the dialogues and the order of slots."
    )
    groups = models.ManyToManyField(
        Group, blank=True, help_text="Whose members may rate without an invitation."
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    pass_mark = models.FloatField(
        null=True,
        blank=True,
        help_text="Share of training items that must be within their range, 0 to 1.",
    )
    attention_every = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="One item in so many, on average, is an attention check."
    )
    simulated = models.BooleanField(default=False, help_text="Its raters are programs.")
    allocation = models.CharField(
        max_length=8,
        choices=Allocation,
        default=Allocation.UNIFORM,
        help_text="How ratings are spread over systems.",
    )
    target = models.CharField(
        max_length=5, choices=Target, default=Target.NONE, help_text="When enough is known."
    )
    target_value = models.FloatField(
        null=True,
        blank=True,
        help_text="Of pairs: how many percent of them. Of a width: points of the scale, or of the "
        "rating.",
    )
    target_met_at = models.DateTimeField(null=True, blank=True)
    past_target = models.BooleanField(
        default=False, help_text="It goes on to all ratings, target or not."
    )
    published_aspect = models.CharField(
        max_length=100,
        blank=True,
        help_text="Under which aspect its ratings stand among the corpus's human scores.",
    )
    published_at = models.DateTimeField(null=True, blank=True)
    publication = models.JSONField(
        default=dict,
        blank=True,
        help_text="What its publication changed in the corpus version, to be undone.",
    )
    changes = models.PositiveIntegerField(
        default=0,
        help_text="Counts what changes its statistics other than ratings: a rater excluded or "
        "taken back.",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    is_removed = models.BooleanField(default=False, db_default=False)
    lease_token = models.CharField(max_length=32, blank=True, default="", db_default="")
    lease_expires_at = models.DateTimeField(
        null=True, blank=True, help_text="Of the process that opens or removes it (staging)."
    )

    objects = PresentCampaigns()

    class Meta:
        ordering = ["-created_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["turn", "dialogue", "interactive", "collection", *COMPARED]),
                name="campaign_kind",
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=COMPARED) | Q(state="draft") | Q(form__isnull=False),
                name="campaign_of_pairs_asks_a_form",
            ),
            models.CheckConstraint(
                condition=Q(pairs__isnull=True) | Q(kind__in=PAIRED, pairs__gte=1),
                name="campaign_pairs",
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(kind__in=PAIRED, budget__gte=1),
                name="campaign_budget",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "open", "paused", "closed"]), name="campaign_state"
            ),
            models.CheckConstraint(
                condition=Q(kind="collection", version__isnull=True)
                | (~Q(kind="collection") & Q(version__isnull=False)),
                name="campaign_is_of_a_corpus_version_unless_it_collects",
            ),
            models.CheckConstraint(
                condition=Q(raters_per_item__gte=1, raters_per_item__lte=MOST_RATERS_PER_ITEM),
                name="campaign_k",
            ),
            models.CheckConstraint(
                condition=Q(axes_below__isnull=True) | Q(axes_below__gte=2, axes_below__lte=6),
                name="campaign_threshold",
            ),
            models.CheckConstraint(
                condition=Q(pass_mark__isnull=True) | Q(pass_mark__gte=0, pass_mark__lte=1),
                name="campaign_pass_mark",
            ),
            models.CheckConstraint(
                condition=Q(attention_every__isnull=True) | Q(attention_every__gte=2),
                name="campaign_attention",
            ),
            models.CheckConstraint(
                condition=Q(dialogues_per_system__isnull=True) | Q(dialogues_per_system__gte=1),
                name="campaign_sample_size",
            ),
            models.CheckConstraint(
                condition=Q(utterances__gte=2, utterances__lte=100), name="campaign_utterances"
            ),
            models.CheckConstraint(
                condition=Q(opens_at__isnull=True)
                | Q(closes_at__isnull=True)
                | Q(closes_at__gt=F("opens_at")),
                name="campaign_closes_after_it_opens",
            ),
            models.CheckConstraint(
                condition=Q(state="draft") | Q(opened_at__isnull=False),
                name="campaign_opened_says_when",
            ),
            models.CheckConstraint(
                condition=Q(allocation="uniform")
                | Q(allocation="adaptive", kind__in=["turn", "dialogue", *PAIRED]),
                name="campaign_allocation",
            ),
            models.CheckConstraint(
                condition=Q(target="none", target_value__isnull=True)
                | Q(
                    target="pairs",
                    target_value__isnull=False,
                    target_value__gt=0,
                    target_value__lte=100,
                    kind__in=["turn", "dialogue", *PAIRED],
                )
                | Q(
                    target="width",
                    target_value__isnull=False,
                    target_value__gt=0,
                    target_value__lte=HIGHEST_WIDTH,
                    kind__in=["turn", "dialogue"],
                )
                | Q(
                    target="width",
                    target_value__isnull=False,
                    target_value__gt=0,
                    target_value__lte=HIGHEST_RATING_WIDTH,
                    kind__in=PAIRED,
                ),
                name="campaign_target",
            ),
            models.UniqueConstraint(
                fields=["version", "published_aspect"],
                condition=~Q(published_aspect="") & ~Q(kind__in=COMPARED),
                name="campaign_published_aspect_once",
            ),
            models.UniqueConstraint(
                fields=["version", "published_aspect"],
                condition=~Q(published_aspect="") & Q(kind__in=COMPARED),
                name="campaign_published_preference_once",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def is_of_pairs(self) -> bool:
        """Whether its items are pairs of two systems."""
        return self.kind in PAIRED

    def wanted_of(self, slots: int) -> int:
        """How many ratings are collected where there are so many slots."""
        return slots if self.budget is None else min(slots, self.budget)

    @property
    def compares(self) -> bool:
        """Whether raters compare systems: then its results are preferences, not scores."""
        return self.kind in COMPARED

    @property
    def takes_checks(self) -> bool:
        """Whether it can have training and attention items. What a system will say in a chat is not
        known beforehand."""
        return self.kind in ("turn", "dialogue", *COMPARED)

    @property
    def compared_column(self) -> Literal["", "system_b", "systems"]:
        """Where its files name the systems that were compared with the first."""
        if self.is_of_pairs:
            return "system_b"
        return "systems" if self.compares else ""

    @property
    def is_looked_at(self) -> bool:
        """Whether its ratings decide anything while it runs."""
        return self.allocation == self.Allocation.ADAPTIVE or self.target != self.Target.NONE

    @property
    def has_enough(self) -> bool:
        """Its target is met, and nobody wants more: no item is handed out, as if all were rated."""
        return self.target_met_at is not None and not self.past_target

    def assigns_items(self, now: datetime) -> bool:
        """Open, and within its dates. A rater keeps what is already in hand when this ends."""
        return (
            self.state == self.State.OPEN
            and (self.opens_at is None or self.opens_at <= now)
            and (self.closes_at is None or now < self.closes_at)
        )


class Guidelines(models.Model):
    """One version of a campaign's guidelines, in Markdown. A changed text is a new row; a rating
    names its row."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="guidelines")
    number = models.PositiveIntegerField()
    text = models.TextField(max_length=50_000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "guidelines"
        ordering = ["campaign", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="guidelines_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="guidelines_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"guidelines {self.number} of {self.campaign_id}"
