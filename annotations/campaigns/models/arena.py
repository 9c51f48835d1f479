"""Arenas: visitors compare two hidden systems and vote."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.models.assignment import public_id
from annotations.campaigns.models.conversation import ChatSystem
from annotations.campaigns.models.people import random_token
from annotations.models import Corpus, CorpusVersion, Dialogue, Response, System, Turn

MOST_EXCHANGES = 50
LARGEST_LIMIT = 1_000_000


class Arena(models.Model):
    """Battles of two systems on one corpus version: chats in which both play the persona of a
    dialogue, or two stored responses to one turn.

    ``battle_count`` numbers the battles; ``answers_requested`` counts what endpoints were asked for
    and never passes ``answers_budget``.
    """

    class Source(models.TextChoices):
        CHAT = "chat", _("chats with two models")
        STORED = "stored", _("two stored responses")

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    source = models.CharField(max_length=6, choices=Source)
    version = models.ForeignKey(CorpusVersion, on_delete=models.PROTECT, related_name="arenas")
    systems = models.ManyToManyField(System, blank=True, related_name="arenas")
    chat_systems = models.ManyToManyField(ChatSystem, blank=True, related_name="arenas")
    is_open = models.BooleanField(default=False)
    is_public = models.BooleanField(default=False, help_text="Else only by its link.")
    token = models.CharField(
        max_length=40, unique=True, default=random_token, help_text="Of the link that invites."
    )
    exchanges = models.PositiveSmallIntegerField(
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_EXCHANGES)],
        help_text="Of a chat: messages of the visitor at most, each with an answer of both.",
    )
    battles_per_visitor = models.PositiveIntegerField(default=50, help_text="A day.")
    battles_per_address = models.PositiveIntegerField(default=200, help_text="A day.")
    answers_per_minute = models.PositiveIntegerField(
        default=60, help_text="Of all visitors together."
    )
    answers_budget = models.PositiveIntegerField(
        default=2000, help_text="How many answers endpoints may be asked for."
    )
    answers_requested = models.PositiveIntegerField(default=0)
    battle_count = models.PositiveIntegerField(default=0)
    published_aspect = models.CharField(
        max_length=100, blank=True, help_text="Of its votes among the corpus's preferences."
    )
    collected = models.ForeignKey(
        Corpus,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="What its chats were stored as.",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(source__in=["chat", "stored"]), name="arena_source"),
            models.CheckConstraint(
                condition=Q(answers_requested__lte=F("answers_budget")),
                name="arena_keeps_its_budget",
            ),
            models.CheckConstraint(
                condition=Q(exchanges__gte=1, exchanges__lte=MOST_EXCHANGES),
                name="arena_exchanges",
            ),
            models.CheckConstraint(
                condition=Q(is_open=False) | Q(opened_at__isnull=False),
                name="arena_opened_says_when",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def is_of_chats(self) -> bool:
        return self.source == self.Source.CHAT


class Visitor(models.Model):
    """Who votes in an arena: a browser, known by the key in its session. ``address`` is a keyed
    hash of where it came from first."""

    arena = models.ForeignKey(
        Arena, on_delete=models.CASCADE, related_name="visitors", db_index=False
    )
    key = models.CharField(max_length=40, default=random_token)
    number = models.PositiveIntegerField(help_text="From 1; makes the pseudonym.")
    address = models.CharField(max_length=64)
    excluded_at = models.DateTimeField(null=True, blank=True)
    exclusion_reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["arena", "number"]
        constraints = [
            models.UniqueConstraint(fields=["arena", "key"], name="visitor_key_once"),
            models.UniqueConstraint(fields=["arena", "number"], name="visitor_number_once"),
            models.CheckConstraint(
                condition=Q(excluded_at__isnull=True) | ~Q(exclusion_reason=""),
                name="visitor_exclusion_says_why",
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def pseudonym(self) -> str:
        return f"visitor {self.number}"


class Battle(models.Model):
    """Two systems that one visitor compares: A is shown first. ``seed`` drew the systems, their
    order and the dialogue. It has at most one vote, for it is a column; a void battle has none."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        VOTED = "voted", _("voted")
        VOID = "void", _("void")

    class Vote(models.TextChoices):
        A = "a", _("1 is better")
        B = "b", _("2 is better")
        TIE = "tie", _("A tie")
        BOTH_BAD = "both_bad", _("Both are bad")

    arena = models.ForeignKey(
        Arena, on_delete=models.CASCADE, related_name="battles", db_index=False
    )
    visitor = models.ForeignKey(
        Visitor, on_delete=models.CASCADE, related_name="battles", db_index=False
    )
    number = models.PositiveIntegerField(help_text="From 1, in the order in which they began.")
    public_id = models.CharField(max_length=24, unique=True, default=public_id)
    seed = models.BigIntegerField()
    dialogue = models.ForeignKey(Dialogue, on_delete=models.CASCADE, related_name="+")
    turn = models.ForeignKey(
        Turn, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    response_a = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    response_b = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    chat_system_a = models.ForeignKey(
        ChatSystem, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    chat_system_b = models.ForeignKey(
        ChatSystem, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    state = models.CharField(max_length=5, choices=State, default=State.OPEN)
    vote = models.CharField(max_length=8, choices=Vote, blank=True)
    decision_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="From when both could be read to the vote."
    )
    void_reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["arena", "number"]
        constraints = [
            models.UniqueConstraint(fields=["arena", "number"], name="battle_number_once"),
            models.UniqueConstraint(
                fields=["visitor"], condition=Q(state="open"), name="one_open_battle_per_visitor"
            ),
            models.CheckConstraint(
                condition=Q(state="open", vote="", ended_at__isnull=True, void_reason="")
                | Q(
                    state="voted",
                    vote__in=["a", "b", "tie", "both_bad"],
                    ended_at__isnull=False,
                    decision_ms__isnull=False,
                    void_reason="",
                )
                | (Q(state="void", vote="", ended_at__isnull=False) & ~Q(void_reason="")),
                name="battle_is_open_voted_or_void",
            ),
            models.CheckConstraint(
                condition=Q(
                    turn__isnull=True,
                    response_a__isnull=True,
                    response_b__isnull=True,
                    chat_system_a__isnull=False,
                    chat_system_b__isnull=False,
                )
                & ~Q(chat_system_a=F("chat_system_b"))
                | Q(
                    turn__isnull=False,
                    response_a__isnull=False,
                    response_b__isnull=False,
                    chat_system_a__isnull=True,
                    chat_system_b__isnull=True,
                )
                & ~Q(response_a=F("response_b")),
                name="battle_is_of_two_systems",
            ),
        ]
        indexes = [models.Index(fields=["visitor", "number"], name="battles_of_a_visitor")]

    def __str__(self) -> str:
        return f"battle {self.number} of {self.arena_id}"
