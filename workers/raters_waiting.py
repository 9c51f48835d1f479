"""Whether people who rate wait for a worker: long work makes way for them."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from annotations.campaigns.models import Message

LEFT_BEHIND = timedelta(minutes=5)
"""A chat that has waited for longer holds nobody up."""
LEAST_SECONDS, LOOK_SECONDS = 20.0, 2.0
"""Work that has had its 20 s makes way for a rater who has waited for 2 s."""


def raters_wait(seconds: float) -> bool:
    """Whether a chat has waited so long for an answer that no worker has begun."""
    now = timezone.now()
    waiting = Message.objects.filter(speaker="B", state=Message.State.PENDING)
    return waiting.filter(created_at__lt=now - timedelta(seconds=seconds), created_at__gt=now - LEFT_BEHIND).exists()
