"""Whether people who rate wait for a worker: long work makes way for them."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from annotations.campaigns.models import Message

LEFT_BEHIND = timedelta(minutes=5)
"""A chat that has waited for longer holds nobody up."""
LEAST_SECONDS, LOOK_SECONDS = 20.0, 2.0
"""Work that has had its 20 s makes way for a rater who has waited for 2 s."""


def raters_wait(seconds: float) -> bool:
    """Whether a chat has waited so long for an answer that no worker has begun."""
    return _waiting(seconds).exists()


def waiting_answers(seconds: float) -> list[int]:
    """The keys of the answers that were waited for so long, the oldest first."""
    return list(_waiting(seconds).order_by("created_at").values_list("pk", flat=True))


def _waiting(seconds: float) -> QuerySet[Message]:
    now = timezone.now()
    waiting = Message.objects.filter(speaker="B", state=Message.State.PENDING)
    return waiting.filter(
        created_at__lt=now - timedelta(seconds=seconds), created_at__gt=now - LEFT_BEHIND
    )
