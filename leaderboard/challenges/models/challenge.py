"""A challenge and its rounds: who may hand in what, when, how often, and how it is ranked."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.models import ChatSystem
from annotations.models import CorpusVersion
from workers.judges.models import Budget

BOARD = "board"
"""The kind of statistic that a round's boards are."""
CALLS_PER_UTTERANCE, INPUT_TOKENS_PER_DIALOGUE, OUTPUT_TOKENS_PER_DIALOGUE = 2, 10_000, 1_000
"""Limits of the CPD challenge's prompt engineering track (ComperDial, appendix A.6)."""


def random_seed() -> int:
    return secrets.randbelow(2**31)


def public_id() -> str:
    return secrets.token_urlsafe(12).replace("_", "a").replace("-", "b")


class Track(models.TextChoices):
    GPU = "gpu", _("GPU: a file of responses")
    PROMPT = "prompt", _("prompt: a template that is run here")


class Challenge(models.Model):
    """Drafts are seen by organisers only. Teams may be made from the opening to the closing."""

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    summary = models.CharField(max_length=300, blank=True)
    rules = models.TextField(blank=True, max_length=50_000, help_text="Markdown.")
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    largest_team = models.PositiveSmallIntegerField(default=10, validators=[MinValueValidator(1)])
    judge_budget = models.OneToOneField(
        Budget,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="challenge",
        help_text="What judging its submissions may cost and has cost; empty until either is "
        "known.",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["draft", "open", "closed"]), name="challenge_state"
            ),
            models.CheckConstraint(condition=Q(largest_team__gte=1), name="team_has_a_member"),
        ]

    def __str__(self) -> str:
        return self.name


class Round(models.Model):
    """What is asked of teams in a stretch of time, on one corpus version.

    While ``references`` are hidden nobody but organisers sees the corpus, and teams get its
    dialogues without what speaker B said. Limits count a team's submissions in all tracks of the
    round together.
    """

    class References(models.TextChoices):
        PUBLIC = "public", _("public")
        HIDDEN = "hidden", _("hidden")

    class Entry(models.TextChoices):
        BEST = "best", _("the best submission of a team")
        LATEST = "latest", _("the latest submission of a team")

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="rounds")
    slug = models.SlugField(max_length=40)
    name = models.CharField(max_length=100)
    position = models.PositiveSmallIntegerField(default=0)
    version = models.ForeignKey(CorpusVersion, on_delete=models.PROTECT, related_name="rounds")
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    tracks = models.JSONField(default=list, help_text="Of gpu and prompt, those that are open.")
    references = models.CharField(max_length=6, choices=References, default=References.PUBLIC)
    daily_limit = models.PositiveIntegerField(
        default=5,
        validators=[MinValueValidator(1)],
        help_text="Submissions of a team in a day (UTC).",
    )
    total_limit = models.PositiveIntegerField(
        default=100,
        validators=[MinValueValidator(1)],
        help_text="Submissions of a team in the whole round.",
    )

    metrics = models.JSONField(
        default=list, help_text="Configurations that everybody sees, in the board's order."
    )
    private_metrics = models.JSONField(
        default=list,
        blank=True,
        help_text="Configurations that only organisers see before the release.",
    )
    ranking_metric = models.CharField(
        max_length=300, help_text="One of the metrics: it decides the rank."
    )
    entry = models.CharField(max_length=6, choices=Entry, default=Entry.BEST)
    public_share = models.FloatField(
        default=1.0,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="Share of the dialogues that the public leaderboard counts; the others come with "
        "the release. 1: all, at once. 0: nothing before the release.",
    )
    split_seed = models.BigIntegerField(
        default=random_seed, help_text="Draws the public leaderboard's dialogues."
    )
    release_at = models.DateTimeField(
        null=True,
        blank=True,
        db_column="unveil_at",  # so that processes of 0.2.0 go on while it is upgraded
        help_text="When everybody sees the private leaderboard.",
    )
    shows_corpus_baselines = models.BooleanField(
        default=True,
        help_text="The corpus's own baselines stand on the board, flagged and without a rank.",
    )

    endpoint = models.ForeignKey(
        ChatSystem,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="rounds",
        help_text="Whose endpoint, model and key answer prompts; the site's own where it is empty.",
    )
    calls_per_utterance = models.PositiveSmallIntegerField(default=CALLS_PER_UTTERANCE)
    input_tokens_per_dialogue = models.PositiveIntegerField(default=INPUT_TOKENS_PER_DIALOGUE)
    output_tokens_per_dialogue = models.PositiveIntegerField(default=OUTPUT_TOKENS_PER_DIALOGUE)
    input_price = models.DecimalField(
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="USD for a million input tokens.",
    )
    output_price = models.DecimalField(
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="USD for a million output tokens.",
    )
    revision = models.PositiveBigIntegerField(
        default=0,
        help_text="Counts what changes its board: a submission scored, flagged or disqualified, a "
        "setting.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["challenge", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["challenge", "slug"], name="round_slug_once"),
            models.CheckConstraint(
                condition=Q(references__in=["public", "hidden"]), name="round_references"
            ),
            models.CheckConstraint(condition=Q(entry__in=["best", "latest"]), name="round_entry"),
            models.CheckConstraint(
                condition=Q(daily_limit__gte=1, total_limit__gte=1), name="round_limits_from_1"
            ),
            models.CheckConstraint(
                condition=Q(public_share__gte=0, public_share__lte=1),
                name="round_public_share_0_to_1",
            ),
            models.CheckConstraint(
                condition=Q(opens_at__isnull=True)
                | Q(closes_at__isnull=True)
                | Q(opens_at__lt=F("closes_at")),
                name="round_opens_before_it_closes",
            ),
            models.CheckConstraint(
                condition=Q(calls_per_utterance__gte=1, calls_per_utterance__lte=2),
                name="round_one_or_two_calls",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.challenge_id} {self.name}"
