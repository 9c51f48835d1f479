"""Items, their slots, who holds them, and what was said of them."""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.models.campaign import Campaign, Guidelines
from annotations.campaigns.models.form import FormVersion
from annotations.campaigns.models.people import Participation
from annotations.models import Dialogue, Response, System, Turn

LONGEST_COMMENT = 4000


def public_id() -> str:
    """What the browser calls an item. Random: it neither names nor orders anything."""
    return secrets.token_urlsafe(12)


class Item(models.Model):
    """What is judged. Of a turn campaign a response; of a dialogue campaign a system in a dialogue;
    of an interactive one a chat system playing a dialogue's persona B. Of pairs, two of them: the
    second one is ``system_b``, with ``response_b`` at a turn, and has the higher key, so that two
    are one item whichever is shown first (``Assignment.is_swapped``). Of lists, a turn that all of
    the campaign's systems answered; ``Assignment.shown`` says in which order a rater sees them.

    Training and attention items are judged by every rater and hold no slots. Theirs may be
    ``texts`` of the organiser's own: one response at turn level, one for each turn at dialogue
    level; where systems are compared those of the best come first and those of the worst last.
    ``lowest`` to ``highest`` is the range that counts as right.
    """

    class Role(models.TextChoices):
        REGULAR = "regular", _("regular")
        TRAINING = "training", _("training")
        ATTENTION = "attention", _("attention")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="items")
    public_id = models.CharField(max_length=24, unique=True, default=public_id)
    role = models.CharField(max_length=9, choices=Role, default=Role.REGULAR)
    position = models.PositiveIntegerField(default=0, help_text="Order of training items.")
    dialogue = models.ForeignKey(Dialogue, on_delete=models.CASCADE, related_name="+")
    turn = models.ForeignKey(
        Turn, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    system = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    response = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="items"
    )
    system_b = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    response_b = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    chat_system = models.ForeignKey(
        "campaigns.ChatSystem",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="items",
    )
    texts = models.JSONField(default=list, blank=True)
    lowest = models.PositiveSmallIntegerField(null=True, blank=True)
    highest = models.PositiveSmallIntegerField(null=True, blank=True)
    feedback = models.TextField(blank=True, help_text="Shown after a training item.")

    class Meta:
        ordering = ["campaign", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=["regular", "training", "attention"]), name="item_role"
            ),
            models.UniqueConstraint(
                fields=["campaign", "response"],
                condition=Q(role="regular", response__isnull=False, response_b__isnull=True),
                name="response_is_one_item",
            ),
            models.UniqueConstraint(
                fields=["campaign", "response", "response_b"],
                condition=Q(response_b__isnull=False),
                name="pair_of_responses_is_one_item",
            ),
            models.UniqueConstraint(
                fields=["campaign", "system", "dialogue"],
                condition=Q(
                    role="regular",
                    response__isnull=True,
                    system__isnull=False,
                    system_b__isnull=True,
                ),
                name="system_in_dialogue_is_one_item",
            ),
            models.UniqueConstraint(
                fields=["campaign", "system", "system_b", "dialogue"],
                condition=Q(response_b__isnull=True, system_b__isnull=False),
                name="pair_in_dialogue_is_one_item",
            ),
            models.CheckConstraint(
                condition=Q(system_b__isnull=True, response_b__isnull=True)
                | Q(
                    system__isnull=False,
                    system_b__gt=models.F("system"),
                    response__isnull=False,
                    response_b__isnull=False,
                )
                | Q(
                    system__isnull=False,
                    system_b__gt=models.F("system"),
                    response__isnull=True,
                    response_b__isnull=True,
                    turn__isnull=True,
                ),
                name="pair_is_of_two_systems",
            ),
            models.UniqueConstraint(
                fields=["campaign", "turn"],
                condition=Q(role="regular", system__isnull=True, turn__isnull=False),
                name="list_at_a_turn_is_one_item",
            ),
            models.UniqueConstraint(
                fields=["campaign", "chat_system", "dialogue"],
                condition=Q(role="regular", chat_system__isnull=False),
                name="chat_system_with_persona_is_one_item",
            ),
            models.CheckConstraint(
                condition=Q(role="regular") | Q(lowest__gte=0, highest__gte=models.F("lowest")),
                name="checked_item_has_a_range",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "role", "position"], name="item_role")]

    def __str__(self) -> str:
        return f"item {self.public_id}"


class Assignment(models.Model):
    """An item given to a rater: one row however often it is given, so nobody judges an item twice.

    ``position`` counts this rater's items from 0; ``propensity`` is the probability with which this
    item was drawn from those that could have been, None where nothing was drawn (training).
    ``system_propensity`` is the probability with which its system was, or of pairs its two systems,
    where ratings are spread adaptively: these are drawn first, and one of their items after.
    ``is_swapped``: of a pair, whether this rater sees the item's second system first; it stays when
    the item comes again.
    ``adjudicates``: the item's raters differ and this further one decides; it takes none of the k
    slots, and its rating never counts.
    """

    class State(models.TextChoices):
        LEASED = "leased", _("in hand")
        DONE = "done", _("rated")
        SKIPPED = "skipped", _("skipped")
        RETURNED = "returned", _("given back")

    # No index of its own: three below begin with it, and by the plain one a planner would read all
    # that a rater did.
    participation = models.ForeignKey(
        Participation, on_delete=models.CASCADE, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="assignments")
    state = models.CharField(max_length=8, choices=State, default=State.LEASED)
    position = models.PositiveIntegerField()
    propensity = models.FloatField(null=True, blank=True)
    system_propensity = models.FloatField(null=True, blank=True)
    is_swapped = models.BooleanField(null=True, blank=True)
    adjudicates = models.BooleanField(default=False, db_default=False)
    shown = models.JSONField(
        null=True, blank=True, help_text="Of lists: keys of the responses, as this rater sees them."
    )
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    skip_reason = models.CharField(max_length=500, blank=True)
    current = models.OneToOneField(
        "campaigns.RatingRevision",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    claimed_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["participation", "position"]
        constraints = [
            models.UniqueConstraint(fields=["participation", "item"], name="same_item_never_twice"),
            models.UniqueConstraint(
                fields=["participation", "position"], name="assignment_position_once"
            ),
            models.UniqueConstraint(
                fields=["item"],
                condition=Q(adjudicates=True, state__in=["leased", "done"]),
                name="one_rater_adjudicates",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["leased", "done", "skipped", "returned"]),
                name="assignment_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="leased") | Q(lease_expires_at__isnull=False),
                name="item_in_hand_is_leased",
            ),
            models.CheckConstraint(
                condition=~Q(state="done") | Q(current__isnull=False), name="done_item_is_rated"
            ),
            models.CheckConstraint(
                condition=~Q(state="skipped") | ~Q(skip_reason=""), name="skip_says_why"
            ),
            models.CheckConstraint(
                condition=Q(propensity__isnull=True) | Q(propensity__gt=0, propensity__lte=1),
                name="propensity_range",
            ),
            models.CheckConstraint(
                condition=Q(system_propensity__isnull=True)
                | Q(system_propensity__gt=0, system_propensity__lte=1),
                name="system_propensity_range",
            ),
        ]
        indexes = [
            models.Index(
                fields=["lease_expires_at"], condition=Q(state="leased"), name="assignment_lease"
            ),
            models.Index(fields=["participation", "state"], name="assignment_of_rater"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} for {self.participation_id}"


class Slot(models.Model):
    """One of an item's k places for a rater. Free while nobody holds it; the database lets an
    assignment hold one.

    ``ordinal`` is the place in the campaign's order, in which dialogues take turns: who takes slots
    from anywhere in it meets all dialogues evenly. ``is_swapped``: of a pair, the order in which
    its rater sees it; each order comes equally often for every two systems.
    """

    # Both are the first column of an index below; a million slots need no second one.
    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="slots", db_index=False
    )
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="slots", db_index=False)
    place = models.PositiveSmallIntegerField(help_text="1 to k.")
    ordinal = models.PositiveIntegerField()
    is_swapped = models.BooleanField(null=True, blank=True)
    holder = models.OneToOneField(
        Assignment, null=True, blank=True, on_delete=models.SET_NULL, related_name="slot"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "place"], name="slot_once"),
            models.UniqueConstraint(fields=["campaign", "ordinal"], name="slot_ordinal_once"),
            models.CheckConstraint(condition=Q(place__gte=1), name="slot_place_from_1"),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "ordinal"], condition=Q(holder__isnull=True), name="free_slot"
            ),
        ]

    def __str__(self) -> str:
        return f"slot {self.place} of {self.item_id}"


class RatingRevision(models.Model):
    """What a rater said of an item, once: never changed; a second thought is another row. The last
    one counts.

    It is a score, with the axes marked low (``low_axes``: None where they were not asked); or,
    where the campaign has a form, the answers to its version ``form``, by question. Times are the
    browser's, in milliseconds from showing the item; ``active_ms`` leaves out the time in which
    nothing was done, ``question_ms`` says when each question was answered last.
    """

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="revisions", db_index=False
    )
    number = models.PositiveIntegerField()
    key = models.CharField(
        max_length=64, help_text="Made by the page; the same key is the same rating, sent again."
    )
    score = models.PositiveSmallIntegerField(null=True, blank=True)
    low_axes = models.JSONField(null=True, blank=True)
    form = models.ForeignKey(FormVersion, null=True, blank=True, on_delete=models.PROTECT)
    answers = models.JSONField(null=True, blank=True)
    question_ms = models.JSONField(null=True, blank=True)
    flagged = models.BooleanField(default=False)
    comment = models.TextField(blank=True, max_length=LONGEST_COMMENT)
    guidelines = models.ForeignKey(Guidelines, null=True, blank=True, on_delete=models.PROTECT)
    first_key_ms = models.PositiveIntegerField(null=True, blank=True)
    submit_ms = models.PositiveIntegerField(null=True, blank=True)
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    shown_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "number"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "number"], name="revision_number_once"),
            models.UniqueConstraint(fields=["assignment", "key"], name="revision_key_once"),
            models.CheckConstraint(
                condition=Q(
                    form__isnull=True,
                    answers__isnull=True,
                    score__isnull=False,
                    score__gte=1,
                    score__lte=5,
                )
                | Q(
                    form__isnull=False,
                    answers__isnull=False,
                    score__isnull=True,
                    low_axes__isnull=True,
                ),
                name="rating_is_a_score_or_answers",
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="revision_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"rating {self.number} for {self.assignment_id}"
