"""Dialogues that two raters write together."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.models.assignment import public_id
from annotations.campaigns.models.campaign import Campaign
from annotations.campaigns.models.conversation import LONGEST_MESSAGE
from annotations.campaigns.models.people import Participation
from annotations.models import Corpus


class Room(models.Model):
    """A meeting of two raters, each with a persona that only the own side sees. A begins; they
    write in turn."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting for a partner")
        TALKING = "talking", _("talking")
        FINISHED = "finished", _("finished")
        ABANDONED = "abandoned", _("abandoned")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="rooms")
    public_id = models.CharField(max_length=24, unique=True, default=public_id)
    number = models.PositiveIntegerField(
        help_text="From 1; names the dialogue and, with the campaign's seed, draws its personas."
    )
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    persona_a = models.JSONField(default=list)
    persona_b = models.JSONField(default=list)
    rater_a = models.ForeignKey(Participation, on_delete=models.CASCADE, related_name="rooms_as_a")
    rater_b = models.ForeignKey(
        Participation, null=True, blank=True, on_delete=models.CASCADE, related_name="rooms_as_b"
    )
    seen_a_at = models.DateTimeField(null=True, blank=True)
    seen_b_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=300, blank=True)
    left_out = models.BooleanField(
        default=False,
        help_text="The organiser keeps a finished dialogue out of the corpus; another is wanted "
        "for it.",
    )

    class Meta:
        ordering = ["campaign", "number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="room_number_once"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "talking", "finished", "abandoned"]),
                name="room_state",
            ),
            models.CheckConstraint(
                condition=Q(rater_b__isnull=True) | ~Q(rater_b=F("rater_a")),
                name="room_is_of_two_people",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "abandoned"]) | Q(rater_b__isnull=False),
                name="talk_needs_two",
            ),
            models.UniqueConstraint(
                fields=["rater_a"],
                condition=Q(state__in=["waiting", "talking"]),
                name="one_room_at_a_time_as_a",
            ),
            models.UniqueConstraint(
                fields=["rater_b"], condition=Q(state="talking"), name="one_room_at_a_time_as_b"
            ),
        ]

    def __str__(self) -> str:
        return f"room {self.number}"


class Line(models.Model):
    """One utterance. Even numbers are A's: the database keeps the turns."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="lines")
    number = models.PositiveIntegerField()
    speaker = models.CharField(max_length=1, choices=[("A", "A"), ("B", "B")])
    text = models.TextField(max_length=LONGEST_MESSAGE)
    key = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["room", "number"]
        constraints = [
            models.UniqueConstraint(fields=["room", "number"], name="line_number_once"),
            models.UniqueConstraint(fields=["room", "key"], name="line_key_once"),
            models.CheckConstraint(condition=~Q(text=""), name="line_says_something"),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class CollectedCorpus(models.Model):
    """Which corpus a collection's dialogues go to, so that a second harvest is its next version and
    never another's."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="collected")
    corpus = models.OneToOneField(Corpus, on_delete=models.CASCADE, related_name="collected_by")

    class Meta:
        verbose_name_plural = "collected corpora"

    def __str__(self) -> str:
        return f"corpus {self.corpus_id} of campaign {self.campaign_id}"
