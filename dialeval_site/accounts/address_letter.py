"""Another e-mail address of an account: the former one is told, since links to a new password go to
the other now."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

from annotations import rates
from common.jobs.notifications import send_once

AN_HOUR = 3600
EMAILS_PER_HOUR = 3
"""Of one account, whatever the addresses: nobody fills a mailbox by calling it their own again and
again. The first change within an hour is told always."""
TASK = "dialeval_site.tasks.tell_former_address"


def ask_for(user: Any, former: str) -> None:
    """Have a worker write to the former address. The page waits for no mail server; without a
    broker none is sent."""
    if (
        not settings.SENDS_EMAIL
        or rates.counted("address-letter", str(user.pk), AN_HOUR) > EMAILS_PER_HOUR
    ):
        return
    send_once(TASK, user.get_username(), former)


def send(name: str, former: str) -> None:
    context = {"name": name, "site": settings.SITE_URL}
    subject = " ".join(render_to_string("registration/email_changed_subject.txt", context).split())
    text = render_to_string("registration/email_changed.txt", context)
    headers = {"Auto-Submitted": "auto-generated"}
    EmailMessage(subject, text, settings.DEFAULT_FROM_EMAIL, [former], headers=headers).send()
