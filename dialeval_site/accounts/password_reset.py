"""A forgotten password: a link by e-mail, good for an hour and for one use.

Who asks is told the same whether or not there is such an address, and in the same time: a worker
looks it up.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage, get_connection
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from annotations import rates
from annotations.accounts import is_demo_account, may_act
from common.jobs.notifications import send_once

AN_HOUR = 3600
EMAILS_PER_HOUR = 3
"""To one address: nobody's mailbox is filled by somebody else."""
TASK = "dialeval_site.tasks.send_password_reset"


def ask_for(email: str) -> None:
    """Have a worker send the link. Where the broker is away nothing is sent; one can ask again."""
    if rates.counted("password-reset", email.casefold(), AN_HOUR) > EMAILS_PER_HOUR:
        return
    send_once(TASK, email)


def send(email: str) -> int:
    """How many letters went out: one for each account with this address and a password that may act
    and is not shared by all visitors of a demo."""
    connection = get_connection(fail_silently=False)
    sent = 0
    for user in PasswordResetForm().get_users(email):
        if is_demo_account(user) or not may_act(user):
            continue
        context = {"name": user.get_username(), "link": _link(user), "site": settings.SITE_URL}
        subject = " ".join(
            render_to_string("registration/password_reset_subject.txt", context).split()
        )
        text = render_to_string("registration/password_reset_email.txt", context)
        headers = {"Auto-Submitted": "auto-generated"}
        # To the address as the account has it, not as it was typed: look-alike letters lead to
        # another mailbox.
        letter = EmailMessage(
            subject,
            text,
            settings.DEFAULT_FROM_EMAIL,
            [user.email],
            headers=headers,
            connection=connection,
        )
        sent += letter.send()
    return sent


def _link(user: object) -> str:
    """On this site's own address, whatever host the one who asked has named."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))  # type: ignore[attr-defined]
    return settings.SITE_URL + reverse(
        "password-reset-link", args=[uid, default_token_generator.make_token(user)]
    )
