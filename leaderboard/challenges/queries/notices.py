"""Reads of webhooks, of what was sent to them, and of who wants e-mail."""

from __future__ import annotations

from typing import Any

from leaderboard.challenges.models import MailChoice, Notice, Webhook

DELIVERIES_SHOWN = 10


def webhooks_of(user: Any) -> list[Webhook]:
    """Each with ``deliveries``: the latest notices to it."""
    found = list(Webhook.objects.filter(user=user).order_by("pk"))
    for webhook in found:
        webhook.deliveries = _latest(Notice.objects.filter(webhook=webhook))
    return found


def emails_to(user: Any) -> list[Notice]:
    """The latest e-mails to a person."""
    return _latest(Notice.objects.filter(user=user, channel=Notice.Channel.EMAIL))


def _latest(notices: Any) -> list[Notice]:
    return list(notices.select_related("submission").order_by("-pk")[:DELIVERIES_SHOWN])


def wants_mail(user: Any) -> bool:
    return not MailChoice.objects.filter(user=user, is_wanted=False).exists()
