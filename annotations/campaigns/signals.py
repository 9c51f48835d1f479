"""Logging out gives back what the person had in hand."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver

from annotations.campaigns.actions.work_queue import give_back_everything


@receiver(user_logged_out, dispatch_uid="campaigns-give-back")
# Django's signature.
def give_back_on_log_out(sender: Any, user: Any = None, **named: Any) -> None:  # noqa: ARG001
    if user is not None and user.pk is not None:
        give_back_everything(user)
